import type { Batch } from './live-run.ts';
import { type EffectKey, effectOwner } from '../../model/run-state.ts';
import { stepOf } from '../fold/step-fold.ts';
import type { NumberedChunk } from './step.ts';

/**
 * Records streamed text of a running effect. An effect that was cut off and is performed again streams from the start
 * again; the pieces that are on record already are passed over.
 */
export function recordChunks(
  batch: Batch,
  key: EffectKey,
  attempt: number,
  chunks: readonly NumberedChunk[],
): void {
  const { run } = batch;
  const owner = effectOwner(key);
  const known = run.state.nodes.get(owner.key);
  const step = known && owner.step !== undefined ? stepOf(known, owner.step) : undefined;
  const streaming = owner.step === undefined ? known : step;
  if (known?.status !== 'running' || streaming?.attempt !== attempt || !run.inFlight.has(key)) return;
  for (const { index, chunk, isLast, meta } of chunks) {
    if (index < (streaming.chunks ?? 0)) continue;
    const payload = {
      nodeId: known.nodeId,
      runId: run.record.runId,
      chunk,
      isLast,
      ...(meta !== undefined && { meta }),
    };
    const iteration = known.iteration.length > 0 ? { iteration: [...known.iteration] } : {};
    batch.record({
      type: 'output.chunk',
      nodeId: known.nodeId,
      payload: { ...payload, ...iteration, ...(step !== undefined && { step: step.id }) },
      shown: payload,
    });
  }
}
