/**
 * Finds any of many literal strings in a text, in time that does not grow with their number: candidates are found by a
 * hash of their first four characters, then compared by a rolling hash per length, then character by character.
 */

export interface LiteralMatch {
  readonly start: number;
  readonly end: number;
}

export interface LiteralSearch {
  readonly size: number;
  occursIn(text: string): boolean;
  /** Leftmost-longest matches that do not overlap. */
  find(text: string): LiteralMatch[];
}

/** Shorter literals are ignored: they would match by accident. */
export const MIN_LITERAL = 4;

const BASE = 0x01000193;

/** Literals with the same beginning: by length (longest first), then by hash. */
interface Bucket {
  readonly lengths: number[];
  readonly byLength: Map<number, Map<number, string[]>>;
}

export function createLiteralSearch(literals: Iterable<string>): LiteralSearch {
  const buckets = new Map<number, Bucket>();
  // One bit of a small table per beginning rules out nearly every position without touching the map.
  const beginnings = new Uint8Array(1 << 16);
  let size = 0;
  for (const literal of new Set(literals)) {
    if (literal.length < MIN_LITERAL) continue;
    size += 1;
    const beginning = beginningAt(literal, 0);
    beginnings[beginning & 0xffff] = 1;
    addTo(bucketOf(buckets, beginning), literal);
  }
  for (const bucket of buckets.values()) bucket.lengths.sort((a, b) => b - a);

  const scan = (text: string, firstOnly: boolean): LiteralMatch[] => {
    if (size === 0) return [];
    const matches: LiteralMatch[] = [];
    let hashes: RollingHash | undefined;
    for (let start = 0; start + MIN_LITERAL <= text.length; start++) {
      const beginning = beginningAt(text, start);
      if (beginnings[beginning & 0xffff] === 0) continue;
      const bucket = buckets.get(beginning);
      if (bucket === undefined) continue;
      hashes ??= rollingHash(text);
      const length = longestAt(text, start, bucket, hashes);
      if (length === 0) continue;
      matches.push({ start, end: start + length });
      if (firstOnly) break;
      start += length - 1;
    }
    return matches;
  };

  return {
    size,
    occursIn: (text) => scan(text, true).length > 0,
    find: (text) => scan(text, false),
  };
}

function bucketOf(buckets: Map<number, Bucket>, beginning: number): Bucket {
  const present = buckets.get(beginning);
  if (present !== undefined) return present;
  const bucket: Bucket = { lengths: [], byLength: new Map() };
  buckets.set(beginning, bucket);
  return bucket;
}

function addTo(bucket: Bucket, literal: string): void {
  let hashes = bucket.byLength.get(literal.length);
  if (hashes === undefined) {
    hashes = new Map();
    bucket.byLength.set(literal.length, hashes);
    bucket.lengths.push(literal.length);
  }
  const hash = rollingHash(literal)(0, literal.length);
  const present = hashes.get(hash);
  if (present === undefined) hashes.set(hash, [literal]);
  else present.push(literal);
}

function longestAt(text: string, start: number, bucket: Bucket, hashOf: RollingHash): number {
  for (const length of bucket.lengths) {
    if (start + length > text.length) continue;
    const candidates = bucket.byLength.get(length)?.get(hashOf(start, length));
    if (candidates?.some((literal) => text.startsWith(literal, start))) return length;
  }
  return 0;
}

function beginningAt(text: string, at: number): number {
  let hash = text.charCodeAt(at);
  for (let offset = 1; offset < MIN_LITERAL; offset++)
    hash = (Math.imul(hash, BASE) + text.charCodeAt(at + offset)) | 0;
  return hash ^ (hash >>> 16);
}

type RollingHash = (start: number, length: number) => number;

function rollingHash(text: string): RollingHash {
  const prefixes = new Int32Array(text.length + 1);
  const powers = new Int32Array(text.length + 1);
  powers[0] = 1;
  for (let at = 0; at < text.length; at++) {
    prefixes[at + 1] = Math.imul(prefixes[at] ?? 0, BASE) + text.charCodeAt(at);
    powers[at + 1] = Math.imul(powers[at] ?? 0, BASE);
  }
  return (start, length) =>
    ((prefixes[start + length] ?? 0) - Math.imul(prefixes[start] ?? 0, powers[length] ?? 0)) | 0;
}
