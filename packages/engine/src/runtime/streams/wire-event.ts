import { assembleWireEvent } from '@weft/protocol';
import type { CreationRecord } from '../../model/run-state.ts';
import type { FollowedEvent, WireEvent } from '../../host/host.ts';
import type { StoredEvent } from '../../ports/store.ts';

/**
 * A wire event together with what is stored of it; the private overlay stays inside the engine. Followed without snapshots it is
 * what a subscriber gets, so that all of them share one list.
 */
export interface StoredWireEvent extends WireEvent, FollowedEvent {
  readonly stored: StoredEvent;
}

/** What a document says of its run. */
type WiredRun = Pick<CreationRecord, 'runId' | 'engineVersion' | 'source'>;

/** Adds the wire document to a stored event. It is assembled once, when first read. */
export function toWireEvent(record: WiredRun, event: StoredEvent): StoredWireEvent {
  return new AssembledEvent(record, event);
}

/** A class because there are four of these in the shortest run: one hidden shape, no copies, no closures. */
class AssembledEvent implements StoredWireEvent {
  readonly #record: WiredRun;
  readonly stored: StoredEvent;
  #document: string | undefined;

  constructor(record: WiredRun, event: StoredEvent) {
    this.#record = record;
    this.stored = event;
  }

  get event(): WireEvent {
    return this;
  }
  get seq(): number {
    return this.stored.seq;
  }
  get type(): string {
    return this.stored.type;
  }
  get at(): number {
    return this.stored.at;
  }
  get payload(): string {
    return this.stored.payload;
  }

  get document(): string {
    const { runId, engineVersion, source } = this.#record;
    const { seq, type, at, nodeId, causeSeq, payload } = this.stored;
    this.#document ??= assembleWireEvent({
      runId,
      seq,
      type,
      at,
      nodeId,
      causeSeq,
      causationId: seq === 0 ? source?.deliveryId : undefined,
      payloadText: payload,
      engineVersion,
    });
    return this.#document;
  }
}
