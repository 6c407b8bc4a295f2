import {
  compileClientSchema,
  createAllowance,
  type InterruptKind,
  isHostError,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@weft/protocol';
import { checkConfig } from '../../core/compile/check-config.ts';
import { type InterruptNodeType, type NodeInput, NodeFailure, type Question } from '../../model/node-type.ts';
import { approvalGateNode } from '../../nodes/people/approval-gate.ts';
import { clarificationGateNode } from '../../nodes/people/clarification-gate.ts';
import { interruptNode } from '../../nodes/people/interrupt.ts';

/** A gate that asks the same, and the question as its config. */
const GATES: Readonly<Record<string, readonly [InterruptNodeType, (ask: JsonObject) => JsonObject]>> = {
  approval: [approvalGateNode, inData],
  clarification: [clarificationGateNode, inData],
  'external-event': [interruptNode, (ask) => ask],
  custom: [interruptNode, (ask) => ask],
};

function inData({ data, timeoutMs }: JsonObject): JsonObject {
  return { ...(data as JsonObject), ...(timeoutMs !== undefined && { timeoutMs }) };
}

/** What code of users asks, held to what a gate in a workflow may ask. Throws NodeFailure. */
export function userQuestion(
  ask: JsonObject,
  { nodeId, budget }: Pick<NodeInput, 'nodeId' | 'budget'>,
): Question {
  const kind = String(ask['kind']) as InterruptKind;
  const [gate, configOf] = GATES[kind] ?? [];
  if (gate === undefined || configOf === undefined) throw refused('kind', 'is not one that code may ask.');
  const [problem] = checkConfig(gate, configOf(ask), budget);
  if (problem !== undefined) throw refused(problem.path.slice(1), `${problem.message}.`);
  const { data, resumeSchema, timeoutMs } = ask as JsonObject & { readonly data: JsonObject };
  const member = NAMED[kind];
  if (member !== undefined && (typeof data[member] !== 'string' || data[member] === ''))
    throw refused(`data.${member}`, 'is missing.');
  checkSchema(resumeSchema, 'resumeSchema');
  const { questions } = data;
  for (const each of Array.isArray(questions) ? questions : [])
    if (isJsonObject(each)) checkSchema(each['schema'], 'data.questions');
  return {
    kind,
    data: kind === 'approval' ? { ...approvalOf(nodeId), ...data } : data,
    ...(isJsonObject(resumeSchema) && { resumeSchema }),
    ...(typeof timeoutMs === 'number' && { timeoutMs }),
  };
}

/** What the data of a kind must name. */
const NAMED: { readonly [Kind in InterruptKind]?: string } = {
  'external-event': 'eventType',
  custom: 'customKind',
};

function approvalOf(nodeId: string): JsonObject {
  return { artifactId: nodeId, artifactType: 'approval', title: nodeId, actions: ['accept', 'reject'] };
}

function checkSchema(schema: Json | undefined, field: string): void {
  if (!isJsonObject(schema)) return;
  try {
    compileClientSchema(schema, { allowance: createAllowance() });
  } catch (error) {
    if (!isHostError(error)) throw error;
    throw refused(field, error.message);
  }
}

function refused(field: string, problem: string): NodeFailure {
  return new NodeFailure(
    'validation_error',
    `The question of the node cannot be asked: ${field} ${problem}`,
    {
      details: { field },
    },
  );
}
