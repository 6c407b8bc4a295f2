import { EvaluationFailure } from './failure.ts';
import { type FunctionRow, once, perCharacter } from './function-row.ts';
import {
  clip,
  kindOf,
  lengthOf,
  NAME_STEPS,
  namesOf,
  TypeValue,
  UnsignedValue,
  type Value,
} from './values.ts';

/** What a value is, how large it is, and turning it into one of another kind. */

const identity = ([value]: readonly Value[]): Value => value ?? null;
const perByte = ([bytes]: readonly Value[]): number => 1 + (bytes as Uint8Array).length / 8;

const TYPE_NAMES: Readonly<Record<string, string>> = { 'list<dyn>': 'list', 'map<dyn, dyn>': 'map' };
const TYPES = [
  'string',
  'bool',
  'int',
  'uint',
  'double',
  'map<dyn, dyn>',
  'list<dyn>',
  'bytes',
  'null',
  'type',
  'google.protobuf.Timestamp',
  'google.protobuf.Duration',
] as const;

/** The values that `type(…)` gives, and the names that stand for them. */
export const TYPE_VALUES: ReadonlyMap<string, TypeValue> = new Map(
  TYPES.map((type) => [TYPE_NAMES[type] ?? type, new TypeValue(TYPE_NAMES[type] ?? type)]),
);

export const TYPE_FUNCTIONS: readonly FunctionRow[] = TYPES.map((type) => ({
  signature: `type(${type}): type`,
  steps: once,
  call: ([value]) => TYPE_VALUES.get(kindOf(value ?? null)) ?? null,
}));

const SIZES: readonly [of: string, steps: FunctionRow['steps'], size: (value: Value) => number][] = [
  ['string', perCharacter, (value) => countCharacters(value as string)],
  ['bytes', once, (value) => (value as Uint8Array).length],
  ['list<dyn>', once, lengthOf],
  ['map<dyn, dyn>', perName, (value) => namesOf(value).length],
];

export const SIZE_FUNCTIONS: readonly FunctionRow[] = SIZES.flatMap(([of, steps, size]) => [
  { signature: `size(${of}): int`, steps, call: ([value]) => BigInt(size(value ?? null)) },
  { signature: `${of}.size(): int`, steps, call: ([value]) => BigInt(size(value ?? null)) },
]);

/** Names are gathered to be counted, here and once more for the result. */
function perName([map]: readonly Value[]): number {
  return 1 + 2 * NAME_STEPS * namesOf(map ?? null).length;
}

function countCharacters(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.codePointAt(at) as number) <= 0xffff) continue;
    count -= 1;
    at += 1;
  }
  return count;
}

const TRUTHS: Readonly<Record<string, boolean>> = {
  '1': true,
  t: true,
  true: true,
  TRUE: true,
  True: true,
  '0': false,
  f: false,
  false: false,
  FALSE: false,
  False: false,
};

function toBool(text: string): boolean {
  const truth = Object.hasOwn(TRUTHS, text) ? TRUTHS[text] : undefined;
  if (truth === undefined)
    throw new EvaluationFailure(`bool() conversion error: invalid string value "${clip(text)}"`);
  return truth;
}

const DOUBLES: Readonly<Record<string, number>> = {
  inf: Number.POSITIVE_INFINITY,
  '+inf': Number.POSITIVE_INFINITY,
  infinity: Number.POSITIVE_INFINITY,
  '+infinity': Number.POSITIVE_INFINITY,
  '-inf': Number.NEGATIVE_INFINITY,
  '-infinity': Number.NEGATIVE_INFINITY,
  nan: Number.NaN,
};

function toDouble(text: string): number {
  const lower = text.length > 10 ? '' : text.toLowerCase();
  if (Object.hasOwn(DOUBLES, lower)) return DOUBLES[lower] as number;
  const parsed = text === '' || text !== text.trim() ? Number.NaN : Number(text);
  if (Number.isNaN(parsed)) throw new EvaluationFailure('double() type error: cannot convert to double');
  return parsed;
}

const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;

function textToInteger(text: string): bigint | undefined {
  if (text.length > 20 || text !== text.trim() || text.includes('0x')) return undefined;
  try {
    return BigInt(text);
  } catch {
    return undefined;
  }
}

function toInt(text: string): bigint {
  const parsed = textToInteger(text);
  if (parsed !== undefined && parsed >= MIN_INT && parsed <= MAX_INT) return parsed;
  throw new EvaluationFailure('int() type error: cannot convert to int');
}

/** Without the bounds a double would be an integer of three hundred digits, and as slow as that. */
function doubleToInt(value: number): bigint {
  const whole = Math.trunc(value);
  if (whole >= Number(MIN_INT) && whole < 2 ** 63) return BigInt(whole);
  throw new EvaluationFailure('int() type error: integer overflow');
}

