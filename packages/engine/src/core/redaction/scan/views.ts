import type { Work } from './work.ts';

/**
 * The other spellings in which a value commonly leaves a program, undone: escapes of JSON inside JSON, percent-encoding, base64
 * and hexadecimal. Undoing them in the text instead of doing them to every value finds a value at any place inside something
 * that was encoded as a whole, and costs the same however many values are looked for.
 */
export interface View {
  readonly text: string;
  /** Where each character begins in the source, and at last where the source ends. */
  readonly starts: Int32Array;
}

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const PLUS = 0x2b;

const SIMPLE_ESCAPES: ReadonlyMap<number, string> = new Map(
  Object.entries({
    n: '\n',
    r: '\r',
    t: '\t',
    b: '\b',
    f: '\f',
    '"': '"',
    "'": "'",
    '\\': '\\',
    '/': '/',
  }).map(([sign, meant]) => [sign.charCodeAt(0), meant]),
);

/** `isOpen`: more text follows, so an escape that is cut off at its end is left out. */
export function unescaped(text: string, isOpen: boolean, work?: Work): View | undefined {
  return decoded(text, '\\', work, (at) => {
    if (text.charCodeAt(at) !== BACKSLASH) return undefined;
    const sign = text.charCodeAt(at + 1);
    const simple = SIMPLE_ESCAPES.get(sign);
    if (simple !== undefined) return { meant: simple, length: 2 };
    const digits = ESCAPE_DIGITS.get(sign) ?? 0;
    const value = digits === 0 ? -1 : hexValue(text, at + 2, digits);
    if (value >= 0) return { meant: String.fromCharCode(value), length: 2 + digits };
    return isOpen && at + 2 + digits > text.length ? CUT_OFF : undefined;
  });
}

const ESCAPE_DIGITS: ReadonlyMap<number, number> = new Map([
  ['u'.charCodeAt(0), 4],
  ['x'.charCodeAt(0), 2],
]);

/** Byte by byte: what is not valid UTF-8 must not hide what stands next to it. A plus is a blank, as in forms. */
export function percentDecoded(text: string, isOpen: boolean, work?: Work): View | undefined {
  return decoded(text, '%', work, (at) => {
    const code = text.charCodeAt(at);
    if (code === PLUS) return { meant: ' ', length: 1 };
    if (code !== PERCENT) return undefined;
    const value = hexValue(text, at + 1, 2);
    if (value >= 0) return { meant: String.fromCharCode(value), length: 3 };
    return isOpen && at + 3 > text.length ? CUT_OFF : undefined;
  });
}

interface Escape {
  readonly meant: string;
  readonly length: number;
}

const CUT_OFF: Escape = { meant: '', length: Number.POSITIVE_INFINITY };

/** Undefined when the text has no such sign. */
function decoded(
  text: string,
  sign: string,
  work: Work | undefined,
  read: (at: number) => Escape | undefined,
): View | undefined {
  if (!text.includes(sign)) return undefined;
  if (work !== undefined) work.steps += text.length;
  const starts = new Int32Array(text.length + 1);
  let result = '';
  let length = 0;
  let plain = 0;
  let at = 0;
  while (at < text.length) {
    const escape = read(at);
    if (escape === undefined) {
      starts[length++] = at++;
      continue;
    }
    result += text.slice(plain, at) + escape.meant;
    if (escape === CUT_OFF) {
      plain = text.length;
      break;
    }
    starts[length++] = at;
    at += escape.length;
    plain = at;
  }
  starts[length] = at;
  return { text: result + text.slice(plain), starts };
}

/** -1 when these are not hexadecimal digits. */
function hexValue(text: string, from: number, digits: number): number {
  let value = 0;
  for (let at = from; at < from + digits; at++) {
    const nibble = at < text.length ? (NIBBLES[text.charCodeAt(at)] ?? NONE) : NONE;
    if (nibble === NONE) return -1;
    value = value * 16 + nibble;
  }
  return value;
}

const NONE = 0xff;
const NIBBLES = valuesOf('0123456789abcdef', 'ABCDEF', 10);
/** Both alphabets at once. */
const SEXTETS = valuesOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', '-_', 62);

function valuesOf(signs: string, others: string, otherFrom: number): Uint8Array {
  const values = new Uint8Array(128).fill(NONE);
  for (let at = 0; at < signs.length; at++) values[signs.charCodeAt(at)] = at;
  for (let at = 0; at < others.length; at++) values[others.charCodeAt(at)] = otherFrom + at;
  return values;
}

