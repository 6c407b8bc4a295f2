import {
  type CharacterSet,
  characterSet,
  complement,
  ESCAPED_SETS,
  NAMED_SETS,
  type Property,
  type Range,
  unicodeProperty,
} from './character-set.ts';

/**
 * Reads a pattern: the regular expressions of ECMAScript without what needs backtracking (lookaround, backreferences), and
 * with the flags in groups, `\A`, `\z`, `\Q…\E` and `[:alpha:]` of RE2. Only whether a pattern matches is asked, so that groups
 * only group, and a lazy repetition is a repetition.
 */
export type PatternNode =
  | { readonly op: 'empty' }
  | { readonly op: 'one'; readonly set: CharacterSet }
  | { readonly op: 'assert'; readonly holds: Assertion }
  | { readonly op: 'sequence' | 'choice'; readonly parts: readonly PatternNode[] }
  | { readonly op: 'repeat'; readonly part: PatternNode; readonly min: number; readonly max: number };

export type Assertion = 'text-start' | 'text-end' | 'line-start' | 'line-end' | 'word' | 'not-word';

/** A pattern that cannot be read. */
export class PatternSyntaxError extends Error {}

const MOST_REPEATED = 1000;
const NOTHING: PatternNode = { op: 'empty' };
const NEWLINE: Range = [10, 10];

interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
}

interface Reader {
  readonly text: string;
  at: number;
  flags: Flags;
}

export function parsePattern(text: string): PatternNode {
  const reader: Reader = { text, at: 0, flags: { i: false, m: false, s: false } };
  const node = readChoice(reader);
  if (reader.at < text.length) fail(reader, 'a closing bracket has no opening one');
  return node;
}

function fail(reader: Reader, reason: string): never {
  throw new PatternSyntaxError(`${reason}, at character ${reader.at + 1}`);
}

function looksAt(reader: Reader, text: string): boolean {
  return reader.text.startsWith(text, reader.at);
}

function take(reader: Reader, text: string): boolean {
  if (!looksAt(reader, text)) return false;
  reader.at += text.length;
  return true;
}

function next(reader: Reader): string {
  const codePoint = reader.text.codePointAt(reader.at);
  if (codePoint === undefined) return fail(reader, 'the pattern ends too early');
  const character = String.fromCodePoint(codePoint);
  reader.at += character.length;
  return character;
}

function readChoice(reader: Reader): PatternNode {
  const parts = [readSequence(reader)];
  while (take(reader, '|')) parts.push(readSequence(reader));
  return parts.length === 1 ? (parts[0] as PatternNode) : { op: 'choice', parts };
}

function readSequence(reader: Reader): PatternNode {
  const parts: PatternNode[] = [];
  while (reader.at < reader.text.length && !looksAt(reader, '|') && !looksAt(reader, ')')) {
    for (const atom of readAtoms(reader)) parts.push(atom);
    const last = parts.pop() ?? NOTHING;
    parts.push(readRepetition(reader, last));
  }
  return parts.length === 0
    ? NOTHING
    : parts.length === 1
      ? (parts[0] as PatternNode)
      : { op: 'sequence', parts };
}

function readRepetition(reader: Reader, part: PatternNode): PatternNode {
  const counts = readCounts(reader);
  if (counts === undefined) return part;
  take(reader, '?'); // lazy
  if (readCounts(reader) !== undefined) fail(reader, 'a repetition cannot be repeated; put it in brackets');
  return { op: 'repeat', part, ...counts };
}

const SIGNS: Readonly<Record<string, { min: number; max: number }>> = {
  '*': { min: 0, max: Number.POSITIVE_INFINITY },
  '+': { min: 1, max: Number.POSITIVE_INFINITY },
  '?': { min: 0, max: 1 },
};

/** A brace that is no repetition stands for itself. */
const BRACES = /\{(0|[1-9]\d*)(,(0|[1-9]\d*)?)?\}/y;

