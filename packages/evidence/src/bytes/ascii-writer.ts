/**
 * Writes JSON in the layout of both contracts: two spaces, ASCII only, everything else as \uXXXX in lower case. The
 * bytes go out in pieces of one reused buffer, so a document may be far larger than the memory it takes to write it.
 */
import { END } from './value-table.ts';
import { codePointAt, toBytes, widthOf } from './wtf8.ts';

/** The piece is only valid during the call. */
export type ByteSink = (piece: Uint8Array) => void;

export interface AsciiWriter {
  /** Layout: plain ASCII that needs no escaping. */
  raw(text: string): void;
  /** A value of a table, in quotes. */
  value(bytes: Uint8Array, start: number): void;
  /** A string, in quotes. */
  text(text: string): void;
  flush(): void;
}

const PIECE = 256 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const HEX = toBytes('0123456789abcdef');

/** 1: goes out as it is. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x7f && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);
const SHORT = new Map([
  [QUOTE, QUOTE],
  [BACKSLASH, BACKSLASH],
  [8, 0x62],
  [9, 0x74],
  [10, 0x6e],
  [12, 0x66],
  [13, 0x72],
]);

export function asciiWriter(sink: ByteSink): AsciiWriter {
  const piece = new Uint8Array(PIECE);
  const limit = PIECE - 16; // room for the longest escape and a quote
  let length = 0;

  function flush(): void {
    if (length > 0) sink(piece.subarray(0, length));
    length = 0;
  }

  function put(byte: number): void {
    if (length >= limit) flush();
    piece[length++] = byte;
  }

  function unit(code: number): void {
    if (length >= limit) flush();
    piece[length++] = BACKSLASH;
    piece[length++] = 0x75;
    for (let shift = 12; shift >= 0; shift -= 4) piece[length++] = HEX[(code >> shift) & 15] as number;
  }

  /** Writes the character at `at`, which is not plain; returns its width. */
  function special(bytes: Uint8Array, at: number): number {
    const byte = bytes[at] as number;
    const short = SHORT.get(byte);
    if (short !== undefined) {
      put(BACKSLASH);
      put(short);
      return 1;
    }
    const code = codePointAt(bytes, at);
    if (code < 0x10000) unit(code);
    else {
      unit(0xd7c0 + (code >> 10));
      unit(0xdc00 | (code & 0x3ff));
    }
    return widthOf(byte);
  }

  function value(bytes: Uint8Array, start: number): void {
    put(QUOTE);
    let at = start;
    for (;;) {
      let room = limit - length;
      let byte = bytes[at] as number;
      while (PLAIN[byte] === 1 && room > 0) {
        piece[length++] = byte;
        at += 1;
        room -= 1;
        byte = bytes[at] as number;
      }
      if (byte === END) break;
      if (PLAIN[byte] === 1) flush();
      else at += special(bytes, at);
    }
    put(QUOTE);
  }

  return {
    raw(text) {
      for (let at = 0; at < text.length; at += 1) put(text.charCodeAt(at));
    },
    value,
    text(text) {
      const bytes = toBytes(text);
      const ended = new Uint8Array(bytes.length + 1);
      ended.set(bytes);
      ended[bytes.length] = END;
      value(ended, 0);
    },
    flush,
  };
}
