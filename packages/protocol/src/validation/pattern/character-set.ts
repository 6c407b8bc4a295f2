/**
 * Sets of characters: what one position of a pattern admits. Ranges are kept sorted; Unicode properties (`\p{L}`) are asked
 * of the platform, character by character, instead of being spelt out as thousands of ranges.
 */
export interface CharacterSet {
  /** Pairs of first and last code point, ascending, none touching the next. */
  readonly ranges: readonly number[];
  readonly properties: readonly Property[];
  readonly isNegated: boolean;
  /** Upper and lower case are the same. */
  readonly ignoresCase: boolean;
}

export interface Property {
  readonly test: RegExp;
  readonly isNegated: boolean;
}

export type Range = readonly [first: number, last: number];

const LAST_CODE_POINT = 0x10ffff;
const DIGIT: readonly Range[] = [[48, 57]];
const SPACE: readonly Range[] = [
  [9, 10],
  [12, 13],
  [32, 32],
];
const UPPER: readonly Range[] = [[65, 90]];
const LOWER: readonly Range[] = [[97, 122]];
const WORD: readonly Range[] = [...DIGIT, ...UPPER, [95, 95], ...LOWER];

/** `\d`, `\s`, `\w` and, with capitals, what is none of them. */
export const ESCAPED_SETS: ReadonlyMap<string, readonly Range[]> = new Map([
  ['d', DIGIT],
  ['D', complement(DIGIT)],
  ['s', SPACE],
  ['S', complement(SPACE)],
  ['w', WORD],
  ['W', complement(WORD)],
]);

/** `[[:alpha:]]` and the like. */
export const NAMED_SETS: ReadonlyMap<string, readonly Range[]> = new Map([
  ['alnum', [...DIGIT, ...UPPER, ...LOWER]],
  ['alpha', [...UPPER, ...LOWER]],
  ['ascii', [[0, 127]]],
  [
    'blank',
    [
      [9, 9],
      [32, 32],
    ],
  ],
  [
    'cntrl',
    [
      [0, 31],
      [127, 127],
    ],
  ],
  ['digit', DIGIT],
  ['graph', [[33, 126]]],
  ['lower', LOWER],
  ['print', [[32, 126]]],
  [
    'punct',
    [
      [33, 47],
      [58, 64],
      [91, 96],
      [123, 126],
    ],
  ],
  [
    'space',
    [
      [9, 13],
      [32, 32],
    ],
  ],
  ['upper', UPPER],
  ['word', WORD],
  ['xdigit', [...DIGIT, [65, 70], [97, 102]]],
]);

export function characterSet(
  ranges: readonly Range[],
  { properties = [], isNegated = false, ignoresCase = false }: Partial<Omit<CharacterSet, 'ranges'>> = {},
): CharacterSet {
  const folded = ignoresCase ? ranges.flatMap(withFolded) : ranges;
  return { ranges: merged(folded).flat(), properties, isNegated, ignoresCase };
}

/** What lies between the ranges, before the first and after the last. */
export function complement(ranges: readonly Range[]): Range[] {
  const outside: Range[] = [];
  let next = 0;
  for (const [first, last] of merged(ranges)) {
    if (first > next) outside.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= LAST_CODE_POINT) outside.push([next, LAST_CODE_POINT]);
  return outside;
}

function merged(ranges: readonly Range[]): Range[] {
  const result: [number, number][] = [];
  for (const [first, last] of [...ranges].sort((left, right) => left[0] - right[0])) {
    const previous = result.at(-1);
    if (previous !== undefined && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
    else result.push([first, last]);
  }
  return result;
}

/** A single character also stands for its other case; of a range the text's character is turned instead. */
function withFolded([first, last]: Range): Range[] {
  const folded = foldCase(first);
  return first === last && folded !== first
    ? [
        [first, last],
        [folded, folded],
      ]
    : [[first, last]];
}

const PROPERTY_NAME = /^[A-Za-z][A-Za-z0-9_]*(?:=[A-Za-z][A-Za-z0-9_]*)?$/;

/** `\p{name}`: a category such as Lu, a script such as Greek. Undefined when there is no such property. */
export function unicodeProperty(
  name: string,
  isNegated: boolean,
  ignoresCase: boolean,
): Property | undefined {
  if (!PROPERTY_NAME.test(name)) return undefined;
  for (const spelt of [name, `Script=${name}`]) {
    try {
      return { test: new RegExp(`\\p{${spelt}}`, ignoresCase ? 'iuy' : 'uy'), isNegated };
    } catch {
      // not a property under this spelling
    }
  }
  return undefined;
}

/** Whether the character at `at`, which is `codePoint`, is in the set. */
export function admits(set: CharacterSet, codePoint: number, text: string, at: number): boolean {
  return isMember(set, codePoint, text, at) !== set.isNegated;
}

function isMember(set: CharacterSet, codePoint: number, text: string, at: number): boolean {
  if (isInRanges(set.ranges, codePoint)) return true;
  if (set.ignoresCase && isOtherCaseInRanges(set.ranges, codePoint)) return true;
  for (const { test, isNegated } of set.properties) {
    test.lastIndex = at;
    if (test.test(text) !== isNegated) return true;
  }
  return false;
}

function isOtherCaseInRanges(ranges: readonly number[], codePoint: number): boolean {
  const folded = foldCase(codePoint);
  if (isInRanges(ranges, folded)) return true;
  const upper = single(String.fromCodePoint(folded).toUpperCase());
  return upper !== undefined && foldCase(upper) === folded && isInRanges(ranges, upper);
}

function isInRanges(ranges: readonly number[], codePoint: number): boolean {
  let low = 0;
  let high = ranges.length / 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[2 * middle] as number) > codePoint) high = middle;
    else if ((ranges[2 * middle + 1] as number) < codePoint) low = middle + 1;
    else return true;
  }
  return false;
}

/** The dotless i has a capital, but is not its small letter. */
const DOTLESS_I = 0x131;

/** One character for all that differ in case only. */
export function foldCase(codePoint: number): number {
  if (codePoint < 128) return codePoint >= 65 && codePoint <= 90 ? codePoint + 32 : codePoint;
  if (codePoint === DOTLESS_I) return codePoint;
  const upper = single(String.fromCodePoint(codePoint).toUpperCase()) ?? codePoint;
  return single(String.fromCodePoint(upper).toLowerCase()) ?? codePoint;
}

function single(text: string): number | undefined {
  const codePoint = text.codePointAt(0);
  return codePoint !== undefined && text.length === (codePoint > 0xffff ? 2 : 1) ? codePoint : undefined;
}
