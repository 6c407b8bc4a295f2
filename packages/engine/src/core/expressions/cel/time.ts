import { EvaluationFailure } from './failure.ts';
import type { FunctionRow } from './function-row.ts';
import { clip, DurationValue, type Value } from './values.ts';

/** Timestamps and durations. */

const NANOS_PER_SECOND = 1_000_000_000n;
const TIMESTAMP = 'google.protobuf.Timestamp';
const DURATION = 'google.protobuf.Duration';
const FIRST_MS = -62_135_596_800_000;
const LAST_MS = 253_402_300_799_999;

function timestamp(ms: number): Date {
  if (ms >= FIRST_MS && ms <= LAST_MS) return new Date(ms);
  throw new EvaluationFailure('timestamp() requires a time between the years 1 and 9999');
}

function parseTimestamp(text: string): Date {
  const ms = text.length < 20 || text.length > 30 ? Number.NaN : new Date(text).getTime();
  if (Number.isNaN(ms)) throw new EvaluationFailure('timestamp() requires a string in ISO 8601 format');
  return timestamp(ms);
}

const UNIT_NANOS: Readonly<Record<string, bigint>> = {
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: NANOS_PER_SECOND,
  ms: 1_000_000n,
  us: 1_000n,
  µs: 1_000n,
  ns: 1n,
};

/** Longer is no duration that someone wrote. */
const MAX_DURATION = 100;
const DURATION_PART = /(\d*)(?:\.(\d*))?(ns|us|µs|ms|s|m|h)/y;
const FRACTION_DIGITS = 13;

/** Go's notation: `300ms`, `-1.5h`, `2h45m`. */
function parseDuration(text: string): DurationValue {
  const isNegative = text.startsWith('-');
  const start = isNegative || text.startsWith('+') ? 1 : 0;
  if (text.length > MAX_DURATION || text.length === start) throw invalidDuration(text);
  let nanos = 0n;
  DURATION_PART.lastIndex = start;
  while (DURATION_PART.lastIndex < text.length) {
    const part = DURATION_PART.exec(text);
    if (part === null) throw invalidDuration(text);
    const [, whole = '', fraction = '', unit = ''] = part;
    const unitNanos = UNIT_NANOS[unit] ?? 0n;
    const parts = BigInt(fraction.slice(0, FRACTION_DIGITS).padEnd(FRACTION_DIGITS, '0'));
    nanos += BigInt(whole || '0') * unitNanos + (parts * unitNanos) / 10n ** BigInt(FRACTION_DIGITS);
  }
  const [seconds, rest] = [nanos / NANOS_PER_SECOND, Number(nanos % NANOS_PER_SECOND)];
  return isNegative ? new DurationValue(-seconds, -rest) : new DurationValue(seconds, rest);
}

function invalidDuration(text: string): EvaluationFailure {
  return new EvaluationFailure(`Invalid duration string: ${clip(text)}`);
}

function duration(seconds: bigint, nanos: number): DurationValue {
  const carry = Math.floor(nanos / 1e9);
  return new DurationValue(seconds + BigInt(carry), nanos - carry * 1e9);
}

export function addDurations(left: DurationValue, right: DurationValue): DurationValue {
  return duration(left.seconds + right.seconds, left.nanos + right.nanos);
}

export function subtractDurations(left: DurationValue, right: DurationValue): DurationValue {
  return duration(left.seconds - right.seconds, left.nanos - right.nanos);
}

export function timeBetween(left: Date, right: Date): DurationValue {
  const ms = left.getTime() - right.getTime();
  return duration(BigInt(Math.trunc(ms / 1000)), (ms % 1000) * 1e6);
}

export function moveTimestamp(time: Date, by: DurationValue, direction: 1 | -1): Date {
  return timestamp(time.getTime() + direction * Math.floor(durationMs(by)));
}

export function durationMs({ seconds, nanos }: DurationValue): number {
  return Number(seconds) * 1000 + nanos / 1e6;
}

