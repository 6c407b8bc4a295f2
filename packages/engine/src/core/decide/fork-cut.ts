import type { Batch } from './live-run.ts';
import { identity } from './node-settle.ts';
import type { NodePlan } from '../compile/plan.ts';
import type { NodeKey, NodeState } from '../../model/run-state.ts';

/**
 * A branch may be cut anywhere, also in the middle of what the host decides at once. A node that was caught there, or that
 * waits for a child run of the source, cannot simply continue: it starts again as a new attempt.
 */
export function isCutOff(known: NodeState, { type }: NodePlan): boolean {
  if (known.status === 'suspended') {
    const { interrupt, child } = known;
    if (child?.waiting !== undefined) return true;
    return (
      interrupt === undefined || interrupt.closed !== undefined || Object.keys(interrupt.data).length === 0
    );
  }
  if (known.status !== 'running') return false;
  switch (type.kind) {
    case 'effect': // is performed again
    case 'loop': // continues with its body
    case 'steps': // continues after the last step on record
      return false;
    case 'timer':
      return known.dueAt === undefined;
    case 'pure':
    case 'interrupt':
    case 'children':
      return true;
  }
}

/** A question of a node that works in steps was caught before it was whole, or with its answer: the node asks it again. */
export function askAgain(batch: Batch, key: NodeKey): void {
  const { run } = batch;
  const known = run.state.nodes.get(key);
  const node = known && run.plan.nodes.get(known.nodeId);
  if (known === undefined || node === undefined) return;
  batch.record({ type: 'node.resumed', nodeId: node.id, payload: identity(node, known.iteration) });
  run.timers.delete(key);
  run.stepping.add(key);
}

export function restartNode(batch: Batch, key: NodeKey): void {
  const { run } = batch;
  const known = run.state.nodes.get(key);
  const node = known && run.plan.nodes.get(known.nodeId);
  if (known === undefined || node === undefined) return;
  const id = identity(node, known.iteration);
  if (known.status === 'suspended') batch.record({ type: 'node.resumed', nodeId: node.id, payload: id });
  batch.record({
    type: 'node.retried',
    nodeId: node.id,
    payload: { ...id, attempt: known.attempt + 1, delayMs: 0, reason: 'forked' },
  });
  run.spawning.delete(key);
  run.timers.add(key);
}
