import { isJsonObject, type JsonObject } from '@weft/protocol';

export function ofType(events: readonly JsonObject[], ...types: string[]): JsonObject[] {
  return events.filter(({ type }) => types.includes(String(type)));
}

/** The payload when it is an object; an empty one otherwise, so that a missing member is what is noticed. */
export function payloadOf(event: JsonObject | undefined): JsonObject {
  const payload = event?.['payload'];
  return isJsonObject(payload) ? payload : {};
}

export function sequenceOf(event: JsonObject): number {
  return typeof event['sequence'] === 'number' ? event['sequence'] : Number.NaN;
}
