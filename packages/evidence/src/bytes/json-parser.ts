/**
 * A strict JSON reader that is fed bytes as they arrive and keeps none of them: the text of strings goes where the
 * handler wants it, everything else is reported and forgotten.
 *
 * Invariants
 * 1. Bytes that are not UTF-8 are refused with their offset, never replaced.
 * 2. Only what RFC 8259 allows passes: no byte order mark, no NaN, no raw control characters, no trailing text.
 * 3. Nesting costs one byte per level and no call stack.
 * 4. After an error the reader is unusable until `reset`.
 */
import { type ByteBuffer, byteBuffer, reserve } from './byte-buffer.ts';
import { JsonError } from './json-error.ts';
import { putCodePoint } from './wtf8.ts';

export interface JsonHandler {
  startObject(): void;
  endObject(): void;
  startArray(): void;
  endArray(): void;
  /** The key lies in `text.bytes[start, text.length)`. */
  key(text: ByteBuffer, start: number): void;
  /** Where the text of the string that begins now is to be written; it is appended. */
  stringTarget(): ByteBuffer;
  /**
   * May take plain bytes at the beginning of a string out of the chunk and write something else in their place; answers how
   * many. Not asked for every string.
   */
  lead?(chunk: Uint8Array, from: number, to: number): number;
  string(text: ByteBuffer, start: number): void;
  /** A number as written. */
  number(text: string): void;
  literal(value: boolean | null): void;
}

export interface JsonParser {
  write(chunk: Uint8Array, from: number, to: number): void;
  /** Ends the document; false when there was nothing but white space. */
  end(): boolean;
  /** Begins the next document; offsets count on. */
  reset(): void;
  /** Counts bytes that were not fed, so that offsets stay those of the file. */
  skip(bytes: number): void;
}

type State =
  | 'value'
  | 'first element'
  | 'first key'
  | 'key'
  | 'colon'
  | 'after'
  | 'done'
  | 'string'
  | 'escape'
  | 'unicode'
  | 'continuation'
  | 'token';

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const TOKEN_BYTE = /[-+.0-9A-Za-z]/;

/** 1: ends the plain run inside a string (quote, backslash, control, not ASCII). */
const STOPS = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === 0x22 || byte === 0x5c || byte >= 0x80 ? 1 : 0,
);
const IN_TOKEN = Uint8Array.from({ length: 256 }, (_, byte) =>
  TOKEN_BYTE.test(String.fromCharCode(byte)) ? 1 : 0,
);
const ESCAPES = new Map([
  [0x22, 0x22],
  [0x5c, 0x5c],
  [0x2f, 0x2f],
  [0x62, 8],
  [0x66, 12],
  [0x6e, 10],
  [0x72, 13],
  [0x74, 9],
]);

