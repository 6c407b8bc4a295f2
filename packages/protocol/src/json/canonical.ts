import canonicalize from 'canonicalize';
import type { Json, JsonObject } from './json.ts';

/** RFC 8785: the same value always gives the same text, whatever the order of its keys. */
export function canonicalJson(value: Json): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('Only JSON values have a canonical form.');
  return text;
}

/** From this length on a part is handed out. */
const PART = 16_384;

/**
 * The same text in parts, one after another: a large value takes long, and its caller has others to serve. Containers
 * are taken apart for so many levels; what lies deeper is made in one go.
 */
export function* canonicalParts(value: Json, levels = 2): Generator<string, void, undefined> {
  let text = '';
  for (const piece of pieces(value, levels)) {
    text += piece;
    if (text.length < PART) continue;
    yield text;
    text = '';
  }
  yield text;
}

function* pieces(value: Json, levels: number): Generator<string, void, undefined> {
  if (levels === 0 || typeof value !== 'object' || value === null) {
    yield canonicalJson(value);
    return;
  }
  const isArray = Array.isArray(value);
  let lead = isArray ? '[' : '{';
  for (const [key, member] of isArray ? value.entries() : sortedEntries(value)) {
    yield typeof key === 'string' ? `${lead}${canonicalJson(key)}:` : lead;
    yield* pieces(member, levels - 1);
    lead = ',';
  }
  yield `${lead === ',' ? '' : lead}${isArray ? ']' : '}'}`;
}

/** By UTF-16 code units, as RFC 8785 wants it. */
function sortedEntries(object: JsonObject): [string, Json][] {
  const present = Object.entries(object).filter(([, member]) => (member as unknown) !== undefined);
  return present.sort(([left], [right]) => (left < right ? -1 : 1));
}
