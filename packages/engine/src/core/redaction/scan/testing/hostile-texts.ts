import { HOSTILE_PIECES } from '../../../testing/hostile-texts.ts';
import { CREDENTIAL_SHAPES } from '../credential-table.ts';

/** Texts that make a careless scanner go over the same characters again and again, each as long as it is asked for. */
export interface HostileText {
  readonly name: string;
  text(length?: number): string;
}

const DEFAULT_LENGTH = 32 * 1024;

function repeated(unit: string): HostileText {
  return {
    name: `${JSON.stringify(unit)} over and over`,
    text: (length = DEFAULT_LENGTH) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length),
  };
}

/** Beginnings without an end, ends without a beginning, and what looks like the inside of either. */
const UNITS = [
  'a',
  '4',
  ' ',
  'eyJ-',
  'eyJ.',
  'eyJaaaaaa.',
  'eyJaaaaaa.eyJ-',
  'eyJaaaaaa..',
  'Bearer ',
  'bearer a',
  'bearer bearer',
  'basic ',
  'Basic YTph',
  'Basic aaaaaaaa',
  'x://',
  'x://a:',
  'x://a:b',
  'x://a:b@',
  '-----BEGIN ',
  '-----BEGIN PRIVATE KEY',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN A PRIVATE KEY-----a-----END ',
  'api_key=',
  'api_key=a',
  'api_key: "',
  '?token=',
  '&sig=a',
  'password=a',
  '12345678:AA',
  'aaaaaaaaaaaaaa.atlasv1.',
  '%41',
  '%',
  '%%4',
  '\\u0041',
  '\\',
  '\\u',
  'QUFB\n',
  '414141\r\n',
  '=',
  '[REDACTED',
  '[REDACTED]',
  'sha256:',
  `sha256:${'a'.repeat(63)}`,
];

export const HOSTILE_TEXTS: readonly HostileText[] = [
  ...new Set([
    ...UNITS,
    ...HOSTILE_PIECES.map(({ piece }) => piece),
    ...CREDENTIAL_SHAPES.flatMap(({ begins }) => begins.flatMap((begin) => [begin, `${begin}a1`])),
  ]),
].map(repeated);

/** Values that begin alike, hold each other, or are nothing but one character; and texts that are nearly one of them. */
export const HOSTILE_VALUES: readonly string[] = [
  'a'.repeat(100_000),
  `${'a'.repeat(63)}b`,
  ...Array.from({ length: 200 }, (_, count) => `${'a'.repeat(count)}b`),
  ...Array.from({ length: 100 }, (_, count) => `eyJ-${'eyJ-'.repeat(count)}.`),
  ...Array.from({ length: 100 }, (_, count) => `user-${count}`),
];
