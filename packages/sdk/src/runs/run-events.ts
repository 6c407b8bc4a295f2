import type { EventPayloads, Json } from '@weft/protocol/plain';
import type { RunDocument, RunEventDocument, StreamMode } from '../documents.ts';

/** Events by their type: after `event.type === 'node.completed'`, its payload is that of a completed node. */
export type RunEvent = KnownEvent | OtherEvent;

export type KnownEventType = keyof EventPayloads;

/** An event of the protocol, or one that Weft adds. `KnownEvent<'run.failed'>` is that event alone. */
export type KnownEvent<Type extends KnownEventType = KnownEventType> = {
  [Each in Type]: Omit<RunEventDocument, 'type' | 'payload'> & {
    readonly type: Each;
    readonly payload: EventPayloads[Each];
  };
}[Type];

/** An event of another vendor, or of a newer host. */
export interface OtherEvent extends RunEventDocument {
  readonly type: OtherEventType;
  readonly payload: Json;
}

/**
 * A name that is not known here, such as `acme.noted`. What is written is a stand-in for it, and no prefix that it has: were this
 * `string`, or a branded one, comparing with a known name would not tell the events apart. Read it as a string.
 */
export type OtherEventType = `other:${string}`;

/** A piece of streamed text. */
export type OutputChunk = EventPayloads['output.chunk'];

/** What a stream brings: `values` the run as it stands after each change, `messages` pieces of text, the other modes events. */
export type Streamed<Mode extends StreamMode> = Mode extends 'values'
  ? RunDocument
  : Mode extends 'messages'
    ? OutputChunk
    : RunEvent;
