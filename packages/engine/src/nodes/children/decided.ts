import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { NodeFailure, type NodeInput, type NodeResult } from '../../model/node-type.ts';
import { agentIdOf } from '../people/confidence.ts';
import { decisionProblem } from './decision.ts';

/** How a supervisor says what it has decided. */
export function decided(input: NodeInput, decision: JsonObject): NodeResult {
  const agentId = agentIdOf(input, 'supervisor');
  return {
    outputs: { decision, output: decision },
    events: [
      {
        type: 'runOrchestrator.decided',
        payload: { agentId, decision, iteration: input.visit + 1 },
      },
    ],
  };
}

/** A person has confirmed the decision, or given another one. */
export function ratified(input: NodeInput, answer: JsonObject): NodeResult {
  return decided(input, checkedDecision(answer['decision'] ?? null));
}

export function checkedDecision(decision: Json): JsonObject {
  const problem = decisionProblem(decision);
  if (problem === undefined && isJsonObject(decision)) return decision;
  throw new NodeFailure('validation_error', `That is no decision: ${problem ?? 'it is not an object'}.`);
}
