import { type JsonObject, mapOf } from '@weft/protocol';
import { Type } from 'typebox';
import {
  type ChildrenNodeType,
  NodeFailure,
  type NodeInput,
  type NodeResult,
} from '../../model/node-type.ts';
import { conversationId } from '../../core/interrupts/conversation.ts';
import { closedConfig } from '../config/config-schema.ts';
import { childResult } from './sub-workflow.ts';
import { mappedInputs, mappedNames, type VariableMapping, variableMapping } from './variable-mapping.ts';

const optional = Type.Optional;
const perWorker = mapOf<VariableMapping>(variableMapping);

export const dispatchNode: ChildrenNodeType = {
  kind: 'children',
  typeId: 'core.dispatch',
  title: 'Dispatch',
  summary:
    'Carries out the supervisor’s newest decision: runs the named workers one after the other and leads back, asks the user, or ends the loop.',
  config: closedConfig({
    askUserRouting: optional(Type.Enum(['conversation', 'clarification', 'auto'])),
    workerDispatchModel: optional(Type.Enum(['child-run'])),
    fanOutPolicy: optional(Type.Enum(['sequential', 'reject'])),
    iterationCap: optional(Type.Integer({ minimum: 1 })),
    inputMapping: optional(variableMapping),
    outputMapping: optional(variableMapping),
    perWorkerInputMappings: optional(perWorker),
    perWorkerOutputMappings: optional(perWorker),
  }),
  outputPorts: [
    'output',
    'decision',
    'childRunId',
    'childStatus',
    'childError',
    'answers',
    'conversationId',
    'turnCount',
    'outcome',
    'reason',
  ],
  setsVariables: ({ outputMapping, perWorkerOutputMappings }) =>
    [outputMapping, ...Object.values(perWorkerOutputMappings ?? {})].flatMap(mappedNames),
  dependsOn: () => [],
  closesCycles: true,
  needs: 'core.orchestrator.supervisor',
  next: (input, done, last) => {
    const { decision } = input;
    if (decision === undefined) {
      throw new NodeFailure(
        'no_pending_decision',
        'No supervisor has decided anything since the last dispatch. Put the supervisor before this node.',
      );
    }
    switch (decision['kind']) {
      case 'next-worker': {
        const workers = decision['nextWorkerIds'] as string[];
        if (last !== undefined && done >= workers.length) return { ...childResult(last), again: true };
        return { child: worker(input, workers, done) };
      }
      case 'ask-user':
        return { outputs: {}, ask: question(input, String(decision['prompt'])) };
      case 'terminate':
        return { outputs: { decision, output: decision } };
      default:
        throw new NodeFailure('unsupported_decision_kind', 'This host cannot carry out the decision.');
    }
  },
  answered: (_input, answer): NodeResult => ({ outputs: { ...answer, output: answer }, again: true }),
};

function worker({ config, variables }: NodeInput, workers: readonly string[], index: number) {
  if (workers.length > 1 && config['fanOutPolicy'] === 'reject') {
    throw new NodeFailure(
      'fan_out_unsupported',
      `The decision names ${workers.length} workers, and config.fanOutPolicy allows one at a time.`,
      { details: { workers: workers.length } },
    );
  }
  const workflowId = workers[index] ?? '';
  return {
    workflowId,
    inputs: mappedInputs(mappingFor(config, workflowId, 'Input'), variables),
    outputMapping: mappingFor(config, workflowId, 'Output'),
    onFailure: 'fail' as const,
    propagateCancellation: true,
  };
}

/** A worker's own mapping, else the one for all. */
function mappingFor(config: JsonObject, workflowId: string, way: 'Input' | 'Output'): VariableMapping {
  const own = (config[`perWorker${way}Mappings`] ?? {}) as Record<string, VariableMapping>;
  const shared = (config[way === 'Input' ? 'inputMapping' : 'outputMapping'] ?? {}) as VariableMapping;
  return own[workflowId] ?? shared;
}

function question({ config, nodeId, iteration, visit }: NodeInput, prompt: string) {
  if (config['askUserRouting'] === 'clarification') {
    return {
      kind: 'clarification' as const,
      data: { questions: [{ id: 'answer', question: prompt }], contextType: 'orchestrator' },
    };
  }
  return {
    kind: 'conversation.exchange' as const,
    data: { conversationId: conversationId(nodeId, iteration, visit), prompt },
  };
}
