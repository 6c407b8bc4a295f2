import type { Batch } from './live-run.ts';
import { type EffectKey, effectOwner } from '../../model/run-state.ts';
import { stepOf } from '../fold/step-fold.ts';
import { recordEvents } from './node-finish.ts';
import type { Input } from './step.ts';

/**
 * Records what a running effect says before its end: streamed text, and facts. An effect that was cut off and is performed again streams
 * from the start again; the pieces of text that are on record already are passed over.
 */
export function recordProgress(
  batch: Batch,
  key: EffectKey,
  attempt: number,
  { chunks, events }: Pick<Extract<Input, { type: 'progress' }>, 'chunks' | 'events'>,
): void {
  const { run } = batch;
  const owner = effectOwner(key);
  const known = run.state.nodes.get(owner.key);
  const step = known && owner.step !== undefined ? stepOf(known, owner.step) : undefined;
  const streaming = owner.step === undefined ? known : step;
  if (known?.status !== 'running' || streaming?.attempt !== attempt || !run.inFlight.has(key)) return;
  const node = run.plan.nodes.get(known.nodeId);
  const iteration = known.iteration.length > 0 ? { iteration: [...known.iteration] } : {};
  const place = { ...iteration, ...(step !== undefined && { step: step.id }) };
  if (events !== undefined && node !== undefined) recordEvents(batch, node, events, undefined, place);
  for (const { index, chunk, isLast, meta } of chunks) {
    if (index < (streaming.chunks ?? 0)) continue;
    const payload = {
      nodeId: known.nodeId,
      runId: run.record.runId,
      chunk,
      isLast,
      ...(meta !== undefined && { meta }),
    };
    batch.record({
      type: 'output.chunk',
      nodeId: known.nodeId,
      payload: { ...payload, ...place },
      shown: payload,
    });
  }
}