function toUint(value: bigint | undefined): UnsignedValue {
  if (value === undefined) throw new EvaluationFailure('uint() type error: cannot convert to uint');
  return new UnsignedValue(value);
}

function doubleToUint(value: number): UnsignedValue {
  return toUint(Number.isFinite(value) ? BigInt(Math.trunc(value)) : undefined);
}

function doubleToText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}

const utf8 = new TextEncoder();
const decodeUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });
const textBytes = ([bytes]: readonly Value[]): number => 2 * (bytes as Uint8Array).length;

export const CONVERSIONS: readonly FunctionRow[] = [
  { signature: 'dyn(dyn): dyn', steps: once, call: identity },
  { signature: 'bool(bool): bool', steps: once, call: identity },
  { signature: 'bool(string): bool', steps: once, call: ([text]) => toBool(text as string) },
  {
    signature: 'bytes(string): bytes',
    steps: perCharacter,
    bytes: ([text]) => 100 + 3 * (text as string).length,
    call: ([text]) => utf8.encode(text as string),
  },
  { signature: 'bytes(bytes): bytes', steps: once, call: identity },
  { signature: 'double(double): double', steps: once, call: identity },
  { signature: 'double(int): double', steps: once, call: ([value]) => Number(value) },
  {
    signature: 'double(uint): double',
    steps: once,
    call: ([value]) => Number((value as UnsignedValue).value),
  },
  { signature: 'double(string): double', steps: perCharacter, call: ([text]) => toDouble(text as string) },
  { signature: 'int(int): int', steps: once, call: identity },
  { signature: 'int(double): int', steps: once, call: ([value]) => doubleToInt(value as number) },
  { signature: 'int(string): int', steps: perCharacter, call: ([text]) => toInt(text as string) },
  { signature: 'uint(uint): uint', steps: once, call: identity },
  { signature: 'uint(int): uint', steps: once, call: ([value]) => toUint(value as bigint) },
  { signature: 'uint(double): uint', steps: once, call: ([value]) => doubleToUint(value as number) },
  {
    signature: 'uint(string): uint',
    steps: perCharacter,
    call: ([text]) => toUint(textToInteger(text as string)),
  },
  { signature: 'string(string): string', steps: once, call: identity },
  { signature: 'string(bool): string', steps: once, call: ([value]) => String(value) },
  { signature: 'string(int): string', steps: () => 8, bytes: () => 64, call: ([value]) => String(value) },
  {
    signature: 'string(uint): string',
    steps: () => 8,
    bytes: () => 64,
    call: ([value]) => String((value as UnsignedValue).value),
  },
  {
    signature: 'string(double): string',
    steps: () => 10,
    bytes: () => 64,
    call: ([value]) => doubleToText(value as number),
  },
  ...['string(bytes): string', 'bytes.string(): string'].map(
    (signature): FunctionRow => ({
      signature,
      steps: perByte,
      bytes: textBytes,
      call: ([bytes]) => decodeUtf8.decode(bytes as Uint8Array),
    }),
  ),
];

function parseJson(bytes: Uint8Array): Value {
  try {
    return JSON.parse(decodeUtf8.decode(bytes)) as Value;
  } catch {
    throw new EvaluationFailure('bytes.json(): this is not JSON');
  }
}

function byteAt(bytes: Uint8Array, index: Value | undefined): bigint {
  const byte = bytes[Number(index)];
  if (byte === undefined) throw new EvaluationFailure('Bytes index out of range');
  return BigInt(byte);
}

export const BYTE_FUNCTIONS: readonly FunctionRow[] = [
  {
    // The smallest object takes three bytes as text, and some fifty in memory.
    signature: 'bytes.json(): map<dyn, dyn>',
    steps: ([bytes]) => 1 + (bytes as Uint8Array).length / 2,
    bytes: ([bytes]) => 24 * (bytes as Uint8Array).length,
    call: ([bytes]) => parseJson(bytes as Uint8Array),
  },
  {
    signature: 'bytes.hex(): string',
    steps: perByte,
    bytes: textBytes,
    call: ([bytes]) => Buffer.from(bytes as Uint8Array).toString('hex'),
  },
  {
    signature: 'bytes.base64(): string',
    steps: perByte,
    bytes: textBytes,
    call: ([bytes]) => Buffer.from(bytes as Uint8Array).toString('base64'),
  },
  {
    signature: 'bytes.at(int): int',
    steps: once,
    call: ([bytes, index]) => byteAt(bytes as Uint8Array, index),
  },
];
