/**
 * Sorts the starts of values by their text: a quicksort that splits on four bytes at a time and remembers them next to
 * each start, so that the arena, which is far larger than any cache, is read once per four bytes and not once per
 * comparison. Values that share a long beginning, as paths do, are not compared from their first byte again.
 */
const END = 0xff;
const SMALL = 12;
const STEP = 4;

interface Values {
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  /** The next four bytes of each value. */
  readonly keys: Int32Array;
}

export function sortValues(bytes: Uint8Array, starts: Uint32Array, count: number): void {
  const values: Values = { bytes, starts, keys: new Int32Array(count) };
  // Ranges still to sort, as triples: from, to, bytes already known to be equal. No recursion: text decides the depth.
  const todo: number[] = [];
  fillKeys(values, 0, count, 0);
  todo.push(0, count, 0);
  while (todo.length > 0) {
    const depth = todo.pop() as number;
    const to = todo.pop() as number;
    const from = todo.pop() as number;
    if (to - from <= SMALL) insertionSort(values, from, to, depth);
    else split(values, from, to, depth, todo);
  }
}

/** Three parts: smaller, equal and greater in the next four bytes. The equal part continues behind them. */
function split(values: Values, from: number, to: number, depth: number, todo: number[]): void {
  const { starts, keys } = values;
  const pivot = pivotOf(keys, from, to);
  let less = from;
  let at = from;
  let more = to;
  while (at < more) {
    const key = keys[at] as number;
    if (key < pivot) {
      swap(starts, keys, at, less);
      less += 1;
      at += 1;
    } else if (key > pivot) {
      more -= 1;
      swap(starts, keys, at, more);
    } else {
      at += 1;
    }
  }
  if (less - from > 1) todo.push(from, less, depth);
  if (to - more > 1) todo.push(more, to, depth);
  const hasEnded = (pivot & 0xff) === 0;
  if (more - less > 1 && !hasEnded) {
    fillKeys(values, less, more, depth + STEP);
    todo.push(less, more, depth + STEP);
  }
}

/** The median of nine spread over the range. */
function pivotOf(keys: Int32Array, from: number, to: number): number {
  const step = Math.floor((to - from) / 9);
  const third = (place: number): number =>
    median(
      keys[from + place * step] as number,
      keys[from + (place + 1) * step] as number,
      keys[from + (place + 2) * step] as number,
    );
  return median(third(0), third(3), third(6));
}

function median(a: number, b: number, c: number): number {
  if (a < b) return b < c ? b : a < c ? c : a;
  return a < c ? a : b < c ? c : b;
}

function swap(starts: Uint32Array, keys: Int32Array, i: number, j: number): void {
  const start = starts[i] as number;
  const key = keys[i] as number;
  starts[i] = starts[j] as number;
  keys[i] = keys[j] as number;
  starts[j] = start;
  keys[j] = key;
}

/** Each byte plus one, so that the end of a value (0) is below every byte; the sign bit is turned for signed order. */
function fillKeys({ bytes, starts, keys }: Values, from: number, to: number, depth: number): void {
  for (let index = from; index < to; index += 1) {
    let at = (starts[index] as number) + depth;
    let key = 0;
    for (let shift = 24; shift >= 0; shift -= 8) {
      const byte = bytes[at] as number;
      if (byte === END) break;
      key |= (byte + 1) << shift;
      at += 1;
    }
    keys[index] = key ^ 0x80000000;
  }
}

function insertionSort({ bytes, starts }: Values, from: number, to: number, depth: number): void {
  for (let index = from + 1; index < to; index += 1) {
    const start = starts[index] as number;
    let place = index;
    while (place > from && isBelow(bytes, start + depth, (starts[place - 1] as number) + depth)) {
      starts[place] = starts[place - 1] as number;
      place -= 1;
    }
    starts[place] = start;
  }
}

function isBelow(bytes: Uint8Array, left: number, right: number): boolean {
  let i = left;
  let j = right;
  while (bytes[i] === bytes[j]) {
    if (bytes[i] === END) return false;
    i += 1;
    j += 1;
  }
  if (bytes[j] === END) return false;
  return bytes[i] === END || (bytes[i] as number) < (bytes[j] as number);
}
