/** Sets of characters, as single ones and ranges. Everything that is not ASCII counts as one more character, `\u0080`. */
const RANGES = {
  digit: ['0-9'],
  hex: ['0-9', 'a-f'],
  upper: ['A-Z'],
  lower: ['a-z'],
  upperDigit: ['A-Z', '0-9'],
  lowerDigit: ['a-z', '0-9'],
  alnum: ['A-Z', 'a-z', '0-9'],
  word: ['A-Z', 'a-z', '0-9', '_'],
  dashed: ['A-Z', 'a-z', '0-9', '-'],
  base64: ['A-Z', 'a-z', '0-9', '+', '/', '='],
  base64url: ['A-Z', 'a-z', '0-9', '_', '-'],
  dotted: ['A-Z', 'a-z', '0-9', '_', '-', '.'],
  tilde: ['A-Z', 'a-z', '0-9', '_', '-', '.', '~'],
  /** token68 of HTTP, without its padding. */
  token68: ['A-Z', 'a-z', '0-9', '_', '-', '.', '~', '+', '/'],
  dot: ['.'],
  path: ['A-Z', 'a-z', '0-9', '_', '-', '.', '/'],
  named: ['A-Z', 'a-z', '0-9', '_', '-', '+', '/', '='],
  label: ['A-Z', '0-9', ' '],
  blank: [' ', '\t'],
  /** Between a name and its value: quotes, also escaped ones, blanks, and the sign itself. */
  assignment: [' ', '\t', '"', "'", '\\', '=', ':'],
  assigns: ['=', ':'],
  urlValue: ['A-Z', 'a-z', '0-9', '_', '-', '.', '~', '%', '+', '/', '=', ':', '@', '!', '$', '*', ','],
  password: ['A-Z', 'a-z', '0-9', '!', '#-%', '(-+', '--/', ':', '?', '@', '^', '_', '~', '\u0080'],
  /** Of escapes, percent-encoding, base64 in lines, and hexadecimal. */
  spelling: ['A-Z', 'a-z', '0-9', '+', '/', '=', '-', '_', '%', '\\', '\n', '\r'],
  /** What may stand between `://` and a path. */
  authority: ['!', '#-&', '(-.', '0-;', '=', '?-~', '\u0080'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Alphabet = keyof typeof RANGES;

const NON_ASCII = 0x80;

/** One bit per alphabet, so that a character is in or out by one look. */
export const IN = Object.fromEntries(
  Object.keys(RANGES).map((name, index) => [name, 1 << index]),
) as Readonly<Record<Alphabet, number>>;

const MEMBERS = new Int32Array(NON_ASCII + 1);
for (const [name, ranges] of Object.entries(RANGES)) {
  for (const range of ranges) {
    const first = range.charCodeAt(0);
    const last = range.length === 3 ? range.charCodeAt(2) : first;
    for (let code = first; code <= last; code++) MEMBERS[code] = (MEMBERS[code] ?? 0) | IN[name as Alphabet];
  }
}

/** `alphabet` is one of `IN`. */
export function isIn(alphabet: number, code: number): boolean {
  return ((MEMBERS[code < NON_ASCII ? code : NON_ASCII] ?? 0) & alphabet) !== 0;
}

/** Where a run of characters of the alphabet that begins at `from` ends. */
export function runEnd(text: string, from: number, alphabet: number): number {
  let at = from;
  while (at < text.length && isIn(alphabet, text.charCodeAt(at))) at += 1;
  return at;
}

/** Where the first character of the alphabet stands, from `from` on; the end of the text when there is none. */
export function firstOf(text: string, from: number, alphabet: number): number {
  let at = from;
  while (at < text.length && !isIn(alphabet, text.charCodeAt(at))) at += 1;
  return at;
}
