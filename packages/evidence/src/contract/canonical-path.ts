/**
 * The one canonicalization of cross-runtime diffs: a path that begins with its side's declared prefix has that prefix
 * replaced by `<work>/`, once. Nothing is resolved, folded or normalized, so applying it again changes nothing:
 * a result begins with `<`, and a legal prefix with `/`.
 */
import { type ByteBuffer, reserve } from '../bytes/byte-buffer.ts';
import { END, type ValueList } from '../bytes/value-table.ts';
import { toBytes } from '../bytes/wtf8.ts';
import { PLACEHOLDER } from './vocabulary.ts';

/** The rule on text; `PathRule` is the same on bytes. */
export function canonicalPath(path: string, prefix: string): string {
  return path.startsWith(prefix) ? PLACEHOLDER + path.slice(prefix.length) : path;
}

export interface PathRule {
  /** The same as `apply`, before the value is in `text`: answers how many bytes of the chunk are dealt with, 0 when none. */
  lead(chunk: Uint8Array, from: number, to: number, text: ByteBuffer): number;
  /** Rewrites the value at the end of `text`, which begins at `start`. */
  apply(text: ByteBuffer, start: number): void;
  /** Adds the rewritten value to another list and leaves this one as it is. */
  copy(text: ByteBuffer, start: number, list: ValueList): void;
  counts(): { matched: number; withoutSlash: number; literal: number; total: number };
}

const PLACEHOLDER_BYTES = toBytes(PLACEHOLDER);

/** `prefix` must be legal (see declared.ts). */
export function pathRule(prefix: string): PathRule {
  const wanted = toBytes(prefix);
  const counts = { matched: 0, withoutSlash: 0, literal: 0, total: 0 };
  // In a file these stand as they are; anything else may be written in several ways.
  const isPlain = wanted.every((byte) => byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c);

  function matches(text: ByteBuffer, start: number): boolean {
    counts.total += 1;
    const length = text.length - start;
    if (beginsWith(text.bytes, start, length, wanted)) {
      counts.matched += 1;
      return true;
    }
    if (length === wanted.length - 1 && beginsWith(text.bytes, start, length, wanted.subarray(0, -1)))
      counts.withoutSlash += 1;
    if (
      text.bytes[start] === PLACEHOLDER_BYTES[0] &&
      beginsWith(text.bytes, start, length, PLACEHOLDER_BYTES)
    )
      counts.literal += 1;
    return false;
  }

  return {
    lead(chunk, from, to, text) {
      if (!isPlain || !beginsWith(chunk, from, to - from, wanted)) return 0;
      counts.total += 1;
      counts.matched += 1;
      reserve(text, PLACEHOLDER_BYTES.length);
      for (let at = 0; at < PLACEHOLDER_BYTES.length; at += 1)
        text.bytes[text.length++] = PLACEHOLDER_BYTES[at] as number;
      return wanted.length;
    },
    apply(text, start) {
      if (!matches(text, start)) return;
      const from = start + wanted.length;
      const to = start + PLACEHOLDER_BYTES.length;
      const rest = text.length - from;
      reserve(text, PLACEHOLDER_BYTES.length);
      const { bytes } = text;
      bytes.copyWithin(to, from, from + rest);
      for (let at = 0; at < PLACEHOLDER_BYTES.length; at += 1)
        bytes[start + at] = PLACEHOLDER_BYTES[at] as number;
      text.length = to + rest;
    },
    copy(text, start, list) {
      const isMatch = matches(text, start);
      const from = isMatch ? start + wanted.length : start;
      const begin = list.text.length;
      reserve(list.text, PLACEHOLDER_BYTES.length + text.length - from);
      if (isMatch) append(list.text, PLACEHOLDER_BYTES, 0, PLACEHOLDER_BYTES.length);
      append(list.text, text.bytes, from, text.length);
      list.close(begin);
    },
    counts: () => counts,
  };
}

function append(target: ByteBuffer, bytes: Uint8Array, from: number, to: number): void {
  target.bytes.set(bytes.subarray(from, to), target.length);
  target.length += to - from;
}

function beginsWith(bytes: Uint8Array, start: number, length: number, wanted: Uint8Array): boolean {
  if (length < wanted.length) return false;
  for (let at = 0; at < wanted.length; at += 1) if (bytes[start + at] !== wanted[at]) return false;
  return true;
}

/** Whether a finished value begins with the given text. */
export function valueBeginsWith(bytes: Uint8Array, start: number, wanted: Uint8Array): boolean {
  for (let at = 0; at < wanted.length; at += 1) {
    if (bytes[start + at] === END || bytes[start + at] !== wanted[at]) return false;
  }
  return true;
}
