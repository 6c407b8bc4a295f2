/**
 * A set of strings as bytes: one arena and the start of every value in it, in code point order, each value once. A
 * million values cost their text and four bytes each, instead of a million objects.
 *
 * Invariants
 * 1. A value ends at the first END byte; END (0xFF) occurs in no text.
 * 2. In a finished table each value is greater than the one before it.
 */
import { type ByteBuffer, byteBuffer, reserve } from './byte-buffer.ts';
import { sortValues } from './sort-values.ts';
import { toBytes, toText } from './wtf8.ts';

export const END = 0xff;
/** Starts are 32-bit numbers. */
const MAX_START = 0xffffffff;

export interface ValueTable {
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly count: number;
}

export const EMPTY_TABLE: ValueTable = { bytes: new Uint8Array(0), starts: new Uint32Array(0), count: 0 };

/** Collects values in any order. */
export interface ValueList {
  /** The bytes of the next value are appended here. */
  readonly text: ByteBuffer;
  /** Ends the value that began at `start`. */
  close(start: number): void;
  finish(): ValueTable;
}

/** `sizeHint`: about how many bytes of text will come. */
export function valueList(sizeHint = 1024): ValueList {
  const text = byteBuffer(sizeHint);
  let starts = new Uint32Array(256);
  let count = 0;
  let isSorted = true;

  return {
    text,
    close(start) {
      if (start > MAX_START) throw new RangeError('a set of values is larger than 4 GiB');
      reserve(text, 1);
      text.bytes[text.length++] = END;
      if (count > 0) {
        const order = compareAt(text.bytes, starts[count - 1] as number, text.bytes, start);
        if (order === 0) {
          text.length = start;
          return;
        }
        if (order > 0) isSorted = false;
      }
      if (count === starts.length) {
        const grown = new Uint32Array(count * 2);
        grown.set(starts);
        starts = grown;
      }
      starts[count++] = start;
    },
    finish() {
      if (!isSorted) {
        sortValues(text.bytes, starts, count);
        count = dropRepeats(text.bytes, starts, count);
        isSorted = true;
      }
      return { bytes: text.bytes, starts, count };
    },
  };
}

function dropRepeats(bytes: Uint8Array, starts: Uint32Array, count: number): number {
  let kept = 1;
  for (let index = 1; index < count; index += 1) {
    const start = starts[index] as number;
    if (compareAt(bytes, starts[kept - 1] as number, bytes, start) !== 0) starts[kept++] = start;
  }
  return kept;
}

/** Code point order of two values: below, above or equal to zero. */
export function compareAt(
  left: Uint8Array,
  leftStart: number,
  right: Uint8Array,
  rightStart: number,
): number {
  let i = leftStart;
  let j = rightStart;
  while (left[i] === right[j]) {
    if (left[i] === END) return 0;
    i += 1;
    j += 1;
  }
  if (left[i] === END) return -1;
  if (right[j] === END) return 1;
  return (left[i] as number) - (right[j] as number);
}

/** Where the value ends that begins at `start`. */
export function endOf(bytes: Uint8Array, start: number): number {
  let at = start;
  while (bytes[at] !== END) at += 1;
  return at;
}

export function valueAt(table: ValueTable, index: number): string {
  const start = table.starts[index] as number;
  return toText(table.bytes, start, endOf(table.bytes, start));
}

/** Every value as a string, in order. */
export function* valuesOf(table: ValueTable): Generator<string> {
  for (let index = 0; index < table.count; index += 1) yield valueAt(table, index);
}

export function tableOf(values: Iterable<string>): ValueTable {
  const list = valueList();
  for (const value of values) {
    const bytes = toBytes(value);
    const start = list.text.length;
    reserve(list.text, bytes.length);
    list.text.bytes.set(bytes, start);
    list.text.length += bytes.length;
    list.close(start);
  }
  return list.finish();
}
