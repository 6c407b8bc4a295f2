import type { JsonObject } from '@weft/protocol';
import type { Batch } from './live-run.ts';
import { type EffectKey, effectOwner, type NodeState } from '../../model/run-state.ts';
import { stepOf } from '../fold/step-fold.ts';
import { recordEvents } from './node-finish.ts';
import type { Input, NumberedChunk } from './step.ts';

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
  const node = known && run.plan.nodes.get(known.nodeId);
  if (known?.status !== 'running' || node === undefined || !run.inFlight.has(key)) return;
  const streaming = owner.step === undefined ? known : stepOf(known, owner.step);
  if (streaming?.attempt !== attempt) return;
  const place = placeOf(known, owner.step);
  if (events !== undefined) recordEvents(batch, node, events, undefined, place);
  for (const chunk of chunks)
    if (chunk.index >= (streaming.chunks ?? 0)) recordChunk(batch, known, chunk, place);
}

function recordChunk(
  batch: Batch,
  { nodeId }: NodeState,
  { chunk, isLast, meta }: NumberedChunk,
  place: JsonObject,
): void {
  const { runId } = batch.run.record;
  const payload = { nodeId, runId, chunk, isLast, ...(meta !== undefined && { meta }) };
  batch.record({ type: 'output.chunk', nodeId, payload: { ...payload, ...place }, shown: payload });
}

/** For the fold alone: which execution it is, and which step of it. */
function placeOf({ iteration }: NodeState, step: string | undefined): JsonObject {
  return {
    ...(iteration.length > 0 && { iteration: [...iteration] }),
    ...(step !== undefined && { step }),
  };
}
