/**
 * Finds one string in another in time that grows with their lengths added, not multiplied: what V8 does for long needles
 * takes seconds where text and needle repeat themselves.
 */

/** Up to this length V8's own search stays linear: its worst case is some 25 ns for a character. */
const NATIVE_NEEDLE = 32;

/** Steps that one search takes at most. */
export function searchSteps(text: string, needle: string): number {
  return 1 + (text.length + needle.length) / 2;
}

export function indexOf(text: string, needle: string, from = 0): number {
  if (needle.length <= NATIVE_NEEDLE) return text.indexOf(needle, from);
  return scan(text, needle, from, text.length, true);
}

/** The last occurrence that begins at `from` or before. */
export function lastIndexOf(text: string, needle: string, from = text.length): number {
  if (needle === '') return Math.min(from, text.length);
  return scan(text, needle, 0, Math.min(from + needle.length, text.length), false);
}

/** How often the needle occurs without overlap. Takes as long as one search. */
export function countOf(text: string, needle: string): number {
  let count = 0;
  for (let at = 0; (at = indexOf(text, needle, at)) !== -1; at += needle.length) count += 1;
  return count;
}

/** Knuth, Morris and Pratt: never goes back in the text. */
function scan(text: string, needle: string, from: number, end: number, firstOnly: boolean): number {
  if (needle.length > end - from) return -1;
  const borders = bordersOf(needle);
  let found = -1;
  let matched = 0;
  for (let at = from; at < end; at++) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = borders[matched] as number;
    if (needle.charCodeAt(matched) === unit) matched += 1;
    if (matched < needle.length) continue;
    found = at - needle.length + 1;
    if (firstOnly) return found;
    matched = borders[matched] as number;
  }
  return found;
}

/** For each length of a matched beginning, the longest shorter one with which it also ends. */
function bordersOf(needle: string): Int32Array {
  const borders = new Int32Array(needle.length + 1);
  let border = 0;
  for (let at = 1; at < needle.length; at++) {
    while (border > 0 && needle.charCodeAt(border) !== needle.charCodeAt(at))
      border = borders[border] as number;
    if (needle.charCodeAt(border) === needle.charCodeAt(at)) border += 1;
    borders[at + 1] = border;
  }
  return borders;
}