function readCounts(reader: Reader): { min: number; max: number } | undefined {
  const sign = SIGNS[reader.text[reader.at] ?? ''];
  if (sign !== undefined) {
    reader.at += 1;
    return sign;
  }
  BRACES.lastIndex = reader.at;
  const found = BRACES.exec(reader.text);
  if (found === null) return undefined;
  const min = Number(found[1]);
  const max =
    found[2] === undefined ? min : found[3] === undefined ? Number.POSITIVE_INFINITY : Number(found[3]);
  if (min > MOST_REPEATED || Number(found[3] ?? 0) > MOST_REPEATED)
    fail(reader, `a part is repeated at most ${MOST_REPEATED} times`);
  if (max < min) fail(reader, 'the counts of a repetition are in the wrong order');
  reader.at += found[0].length;
  return { min, max };
}

/** One part, or for quoted text one for each of its characters. */
function readAtoms(reader: Reader): PatternNode[] {
  if (take(reader, '\\Q')) return readQuoted(reader);
  return [readAtom(reader)];
}

function readQuoted(reader: Reader): PatternNode[] {
  const end = reader.text.indexOf('\\E', reader.at);
  const quoted = reader.text.slice(reader.at, end === -1 ? undefined : end);
  reader.at = end === -1 ? reader.text.length : end + 2;
  return Array.from(quoted, (character) => literal(reader, character.codePointAt(0) as number));
}

function literal({ flags }: Reader, codePoint: number): PatternNode {
  return { op: 'one', set: characterSet([[codePoint, codePoint]], { ignoresCase: flags.i }) };
}

function readAtom(reader: Reader): PatternNode {
  const { flags } = reader;
  const character = next(reader);
  switch (character) {
    case '(':
      return readGroup(reader);
    case '[':
      return { op: 'one', set: readClass(reader) };
    case '.':
      return { op: 'one', set: characterSet(flags.s ? complement([]) : complement([NEWLINE])) };
    case '^':
      return { op: 'assert', holds: flags.m ? 'line-start' : 'text-start' };
    case '$':
      return { op: 'assert', holds: flags.m ? 'line-end' : 'text-end' };
    case '*':
    case '+':
    case '?':
      reader.at -= 1;
      return fail(reader, `"${character}" has nothing before it to repeat`);
    case '\\':
      return readEscape(reader);
    default:
      return literal(reader, character.codePointAt(0) as number);
  }
}

const GROUP_NAME = /\?P?<([A-Za-z0-9_$]+)>/y;
const GROUP_FLAGS = /\?([imsU]*)(?:-([imsU]+))?([:)])/y;

/** Flags hold to the end of the group they stand in. */
function readGroup(reader: Reader): PatternNode {
  const outside = reader.flags;
  if (looksAt(reader, '?') && !takeMatch(reader, GROUP_NAME)) {
    const found = takeMatch(reader, GROUP_FLAGS);
    if (found === undefined) return fail(reader, 'this kind of group is not supported');
    const [, set = '', cleared = '', end] = found;
    const has = (flag: 'i' | 'm' | 's'): boolean =>
      !cleared.includes(flag) && (set.includes(flag) || outside[flag]);
    reader.flags = { i: has('i'), m: has('m'), s: has('s') };
    if (end === ')')
      return readCounts(reader) === undefined ? NOTHING : fail(reader, 'flags cannot be repeated');
  }
  const node = readChoice(reader);
  if (!take(reader, ')')) fail(reader, 'a closing bracket is missing');
  reader.flags = outside;
  return node;
}

function takeMatch(reader: Reader, syntax: RegExp): RegExpExecArray | undefined {
  syntax.lastIndex = reader.at;
  const found = syntax.exec(reader.text) ?? undefined;
  if (found !== undefined) reader.at += found[0].length;
  return found;
}

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  A: 'text-start',
  z: 'text-end',
  b: 'word',
  B: 'not-word',
};

function readEscape(reader: Reader): PatternNode {
  const character = reader.text[reader.at] ?? '';
  const holds = Object.hasOwn(ASSERTIONS, character) ? ASSERTIONS[character] : undefined;
  if (holds !== undefined) {
    reader.at += 1;
    return { op: 'assert', holds };
  }
  const member = readEscapedSet(reader);
  if (member === undefined) return literal(reader, readEscapedCharacter(reader));
  const { ranges, properties } = member;
  return { op: 'one', set: characterSet(ranges, { properties, ignoresCase: reader.flags.i }) };
}

interface Members {
  readonly ranges: readonly Range[];
  readonly properties: readonly Property[];
}

const PROPERTY = /[pP](?:\{(\^?)([^}]*)\}|(.))/uy;

