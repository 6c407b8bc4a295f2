import { nameOf } from '@weft/protocol';
import { Type } from 'typebox';
import type { ChildEnd, ChildrenNodeType, NodeResult } from '../../model/node-type.ts';
import { closedConfig } from '../config/config-schema.ts';
import { mappedInputs, mappedNames, type VariableMapping, variableMapping } from './variable-mapping.ts';

const optional = Type.Optional;

export const subWorkflowNode: ChildrenNodeType = {
  kind: 'children',
  typeId: 'core.subWorkflow',
  title: 'Sub-workflow',
  summary:
    'Runs another workflow as a child run and waits for it; variables go in and out by name. While the child waits, so does the parent.',
  config: closedConfig({
    workflowId: nameOf({ minLength: 1, maxLength: 128 }),
    waitForCompletion: optional(Type.Boolean()),
    onChildFailure: optional(Type.Enum(['fail-parent', 'absorb'])),
    inputMapping: optional(variableMapping),
    outputMapping: optional(variableMapping),
    propagateCancellation: optional(Type.Boolean()),
  }),
  outputPorts: ['output', 'childRunId', 'childStatus', 'childError'],
  setsVariables: ({ outputMapping }) => mappedNames(outputMapping),
  childWorkflows: ({ workflowId }) => (typeof workflowId === 'string' ? { '/workflowId': workflowId } : {}),
  dependsOn: () => [],
  prepare: (config, tools) => {
    if (config['waitForCompletion'] === false) {
      tools.refuse(
        '/waitForCompletion',
        'A child run is always waited for; remove the key, or set it to true.',
      );
    }
    if (config['workflowId'] === tools.workflowId) {
      tools.refuse('/workflowId', 'A workflow cannot be its own child; use core.loop to repeat.');
    }
  },
  next: ({ config, variables }, done, last) => {
    if (done > 0 && last !== undefined) return childResult(last);
    return {
      child: {
        workflowId: String(config['workflowId']),
        inputs: mappedInputs((config['inputMapping'] ?? {}) as VariableMapping, variables),
        outputMapping: (config['outputMapping'] ?? {}) as VariableMapping,
        onFailure: config['onChildFailure'] === 'absorb' ? 'absorb' : 'fail',
        propagateCancellation: config['propagateCancellation'] !== false,
      },
    };
  },
};

/** What a node that ran a child puts out: who it was, how it ended, and its public outputs. */
export function childResult({ childRunId, status, outputs, error }: ChildEnd): NodeResult {
  return {
    outputs: {
      childRunId,
      childStatus: status,
      ...(Object.keys(outputs).length > 0 && { output: outputs }),
      ...(error !== undefined && { childError: { code: error.code, message: error.message } }),
    },
  };
}
