import { assembleWireEvent } from '@weft/protocol';
import type { CreationRecord } from '../core/run-state.ts';
import type { WireEvent } from '../host.ts';
import type { StoredEvent } from '../store.ts';

/** Adds the wire document to a stored event. It is put together when first asked for, once, whoever asks. */
export function toWireEvent(
  record: Pick<CreationRecord, 'runId' | 'engineVersion'>,
  event: StoredEvent,
): WireEvent {
  let text: string | undefined;
  return {
    ...event,
    get document() {
      text ??= assembleWireEvent({
        runId: record.runId,
        seq: event.seq,
        type: event.type,
        at: event.at,
        nodeId: event.nodeId,
        causeSeq: event.causeSeq,
        payloadText: event.payload,
        engineVersion: record.engineVersion,
      });
      return text;
    },
  };
}
