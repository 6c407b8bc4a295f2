import { EVENT_CATALOGUE, isJsonObject, type Json, type JsonObject, WEFT_EVENTS } from '@weft/protocol';
import type { StoredEvent } from '../../ports/store.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';
import { wrongNameIn } from './payload-names.ts';
import { nameAt, refuseBundle } from './refuse.ts';

const KNOWN_TYPES: ReadonlySet<string> = new Set(
  [...EVENT_CATALOGUE, ...WEFT_EVENTS].map(({ type }) => type),
);

/** The events of a bundle in the form in which they are kept, whichever of the two names a host has used for a member. */
export function* readEvents(events: readonly Json[]): CooperativeTask<StoredEvent[]> {
  const seqOf = new Map<string, number>();
  const read: StoredEvent[] = [];
  for (const [index, entry] of events.entries()) {
    yield;
    const at = `/events/${index}`;
    if (!isJsonObject(entry)) throw refuseBundle(at, `event ${index} is not an object.`);
    const seq = sequenceOf(entry, at, index);
    const event = readEvent(entry, seq, at);
    const cause = typeof entry['causationId'] === 'string' ? seqOf.get(entry['causationId']) : undefined;
    if (typeof entry['eventId'] === 'string') seqOf.set(entry['eventId'], seq);
    read.push(cause === undefined ? event : { ...event, causeSeq: cause });
  }
  return read;
}

/** `sequence`, or `seq` as older hosts write it. */
function sequenceOf(entry: JsonObject, at: string, index: number): number {
  const { sequence, seq } = entry;
  if (sequence !== undefined && seq !== undefined && sequence !== seq)
    throw refuseBundle(`${at}/seq`, `event ${index} has two sequences.`);
  const value = sequence ?? seq;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw refuseBundle(`${at}/sequence`, `event ${index} has no sequence.`);
}

function readEvent(entry: JsonObject, seq: number, at: string): StoredEvent {
  const { type, timestamp, nodeId } = entry;
  if (typeof type !== 'string' || type === '') throw refuseBundle(`${at}/type`, `event ${seq} has no type.`);
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  if (Number.isNaN(time))
    throw refuseBundle(`${at}/timestamp`, `event ${seq} has no timestamp that is a time.`);
  const payload = payloadOf(entry, nameAt(`${at}/type`, type));
  const wrong = wrongNameIn(type, payload);
  if (wrong !== undefined) throw refuseBundle(`${at}/payload${wrong.path}`, `a name ${wrong.problem}.`);
  return {
    seq,
    type,
    at: time,
    payload: JSON.stringify(payload),
    ...(typeof nodeId === 'string' && nodeId !== '' && { nodeId: nameAt(`${at}/nodeId`, nodeId) }),
  };
}

/** `payload`, or `data` as older hosts write it. What the fold reads is an object; other types keep what they came with. */
function payloadOf(entry: JsonObject, type: string): Json {
  const payload = entry['payload'] ?? entry['data'] ?? null;
  return KNOWN_TYPES.has(type) && !isJsonObject(payload) ? {} : payload;
}
