import type { JsonObject } from '@weft/protocol';

/** The SDK takes only types from the protocol package, so that a page that uses it carries no schema compiler. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
