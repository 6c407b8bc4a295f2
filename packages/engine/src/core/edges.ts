import type { Json, JsonObject } from '@weft/protocol';
import type { EdgePlan } from './plan.ts';
import { expressionScope, type Place } from './scope.ts';
import { type NodeState, nodeKey } from './run-state.ts';

export type EdgeOutcome = 'pending' | 'success' | 'failed' | 'skipped';

/** How an edge stands. Throws ExpressionError when its condition cannot be evaluated. */
export function edgeOutcome(place: Place, edge: EdgePlan): EdgeOutcome {
  const source = place.state.nodes.get(nodeKey(edge.source.id, place.path));
  switch (source?.status) {
    case 'completed':
      return isTaken(place, edge, source) ? 'success' : 'skipped';
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

/** The value an edge carries to its target; undefined when the named port was not produced. */
export function edgeValue(edge: EdgePlan, outputs: JsonObject): Json | undefined {
  if (Object.hasOwn(outputs, edge.sourcePort)) return outputs[edge.sourcePort];
  return edge.sourcePortNamed ? undefined : outputs;
}

function isTaken(place: Place, edge: EdgePlan, source: NodeState): boolean {
  const outputs = source.outputs ?? {};
  const isBranch = edge.sourcePortNamed && edge.source.type.branches?.includes(edge.sourcePort) === true;
  if (isBranch && !Object.hasOwn(outputs, edge.sourcePort)) return false;
  return edge.condition === undefined || edge.condition(outputs, expressionScope(place, { outputs }));
}