/** Bytes that a run of base64 or hexadecimal stands for, if it began at `phase`. */
export interface Bytes {
  readonly bytes: Uint8Array;
  readonly length: number;
  /** Where [from, to) of the bytes stands in the text. */
  start(from: number): number;
  end(to: number): number;
  /** Where the whole run stands. */
  readonly run: { readonly start: number; readonly end: number };
}

interface Encoding {
  readonly values: Uint8Array;
  readonly bits: 4 | 6;
  /** Beginnings that make a difference. */
  readonly phases: number;
}

const ENCODINGS: readonly Encoding[] = [
  { values: SEXTETS, bits: 6, phases: 4 },
  { values: NIBBLES, bits: 4, phases: 2 },
];

/**
 * Every run that could hold `minBytes` bytes, decoded from each beginning that makes a difference, so that it does not matter what
 * stands before. Lines of one encoded text are one run.
 */
export function eachEncoded(
  text: string,
  minBytes: number,
  visit: (bytes: Bytes) => void,
  work?: Work,
): void {
  for (const encoding of ENCODINGS) {
    const min = Math.ceil((minBytes * 8) / encoding.bits);
    let run: Digits | undefined;
    for (let at = 0; at < text.length; ) {
      const end = digitsEnd(text, at, encoding);
      if (end - at >= min) {
        run ??= {
          values: new Uint8Array(text.length - at),
          places: new Int32Array(text.length - at),
          count: 0,
        };
        readDigits(text, at, end, encoding, run);
        if (work !== undefined) work.steps += (end - at) * (1 + encoding.phases);
        const whole = { start: at, end };
        for (let phase = 0; phase < encoding.phases; phase++) visit(bytesOf(run, phase, encoding, whole));
      }
      at = end + 1;
    }
    if (work !== undefined) work.steps += text.length;
  }
}

/** The padding behind a run says how long it is. */
export function afterPadding(text: string, end: number): number {
  let at = end;
  while (at < end + 2 && text.charCodeAt(at) === EQUALS) at += 1;
  return at;
}

const EQUALS = 0x3d;

/** Every run of characters that base64 or hexadecimal may be written with. */
export function eachRun(
  text: string,
  work: Work | undefined,
  visit: (start: number, end: number) => void,
): void {
  if (work !== undefined) work.steps += text.length;
  for (let at = 0; at < text.length; ) {
    let end = at;
    while (end < text.length && isDigit(text, end, SEXTETS)) end += 1;
    if (end > at) visit(at, end);
    at = end + 1;
  }
}

interface Digits {
  readonly values: Uint8Array;
  readonly places: Int32Array;
  count: number;
}

/** Where the run ends that begins here; `from` itself when none does. */
function digitsEnd(text: string, from: number, { values }: Encoding): number {
  let at = from;
  while (at < text.length) {
    if (isDigit(text, at, values)) at += 1;
    else {
      const next = at > from ? afterLineBreak(text, at) : at;
      if (next === at || !isDigit(text, next, values)) break;
      at = next;
    }
  }
  return at;
}

function isDigit(text: string, at: number, values: Uint8Array): boolean {
  return (values[text.charCodeAt(at)] ?? NONE) !== NONE;
}

function afterLineBreak(text: string, at: number): number {
  if (text.charCodeAt(at) === 0x0a) return at + 1;
  return text.charCodeAt(at) === 0x0d && text.charCodeAt(at + 1) === 0x0a ? at + 2 : at;
}

function readDigits(text: string, from: number, end: number, { values }: Encoding, into: Digits): void {
  let count = 0;
  for (let at = from; at < end; at++) {
    const value = values[text.charCodeAt(at)] ?? NONE;
    if (value === NONE) continue;
    into.values[count] = value;
    into.places[count] = at;
    count += 1;
  }
  into.count = count;
}

function bytesOf(
  { values, places, count }: Digits,
  phase: number,
  { bits }: Encoding,
  run: Bytes['run'],
): Bytes {
  const length = Math.max(0, Math.floor(((count - phase) * bits) / 8));
  const bytes = new Uint8Array(length);
  let held = 0;
  let heldBits = 0;
  for (let digit = phase, written = 0; written < length; digit++) {
    held = ((held << bits) | (values[digit] ?? 0)) & 0xffff;
    heldBits += bits;
    if (heldBits < 8) continue;
    heldBits -= 8;
    bytes[written++] = (held >> heldBits) & 0xff;
  }
  return {
    bytes,
    length,
    run,
    start: (from) => places[phase + Math.floor((from * 8) / bits)] ?? 0,
    end: (to) => (places[phase + Math.ceil((to * 8) / bits) - 1] ?? 0) + 1,
  };
}