// oxlint-disable-next-line max-lines-per-function -- one machine: its states share a dozen variables, read for every byte
export function jsonParser(handler: JsonHandler): JsonParser {
  let state: State = 'value';
  let isBlank = true;
  let offset = 0; // of the first byte of the chunk at hand
  let stack = new Uint8Array(64); // 1 object, 0 array
  let depth = 0;
  const keyText = byteBuffer();
  let text = keyText;
  let textStart = 0;
  let isKey = false;
  let token = '';
  let unit = 0; // of \uXXXX, as far as read
  let unitDigits = 0;
  let afterHigh = -1; // length of the text right behind an escaped high surrogate
  let missing = 0; // continuation bytes still to come
  let low = 0x80; // bounds of the next one: they exclude overlong forms, surrogates and what is above U+10FFFF
  let high = 0xbf;

  function fail(at: number, reason: string): never {
    throw new JsonError(offset + at, reason);
  }

  function open(kind: 0 | 1): void {
    if (depth === stack.length) {
      const grown = new Uint8Array(stack.length * 2);
      grown.set(stack);
      stack = grown;
    }
    stack[depth++] = kind;
    if (kind === 1) handler.startObject();
    else handler.startArray();
    state = kind === 1 ? 'first key' : 'first element';
  }

  function close(kind: 0 | 1, at: number): void {
    if (depth === 0 || stack[depth - 1] !== kind) fail(at, 'a bracket closes what is not open');
    depth -= 1;
    if (kind === 1) handler.endObject();
    else handler.endArray();
    valueEnded();
  }

  function valueEnded(): void {
    state = depth === 0 ? 'done' : 'after';
  }

  function openString(asKey: boolean): void {
    isKey = asKey;
    if (asKey) {
      keyText.length = 0;
      text = keyText;
    } else {
      text = handler.stringTarget();
    }
    textStart = text.length;
    afterHigh = -1;
    state = 'string';
  }

  function closeString(): void {
    if (isKey) {
      handler.key(text, textStart);
      state = 'colon';
    } else {
      handler.string(text, textStart);
      valueEnded();
    }
  }

  function closeToken(at: number): void {
    const written = token;
    token = '';
    if (written === 'true') handler.literal(true);
    else if (written === 'false') handler.literal(false);
    else if (written === 'null') handler.literal(null);
    else if (NUMBER.test(written)) handler.number(written);
    else fail(at - written.length, `"${written.slice(0, 40)}" is not a JSON value`);
    valueEnded();
  }

  /** Copies the plain run that starts at `from` and handles the byte that ends it. Returns where to continue. */
  function inString(chunk: Uint8Array, from: number, to: number): number {
    reserve(text, to - from + 4);
    const { bytes } = text;
    let length = text.length;
    let at = from;
    let byte = 0;
    while (at < to) {
      byte = chunk[at] as number;
      if (STOPS[byte] === 1) break;
      bytes[length++] = byte;
      at += 1;
    }
    text.length = length;
    if (at === to) return to;
    if (byte === 0x22) closeString();
    else if (byte === 0x5c) state = 'escape';
    else if (byte < 0x20) fail(at, 'a raw control character stands inside a string');
    else beginWide(byte, at);
    return at + 1;
  }

  function beginWide(byte: number, at: number): void {
    if (byte < 0xc2 || byte > 0xf4) fail(at, 'not valid UTF-8');
    missing = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    low = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80;
    high = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf;
    reserve(text, 1);
    text.bytes[text.length++] = byte;
    state = 'continuation';
  }

  function continueWide(byte: number, at: number): void {
    if (byte < low || byte > high) fail(at, 'not valid UTF-8');
    low = 0x80;
    high = 0xbf;
    reserve(text, 1);
    text.bytes[text.length++] = byte;
    missing -= 1;
    if (missing === 0) state = 'string';
  }

  function escaped(byte: number, at: number): void {
    if (byte === 0x75) {
      unit = 0;
      unitDigits = 0;
      state = 'unicode';
      return;
    }
    const meant = ESCAPES.get(byte);
    if (meant === undefined) fail(at, 'an escape that JSON does not have');
    putCodePoint(text, meant);
    state = 'string';
  }

  function hexDigit(byte: number, at: number): void {
    const digit = hexValue(byte);
    if (digit < 0) fail(at, '\\u needs four hexadecimal digits');
    unit = unit * 16 + digit;
    unitDigits += 1;
    if (unitDigits < 4) return;
    state = 'string';
    if (unit >= 0xdc00 && unit <= 0xdfff && afterHigh === text.length) {
      // The second half of a pair: the first was written as if it stood alone.
      const { bytes, length } = text;
      const first =
        0xd000 | (((bytes[length - 2] as number) & 0x3f) << 6) | ((bytes[length - 1] as number) & 0x3f);
      text.length -= 3;
      putCodePoint(text, 0x10000 + ((first - 0xd800) << 10) + (unit - 0xdc00));
      return;
    }
    putCodePoint(text, unit);
    if (unit >= 0xd800 && unit <= 0xdbff) afterHigh = text.length;
  }

  function beginValue(byte: number, at: number): void {
    isBlank = false;
    if (byte === 0x22) openString(false);
    else if (byte === 0x7b) open(1);
    else if (byte === 0x5b) open(0);
    else if (IN_TOKEN[byte] === 1) {
      token = String.fromCharCode(byte);
      state = 'token';
    } else fail(at, unexpected(byte, isFirst(at)));
  }

  function isFirst(at: number): boolean {
    return offset + at === 0;
  }

  function structure(byte: number, at: number): void {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return;
    switch (state) {
      case 'value':
        return beginValue(byte, at);
      case 'first element':
        return byte === 0x5d ? close(0, at) : beginValue(byte, at);
      case 'first key':
        if (byte === 0x7d) return close(1, at);
        return beginKey(byte, at);
      case 'key':
        return beginKey(byte, at);
      case 'colon':
        if (byte !== 0x3a) fail(at, 'a key needs a colon behind it');
        state = 'value';
        return;
      case 'after':
        return afterValue(byte, at);
      case 'done':
        return fail(at, 'text follows the end of the document');
      case 'string':
      case 'escape':
      case 'unicode':
      case 'continuation':
      case 'token':
        return;
    }
  }

  function beginKey(byte: number, at: number): void {
    if (byte !== 0x22) fail(at, 'a key in double quotes is needed');
    openString(true);
  }

  function afterValue(byte: number, at: number): void {
    const inObject = stack[depth - 1] === 1;
    if (byte === 0x2c) state = inObject ? 'key' : 'value';
    else if (byte === 0x7d) close(1, at);
    else if (byte === 0x5d) close(0, at);
    else fail(at, 'a comma or a closing bracket is needed');
  }

  /** A comma and a quote inside an array: the one thing that a compact list of a million strings consists of. */
  function isNextString(chunk: Uint8Array, at: number, to: number): boolean {
    if (state !== 'after' || chunk[at] !== 0x2c || at + 1 >= to || chunk[at + 1] !== 0x22) return false;
    return stack[depth - 1] === 0;
  }

  /** One byte outside the plain run of a string. False when the byte ended a token and must be looked at again. */
  function step(byte: number, at: number): boolean {
    switch (state) {
      case 'escape':
        escaped(byte, at);
        return true;
      case 'unicode':
        hexDigit(byte, at);
        return true;
      case 'continuation':
        continueWide(byte, at);
        return true;
      case 'token':
        if (IN_TOKEN[byte] === 1) {
          token += String.fromCharCode(byte);
          return true;
        }
        closeToken(at);
        return false;
      default:
        structure(byte, at);
        return true;
    }
  }

  return {
    write(chunk, from, to) {
      offset -= from;
      let at = from;
      while (at < to) {
        if (state === 'string') at = inString(chunk, at, to);
        else if (isNextString(chunk, at, to)) {
          openString(false);
          at += 2;
          if (handler.lead !== undefined) at += handler.lead(chunk, at, to);
        } else if (step(chunk[at] as number, at)) at += 1;
      }
      offset += to;
    },
    end() {
      if (state === 'token') closeToken(0);
      if (state === 'done') return true;
      if (isBlank) return false;
      return fail(0, 'the document ends in the middle');
    },
    reset() {
      state = 'value';
      isBlank = true;
      depth = 0;
      token = '';
    },
    skip(bytes) {
      offset += bytes;
    },
  };
}

function hexValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function unexpected(byte: number, isFirst: boolean): string {
  if (isFirst && byte === 0xef) return 'the file begins with a byte order mark, which JSON does not allow';
  if (isFirst && byte >= 0xfe) return 'not valid UTF-8 (it looks like UTF-16)';
  if (byte >= 0x80) return 'a character that JSON does not allow outside strings';
  return `"${String.fromCharCode(byte)}" cannot begin a value`;
}