/** `\d`, `\p{L}` and their like, behind the backslash. Undefined when a single character is escaped. */
function readEscapedSet(reader: Reader): Members | undefined {
  const ranges = ESCAPED_SETS.get(reader.text[reader.at] ?? '');
  if (ranges !== undefined) {
    reader.at += 1;
    return { ranges, properties: [] };
  }
  const at = reader.at;
  const found = takeMatch(reader, PROPERTY);
  if (found === undefined) return undefined;
  const name = found[2] ?? found[3] ?? '';
  const isNegated = found[0].startsWith('P') !== (found[1] === '^');
  const property = unicodeProperty(name, isNegated, reader.flags.i);
  if (property !== undefined) return { ranges: [], properties: [property] };
  reader.at = at;
  return fail(reader, `there is no Unicode property "${name.slice(0, 40)}"`);
}

const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };
const CODE_POINT = /x\{([0-9A-Fa-f]{1,8})\}|x([0-9A-Fa-f]{2})|u\{([0-9A-Fa-f]{1,8})\}|u([0-9A-Fa-f]{4})/y;
const LETTER_CODE = /c([A-Za-z])/y;
const OCTAL = /0[0-7]{0,2}/y;

function readEscapedCharacter(reader: Reader): number {
  const found = takeMatch(reader, CODE_POINT);
  if (found !== undefined) {
    const codePoint = Number.parseInt(found[1] ?? found[2] ?? found[3] ?? found[4] ?? '', 16);
    return codePoint <= 0x10ffff ? codePoint : fail(reader, 'there is no such character');
  }
  const letter = takeMatch(reader, LETTER_CODE);
  if (letter !== undefined) return (letter[1] as string).charCodeAt(0) % 32;
  const octal = takeMatch(reader, OCTAL);
  if (octal !== undefined) return Number.parseInt(octal[0], 8);
  const character = next(reader);
  return CONTROLS[character] ?? (character.codePointAt(0) as number);
}

/** Behind the opening bracket. `[]` admits nothing, `[^]` everything. */
function readClass(reader: Reader): CharacterSet {
  const isNegated = take(reader, '^');
  const ranges: Range[] = [];
  const properties: Property[] = [];
  while (!take(reader, ']')) {
    const members = readNamedSet(reader) ?? readClassEscape(reader);
    if (members !== undefined) {
      for (const range of members.ranges) ranges.push(range);
      for (const property of members.properties) properties.push(property);
      continue;
    }
    ranges.push(readRange(reader));
  }
  return characterSet(ranges, {
    properties: distinct(properties),
    isNegated,
    ignoresCase: reader.flags.i,
  });
}

/** Each is asked once, however often it is written. */
function distinct(properties: readonly Property[]): Property[] {
  return [
    ...new Map(properties.map((property) => [`${property.test}${property.isNegated}`, property])).values(),
  ];
}

const NAMED = /\[:(\^?)([a-z]+):\]/y;

function readNamedSet(reader: Reader): Members | undefined {
  const found = takeMatch(reader, NAMED);
  if (found === undefined) return undefined;
  const ranges = NAMED_SETS.get(found[2] ?? '');
  if (ranges === undefined) return fail(reader, `there is no class "${found[0]}"`);
  return { ranges: found[1] === '^' ? complement(ranges) : ranges, properties: [] };
}

function readClassEscape(reader: Reader): Members | undefined {
  if (!looksAt(reader, '\\')) return undefined;
  reader.at += 1;
  const members = readEscapedSet(reader);
  if (members === undefined) reader.at -= 1;
  return members;
}

/** A dash stands for itself where no range can be meant. */
function readRange(reader: Reader): Range {
  const first = readClassCharacter(reader);
  if (!looksAt(reader, '-') || looksAt(reader, '-]')) return [first, first];
  reader.at += 1;
  const last = readClassCharacter(reader);
  return last < first ? fail(reader, 'the ends of a range are in the wrong order') : [first, last];
}

function readClassCharacter(reader: Reader): number {
  if (reader.at >= reader.text.length) fail(reader, 'a closing "]" is missing');
  if (!take(reader, '\\')) return next(reader).codePointAt(0) as number;
  if (take(reader, 'b')) return 8;
  if (readEscapedSet(reader) !== undefined) fail(reader, 'a class cannot be the end of a range');
  return readEscapedCharacter(reader);
}
