import type { JsonObject } from '@weft/protocol';

/** The named members, those that are there. */
export function pick(from: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])));
}
