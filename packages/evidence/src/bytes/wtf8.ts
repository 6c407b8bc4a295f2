/**
 * Text as bytes, and back, without loss. UTF-8 cannot hold a lone surrogate, which JSON can (`"\ud800"`), so such a code
 * unit is written the way UTF-8 would write it if it were a character. Compared byte by byte, text in this form is in
 * code point order, surrogates included, which is the order of both contracts.
 */
import { type ByteBuffer, byteBuffer, reserve } from './byte-buffer.ts';

/** Appends one code point; lone surrogates are allowed. */
export function putCodePoint(buffer: ByteBuffer, code: number): void {
  reserve(buffer, 4);
  const { bytes } = buffer;
  if (code < 0x80) {
    bytes[buffer.length++] = code;
  } else if (code < 0x800) {
    bytes[buffer.length++] = 0xc0 | (code >> 6);
    bytes[buffer.length++] = 0x80 | (code & 0x3f);
  } else if (code < 0x10000) {
    bytes[buffer.length++] = 0xe0 | (code >> 12);
    bytes[buffer.length++] = 0x80 | ((code >> 6) & 0x3f);
    bytes[buffer.length++] = 0x80 | (code & 0x3f);
  } else {
    bytes[buffer.length++] = 0xf0 | (code >> 18);
    bytes[buffer.length++] = 0x80 | ((code >> 12) & 0x3f);
    bytes[buffer.length++] = 0x80 | ((code >> 6) & 0x3f);
    bytes[buffer.length++] = 0x80 | (code & 0x3f);
  }
}

export function toBytes(text: string): Uint8Array {
  const buffer = byteBuffer(text.length + 4);
  for (const character of text) putCodePoint(buffer, character.codePointAt(0) ?? 0);
  return buffer.bytes.subarray(0, buffer.length);
}

/** The code point that starts at `at`, of bytes known to be well formed. */
export function codePointAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return first;
  const second = (bytes[at + 1] ?? 0) & 0x3f;
  if (first < 0xe0) return ((first & 0x1f) << 6) | second;
  const third = (bytes[at + 2] ?? 0) & 0x3f;
  if (first < 0xf0) return ((first & 0x0f) << 12) | (second << 6) | third;
  return ((first & 0x07) << 18) | (second << 12) | (third << 6) | ((bytes[at + 3] ?? 0) & 0x3f);
}

/** How many bytes the code point takes whose first byte this is. */
export function widthOf(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}

const PIECE = 4096;

/** The text in `bytes[start, end)`. */
export function toText(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  let units: number[] = [];
  for (let at = start; at < end; ) {
    const code = codePointAt(bytes, at);
    at += widthOf(bytes[at] ?? 0);
    if (code < 0x10000) units.push(code);
    else units.push(0xd7c0 + (code >> 10), 0xdc00 | (code & 0x3ff));
    if (units.length < PIECE) continue;
    text += String.fromCharCode(...units);
    units = [];
  }
  return text + String.fromCharCode(...units);
}

/** Code point order of two texts; `<` on strings is UTF-16 order, which differs beyond U+FFFF. */
export function compareText(left: string, right: string): number {
  const end = Math.min(left.length, right.length);
  for (let at = 0; at < end; at += 1) {
    if (left.charCodeAt(at) === right.charCodeAt(at)) continue;
    // When either text completes a pair here, the difference is the whole pair, which began one unit earlier.
    const from = isSecondHalf(left, at) || isSecondHalf(right, at) ? at - 1 : at;
    return (left.codePointAt(from) ?? 0) - (right.codePointAt(from) ?? 0);
  }
  return left.length - right.length;
}

function isSecondHalf(text: string, at: number): boolean {
  const isLow = isBetween(text.charCodeAt(at), 0xdc00, 0xdfff);
  return at > 0 && isLow && isBetween(text.charCodeAt(at - 1), 0xd800, 0xdbff);
}

function isBetween(code: number, low: number, high: number): boolean {
  return code >= low && code <= high;
}
