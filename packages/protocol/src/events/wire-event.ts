import { toIso } from '../json/time.ts';

/** Event ids are not stored: run and sequence already name an event uniquely. */
export function eventId(runId: string, seq: number): string {
  return `${runId}-${seq}`;
}

export interface WireEventParts {
  readonly runId: string;
  readonly seq: number;
  readonly type: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly nodeId?: string | undefined;
  readonly causeSeq?: number | undefined;
  /** A cause outside the log: what was delivered to start the run. */
  readonly causationId?: string | undefined;
  /** JSON text of the payload; it goes onto the wire as it is. */
  readonly payloadText: string;
  readonly engineVersion: number;
}

/** Version of the payload contracts in the catalogue. */
export const EVENT_SCHEMA_VERSION = 1;

/**
 * The RunEventDoc as JSON text. It is put together from text, not from objects, so that live streams, polls and history
 * carry the very bytes that were stored, and the payload is serialized once in its life.
 */
export function assembleWireEvent(parts: WireEventParts): string {
  const { seq, nodeId, causeSeq } = parts;
  const runId = escaped(parts.runId);
  const node = nodeId === undefined ? '' : `,"nodeId":"${escaped(nodeId)}"`;
  const causationId = causeSeq === undefined ? parts.causationId : eventId(parts.runId, causeSeq);
  const cause = causationId === undefined ? '' : `,"causationId":"${escaped(causationId)}"`;
  return (
    `{"eventId":"${eventId(runId, seq)}","runId":"${runId}","sequence":${seq}` +
    `,"type":"${escaped(parts.type)}","timestamp":"${toIso(parts.at)}"${node}${cause}` +
    `,"schemaVersion":${EVENT_SCHEMA_VERSION},"engineVersion":"${parts.engineVersion}","payload":${parts.payloadText}}`
  );
}

const PLAIN = /^[\w.:/@+-]*$/;

/** As it stands in a JSON string. Ids and type names hardly ever need an escape, and looking is cheaper than serializing. */
function escaped(text: string): string {
  return PLAIN.test(text) ? text : JSON.stringify(text).slice(1, -1);
}