/** As the clocks of a time zone show it. Asking for that builds a calendar each time. */
const ZONE_STEPS = 5_000;
const ZONE_BYTES = 2_000;

function inZone(time: Date, timeZone: string): Date {
  try {
    return new Date(time.toLocaleString('en-US', { timeZone }));
  } catch {
    throw new EvaluationFailure(`There is no time zone "${clip(timeZone)}"`);
  }
}

function dayOfYear(year: number, month: number, day: number): number {
  return (Date.UTC(year, month, day) - Date.UTC(year, 0, 1)) / 86_400_000;
}

interface Part {
  readonly utc: (time: Date) => number;
  readonly local: (time: Date) => number;
}

/** Parts of a timestamp: as UTC, or of a date that was moved to a time zone. */
const PARTS: Readonly<Record<string, Part>> = {
  getDate: { utc: (time) => time.getUTCDate(), local: (time) => time.getDate() },
  getDayOfMonth: { utc: (time) => time.getUTCDate() - 1, local: (time) => time.getDate() - 1 },
  getDayOfWeek: { utc: (time) => time.getUTCDay(), local: (time) => time.getDay() },
  getDayOfYear: {
    utc: (time) => dayOfYear(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()),
    local: (time) => dayOfYear(time.getFullYear(), time.getMonth(), time.getDate()),
  },
  getFullYear: { utc: (time) => time.getUTCFullYear(), local: (time) => time.getFullYear() },
  getHours: { utc: (time) => time.getUTCHours(), local: (time) => time.getHours() },
  getMilliseconds: { utc: (time) => time.getUTCMilliseconds(), local: (time) => time.getMilliseconds() },
  getMinutes: { utc: (time) => time.getUTCMinutes(), local: (time) => time.getMinutes() },
  getMonth: { utc: (time) => time.getUTCMonth(), local: (time) => time.getMonth() },
  getSeconds: { utc: (time) => time.getUTCSeconds(), local: (time) => time.getSeconds() },
};

function partRows(name: string, { utc, local }: Part): FunctionRow[] {
  return [
    {
      signature: `${TIMESTAMP}.${name}(): int`,
      steps: () => 2,
      call: ([time]) => BigInt(utc(time as Date)),
    },
    {
      signature: `${TIMESTAMP}.${name}(string): int`,
      steps: () => ZONE_STEPS,
      bytes: () => ZONE_BYTES,
      call: ([time, zone]) =>
        // No time zone differs from another by parts of a second, and the text has none.
        BigInt(name === 'getMilliseconds' ? utc(time as Date) : local(inZone(time as Date, zone as string))),
    },
  ];
}

const DURATION_PARTS: Readonly<Record<string, (of: DurationValue) => Value>> = {
  getHours: ({ seconds }) => seconds / 3600n,
  getMinutes: ({ seconds }) => seconds / 60n,
  getSeconds: ({ seconds }) => seconds,
  getMilliseconds: ({ seconds, nanos }) => seconds * 1000n + BigInt(Math.floor(nanos / 1e6)),
};

export const TIME_FUNCTIONS: readonly FunctionRow[] = [
  {
    signature: `timestamp(string): ${TIMESTAMP}`,
    steps: () => 20,
    call: ([text]) => parseTimestamp(text as string),
  },
  {
    signature: `timestamp(int): ${TIMESTAMP}`,
    steps: () => 4,
    call: ([seconds]) => timestamp(Number(seconds) * 1000),
  },
  ...Object.entries(PARTS).flatMap(([name, part]) => partRows(name, part)),
  {
    signature: `duration(string): ${DURATION}`,
    steps: () => 2 * MAX_DURATION,
    call: ([text]) => parseDuration(text as string),
  },
  ...Object.entries(DURATION_PARTS).map(
    ([name, part]): FunctionRow => ({
      signature: `${DURATION}.${name}(): int`,
      steps: () => 2,
      call: ([of]) => part(of as DurationValue),
    }),
  ),
];
