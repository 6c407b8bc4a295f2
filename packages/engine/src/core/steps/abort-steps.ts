import { effectKey, type NodeKey, type NodeState } from '../../model/run-state.ts';
import type { Batch } from '../decide/live-run.ts';

/** No one wants what the node has running. */
export function abortSteps(batch: Batch, key: NodeKey, known: NodeState): void {
  const { run } = batch;
  for (const { id } of known.steps ?? []) {
    const effect = effectKey(key, id);
    if (run.inFlight.delete(effect)) batch.abort(effect);
  }
}
