import type { Json, JsonObject } from '@weft/protocol';
import type { NodePlan, ScopePlan } from '../compile/plan.ts';
import { type NodeError, nodeKey, type NodeState, type RunState } from '../../model/run-state.ts';
import { outputSensitivity } from '../redaction/sensitive-places.ts';
import { ofMembers, type Sensitivity } from '../redaction/sensitivity.ts';

/** What a settled scope amounts to: the run's or an iteration's outputs, and the failure that nothing recovered. */

/** One terminal node: its outputs. Several: node id → outputs, of those that completed. */
export function collectOutputs(
  state: RunState,
  scope: ScopePlan,
  path: readonly number[],
  view: (node: NodePlan, outputs: JsonObject, known: NodeState) => JsonObject = (_node, outputs) => outputs,
): JsonObject {
  const [only] = scope.terminals;
  if (only !== undefined && scope.terminals.length === 1) {
    const known = state.nodes.get(nodeKey(only.id, path));
    return known?.status === 'completed' ? view(only, known.outputs ?? {}, known) : {};
  }
  const completed: [string, Json][] = [];
  for (const node of scope.terminals) {
    const known = state.nodes.get(nodeKey(node.id, path));
    if (known?.status === 'completed') completed.push([node.id, view(node, known.outputs ?? {}, known)]);
  }
  return Object.fromEntries(completed);
}

/** The same of what must not be shown of them. */
export function collectSensitivity(
  state: RunState,
  scope: ScopePlan,
  path: readonly number[],
): Sensitivity | undefined {
  const ofNode = (node: NodePlan): Sensitivity | undefined => {
    const known = state.nodes.get(nodeKey(node.id, path));
    return known?.status === 'completed' ? outputSensitivity(node, known) : undefined;
  };
  const [only] = scope.terminals;
  if (only !== undefined && scope.terminals.length === 1) return ofNode(only);
  return ofMembers(scope.terminals.map((node) => [node.id, ofNode(node)]));
}

/**
 * The earliest failure that no path took up. A failed node is recovered when a node behind one of its edges ran because
 * its rule accepts failures (`any_failed`, `all_complete`).
 */
export function unrecoveredFailure(
  state: RunState,
  scope: ScopePlan,
  path: readonly number[],
): { nodeId: string; error: NodeError } | undefined {
  let first: { nodeId: string; error: NodeError; seq: number } | undefined;
  for (const node of scope.nodes) {
    const known = state.nodes.get(nodeKey(node.id, path));
    if (known?.status !== 'failed' || known.error === undefined || isRecovered(state, node, path)) continue;
    if (first === undefined || known.seq < first.seq)
      first = { nodeId: node.id, error: known.error, seq: known.seq };
  }
  return first;
}

function isRecovered(state: RunState, node: NodePlan, path: readonly number[]): boolean {
  return node.outgoing.some((edge) => {
    if (edge.target.rule !== 'any_failed' && edge.target.rule !== 'all_complete') return false;
    const status = state.nodes.get(nodeKey(edge.target.id, path))?.status;
    return status !== undefined && status !== 'skipped';
  });
}
