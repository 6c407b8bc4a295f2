import { canonicalJson, DIFF_EXCLUDED_NAMES, isJsonObject, type Json, type JsonObject } from '@weft/protocol';

/** What a diff must say about one sequence; `open` where the RFC can be read both ways. */
export type Comparison = 'added' | 'removed' | 'changed' | 'equal' | 'open';

/** Compares two logs as RFC 0054 says, from what polling showed of them. */
export function comparisons(a: readonly JsonObject[], b: readonly JsonObject[]): Map<number, Comparison> {
  const ofA = bySequence(a);
  const ofB = bySequence(b);
  const sequences = [...new Set([...ofA.keys(), ...ofB.keys()])].sort((one, other) => one - other);
  return new Map(sequences.map((sequence) => [sequence, comparison(ofA.get(sequence), ofB.get(sequence))]));
}

function comparison(a: JsonObject | undefined, b: JsonObject | undefined): Comparison {
  if (a === undefined) return 'added';
  if (b === undefined) return 'removed';
  if (a['type'] !== b['type'] || text(deeply(payloadOf(a))) !== text(deeply(payloadOf(b)))) return 'changed';
  const isSame = text(shallowly(payloadOf(a))) === text(shallowly(payloadOf(b)));
  // The node is no part of the key, though hosts compare it.
  return isSame && a['nodeId'] === b['nodeId'] ? 'equal' : 'open';
}

function bySequence(events: readonly JsonObject[]): Map<number, JsonObject> {
  return new Map(events.map((event) => [Number(event['sequence']), event]));
}

function payloadOf({ payload }: JsonObject): Json {
  return payload ?? null;
}

function text(value: Json): string {
  return canonicalJson(value);
}

/** Without the names that do not count, at the top. */
export function shallowly(value: Json): Json {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !DIFF_EXCLUDED_NAMES.has(name)));
}

/** Without them at any depth. */
function deeply(value: Json): Json {
  if (Array.isArray(value)) return value.map(deeply);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => !DIFF_EXCLUDED_NAMES.has(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, deeply(member)]));
}
