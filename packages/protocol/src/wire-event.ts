import { eventId } from './ids.ts';
import { toIso } from './time.ts';

export interface WireEventParts {
  readonly runId: string;
  readonly seq: number;
  readonly type: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly nodeId?: string | undefined;
  readonly causeSeq?: number | undefined;
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
  const { runId, seq, nodeId, causeSeq } = parts;
  const node = nodeId === undefined ? '' : `,"nodeId":${JSON.stringify(nodeId)}`;
  const cause = causeSeq === undefined ? '' : `,"causationId":${JSON.stringify(eventId(runId, causeSeq))}`;
  return (
    `{"eventId":${JSON.stringify(eventId(runId, seq))},"runId":${JSON.stringify(runId)},"sequence":${seq}` +
    `,"type":${JSON.stringify(parts.type)},"timestamp":"${toIso(parts.at)}"${node}${cause}` +
    `,"schemaVersion":${EVENT_SCHEMA_VERSION},"engineVersion":"${parts.engineVersion}","payload":${parts.payloadText}}`
  );
}
