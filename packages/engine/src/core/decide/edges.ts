import type { Json, JsonObject } from '@weft/protocol';
import { type EdgePlan, ExpressionError, type NodePlan } from '../compile/plan.ts';
import type { CompletionExtras } from '../../model/event-payloads.ts';
import { type EdgeError, type NodeState, nodeKey, type RunState } from '../../model/run-state.ts';
import { expressionScope, type Place } from '../expressions/scope.ts';
import type { SensitiveReads } from '../redaction/sensitive-reads.ts';

export type EdgeOutcome = 'pending' | 'success' | 'failed' | 'skipped';

/** How an edge stands. Throws ExpressionError when its condition could not be evaluated. */
export function edgeOutcome(state: RunState, edge: EdgePlan, path: readonly number[]): EdgeOutcome {
  const source = state.nodes.get(nodeKey(edge.source.id, path));
  switch (source?.status) {
    case 'completed':
      return isTaken(edge, source) ? 'success' : 'skipped';
    case 'failed':
      return 'failed';
    case 'skipped':
    case 'cancelled':
      return 'skipped';
    case undefined:
    case 'running':
    case 'backoff':
    case 'suspended':
      return 'pending';
  }
}

/**
 * Evaluates the conditions on a node's outgoing edges at the moment it completes. The answer goes into `node.completed`: later
 * the variables may be others, and a holder that takes over must not decide differently. Undefined when every edge is taken.
 */
export function decideEdges(
  place: Place,
  node: NodePlan,
  outputs: JsonObject,
  reads?: SensitiveReads,
): Pick<CompletionExtras, 'edgesNotTaken' | 'edgeErrors'> | undefined {
  if (!node.outgoing.some(({ condition }) => condition !== undefined)) return undefined;
  const notTaken: string[] = [];
  const errors: [string, EdgeError][] = [];
  const scope = expressionScope(place, { outputs, self: node.id, reads });
  for (const { id, condition } of node.outgoing) {
    if (condition === undefined) continue;
    try {
      if (!condition(outputs, scope, place.budget)) notTaken.push(id);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      errors.push([id, reads?.isTouched === true ? HIDDEN : edgeError(error)]);
    }
  }
  if (notTaken.length === 0 && errors.length === 0) return undefined;
  return {
    ...(notTaken.length > 0 && { edgesNotTaken: notTaken }),
    ...(errors.length > 0 && { edgeErrors: Object.fromEntries(errors) }),
  };
}

/** What is not merely wrong but too costly is said under its code. */
function edgeError({ message, code, details }: ExpressionError): EdgeError {
  return code === undefined ? message : { code, message, ...(details !== undefined && { details }) };
}
const HIDDEN = 'The condition could not be evaluated; why is hidden, because it reads sensitive values.';

/** The value an edge carries to its target; undefined when the named port was not produced. */
export function edgeValue(edge: EdgePlan, outputs: JsonObject): Json | undefined {
  if (Object.hasOwn(outputs, edge.sourcePort)) return outputs[edge.sourcePort];
  return edge.sourcePortNamed ? undefined : outputs;
}

function isTaken(edge: EdgePlan, source: NodeState): boolean {
  const problem = source.edgeErrors?.[edge.id];
  if (typeof problem === 'string') throw new ExpressionError(problem);
  if (problem !== undefined) throw new ExpressionError(problem.message, problem);
  if (source.notTaken?.includes(edge.id) === true) return false;
  const isBranch = edge.sourcePortNamed && edge.source.type.branches?.includes(edge.sourcePort) === true;
  return !isBranch || Object.hasOwn(source.outputs ?? {}, edge.sourcePort);
}
