import {
  type WorkBudget,
  compilePattern,
  countOf,
  indexOf,
  lastIndexOf,
  paidPattern,
  type Pattern,
  PatternError,
  searchSteps,
} from '@weft/protocol';
import { EvaluationFailure } from './failure.ts';
import { type FunctionRow, once, perCharacter } from './function-row.ts';
import { itemAt, lengthOf, ListValue, type Value } from './values.ts';

/** Looking into text, and taking it apart. */

const search = ([text, needle]: readonly Value[]): number => searchSteps(text as string, needle as string);
/** A long needle is searched with the help of a table. */
const searchTable = ([, needle]: readonly Value[]): number => 4 * (needle as string).length;

function startIndex(text: string, from: Value | undefined, name: string): number {
  const index = Number(from);
  if (index >= 0 && index < text.length) return index;
  throw new EvaluationFailure(`string.${name}(search, fromIndex): fromIndex out of range`);
}

function substring(text: string, from: Value | undefined, to: Value | undefined): string {
  const start = Number(from);
  const end = to === undefined ? text.length : Number(to);
  if (!(start >= 0 && start <= text.length))
    throw new EvaluationFailure('string.substring(start, end): start index out of range');
  if (!(end >= start && end <= text.length))
    throw new EvaluationFailure('string.substring(start, end): end index out of range');
  return text.substring(start, end);
}

/** As many parts as there are separators, and one more. */
function splitBytes([text, separator]: readonly Value[]): number {
  const parts = separator === '' ? (text as string).length : 1 + countOf(text as string, separator as string);
  return 48 * parts;
}

function split(text: string, separator: string, limit: number): ListValue {
  if (limit === 0) return new ListValue([]);
  if (separator === '') return new ListValue(limited(text.split(''), separator, limit));
  const parts: string[] = [];
  let from = 0;
  for (let at = indexOf(text, separator); at !== -1; at = indexOf(text, separator, from)) {
    if (parts.length === limit - 1) break;
    parts.push(text.slice(from, at));
    from = at + separator.length;
  }
  parts.push(text.slice(from));
  return new ListValue(parts);
}

/** The last part takes all that is over. */
function limited(parts: string[], separator: string, limit: number): string[] {
  if (limit < 0 || parts.length <= limit) return parts;
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)];
}

/** Reading a pattern takes some steps for a character; longer ones are not read. */
const STEPS_TO_READ = 40;
const MAX_READ = 1024;

function readPattern(source: string, budget: WorkBudget): Pattern {
  budget.spend(STEPS_TO_READ * Math.min(source.length, MAX_READ));
  return compilePattern(source);
}

/** Making the program and running it is charged by the pattern itself, the first time under a budget. */
function matches(text: string, source: string, budget: WorkBudget): boolean {
  try {
    const pattern = paidPattern(source, budget) ?? readPattern(source, budget);
    return pattern.test(text, budget);
  } catch (error) {
    // A pattern that is wrong is like any other wrong operand; one that costs too much ends the evaluation.
    if (error instanceof PatternError && error.limit === undefined)
      throw new EvaluationFailure(error.message);
    throw error;
  }
}

/** One character of lower case may have three of upper case, and finding them takes a table. */
const perCase = ([text]: readonly Value[]): number => 1 + 2 * (text as string).length;

const perItem = ([list]: readonly Value[]): number => 1 + lengthOf(list ?? null);

function joinBytes([list = null, separator = '']: readonly Value[]): number {
  let characters = 0;
  const length = lengthOf(list);
  for (let index = 0; index < length; index++) {
    const item = itemAt(list, index);
    if (typeof item !== 'string')
      throw new EvaluationFailure('string.join(): list must contain only strings');
    characters += item.length;
  }
  return 8 * length + 2 * (characters + length * (separator as string).length);
}

function join([list = null, separator = '']: readonly Value[]): string {
  const items = list instanceof ListValue ? list.items : (list as string[]);
  return items.join(separator as string);
}

export const STRING_FUNCTIONS: readonly FunctionRow[] = [
  {
    signature: 'string.startsWith(string): bool',
    steps: ([, start]) => 1 + (start as string).length / 8,
    call: ([text, start]) => (text as string).startsWith(start as string),
  },
  {
    signature: 'string.endsWith(string): bool',
    steps: ([, end]) => 1 + (end as string).length / 8,
    call: ([text, end]) => (text as string).endsWith(end as string),
  },
  {
    signature: 'string.contains(string): bool',
    steps: search,
    bytes: searchTable,
    call: ([text, needle]) => indexOf(text as string, needle as string) !== -1,
  },
  {
    signature: 'string.lowerAscii(): string',
    steps: perCase,
    bytes: ([text]) => 6 * (text as string).length,
    call: ([text]) => (text as string).toLowerCase(),
  },
  {
    signature: 'string.upperAscii(): string',
    steps: perCase,
    bytes: ([text]) => 6 * (text as string).length,
    call: ([text]) => (text as string).toUpperCase(),
  },
  {
    signature: 'string.trim(): string',
    steps: perCharacter,
    bytes: () => 32,
    call: ([text]) => (text as string).trim(),
  },
  {
    signature: 'string.indexOf(string): int',
    steps: search,
    bytes: searchTable,
    call: ([text, needle]) => BigInt(indexOf(text as string, needle as string)),
  },
  {
    signature: 'string.indexOf(string, int): int',
    steps: search,
    bytes: searchTable,
    call: ([text, needle, from]) =>
      needle === ''
        ? (from ?? null)
        : BigInt(indexOf(text as string, needle as string, startIndex(text as string, from, 'indexOf'))),
  },
  {
    signature: 'string.lastIndexOf(string): int',
    steps: search,
    bytes: searchTable,
    call: ([text, needle]) => BigInt(lastIndexOf(text as string, needle as string)),
  },
  {
    signature: 'string.lastIndexOf(string, int): int',
    steps: search,
    bytes: searchTable,
    call: ([text, needle, from]) =>
      needle === ''
        ? (from ?? null)
        : BigInt(
            lastIndexOf(text as string, needle as string, startIndex(text as string, from, 'lastIndexOf')),
          ),
  },
  {
    signature: 'string.substring(int): string',
    steps: once,
    bytes: () => 32,
    call: ([text, from]) => substring(text as string, from, undefined),
  },
  {
    signature: 'string.substring(int, int): string',
    steps: once,
    bytes: () => 32,
    call: ([text, from, to]) => substring(text as string, from, to),
  },
  {
    signature: 'string.matches(string): bool',
    steps: once,
    call: ([text, pattern], budget) => matches(text as string, pattern as string, budget),
  },
  {
    signature: 'string.split(string): list<string>',
    steps: search,
    bytes: splitBytes,
    call: ([text, separator]) => split(text as string, separator as string, -1),
  },
  {
    signature: 'string.split(string, int): list<string>',
    steps: search,
    bytes: splitBytes,
    call: ([text, separator, limit]) => split(text as string, separator as string, Number(limit)),
  },
  { signature: 'list<string>.join(): string', steps: perItem, bytes: joinBytes, call: (args) => join(args) },
  {
    signature: 'list<string>.join(string): string',
    steps: perItem,
    bytes: joinBytes,
    call: (args) => join(args),
  },
];
