import { type WorkBudget, BudgetExceeded } from '../budget.ts';
import { indexOf, searchSteps } from '../../json/text-search.ts';
import { admits, type CharacterSet } from './character-set.ts';
import { ASSERTIONS, FORK, JUMP, makeProgram, MATCH, ONE, type Program, programSize } from './program.ts';
import { type Assertion, parsePattern, type PatternNode, PatternSyntaxError } from './syntax.ts';

/**
 * Regular expressions of strangers, on an automaton instead of a backtracking matcher. All that can be true at one position
 * is followed side by side, so that the work of a test is at most (length of the text) × (size of the program), and what is
 * really done is charged.
 *
 * P-1. The size of a program is known, and bounded, before it is made: counted repetitions are not unrolled to be counted.
 * P-2. The first test under a budget is charged for making the program, whether or not it is cached; every test for each
 *      visit of an instruction. So the cost does not depend on earlier requests.
 */
export interface Pattern {
  readonly source: string;
  /** Instructions of its program. */
  readonly size: number;
  /** Whether the pattern occurs anywhere in the text, as `RegExp.prototype.test` without flags. */
  test(text: string, budget: WorkBudget): boolean;
}

/** A pattern that cannot be used; with `limit`, because it is too costly. */
export class PatternError extends Error {
  readonly limit: number | undefined;
  readonly observed: number | undefined;

  constructor(message: string, bound?: { readonly limit: number; readonly observed: number }) {
    super(message);
    this.name = 'PatternError';
    this.limit = bound?.limit;
    this.observed = bound?.observed;
  }
}

const MAX_PATTERN_BYTES = 1024;
const MAX_INSTRUCTIONS = 4_000;

const utf8 = new TextEncoder();

/** An odd number of backslashes before a group number or name. */
const BACKREFERENCE = /(?:^|[^\\])(?:\\\\)*\\(?:[1-9]|k<)/;
const LOOKAROUND = /(?:^|[^\\])(?:\\\\)*\(\?<?[=!]/;

/** Throws PatternError when the pattern is wrong, too long, too large or uses what cannot be matched in linear time. */
export function compilePattern(source: string): Pattern {
  const bytes = source.length > MAX_PATTERN_BYTES ? source.length : utf8.encode(source).length;
  if (bytes > MAX_PATTERN_BYTES) {
    throw new PatternError(`The pattern has ${bytes} bytes; at most ${MAX_PATTERN_BYTES} are allowed.`, {
      limit: MAX_PATTERN_BYTES,
      observed: bytes,
    });
  }
  if (BACKREFERENCE.test(source)) {
    throw new PatternError(
      'The pattern uses a backreference, which cannot be matched in linear time; compare the parts in an expression instead.',
    );
  }
  if (LOOKAROUND.test(source)) {
    throw new PatternError(
      'The pattern uses lookaround, which cannot be matched in linear time; write the condition without (?=, (?!, (?<= and (?<!.',
    );
  }
  const { size } = programOf(source);
  return { source, size, test: (text, budget) => testPattern(source, size, text, budget) };
}

/** A pattern that was tested under this budget before: it is known to be right, and reading it again would be work that is not paid. */
export function paidPattern(source: string, budget: WorkBudget): Pattern | undefined {
  const program = budget.recall(source) as Program | undefined;
  if (program === undefined) return undefined;
  const { size } = program;
  return { source, size, test: (text, by) => testPattern(source, size, text, by) };
}

function read(source: string): PatternNode {
  try {
    return parsePattern(source);
  } catch (error) {
    if (!(error instanceof PatternSyntaxError)) throw error;
    throw new PatternError(`The pattern is not a valid regular expression: ${error.message}.`);
  }
}

/** Making an instruction, or reading a character of the source, takes as long as visiting a few. */
const STEPS_TO_MAKE = 4;

function testPattern(source: string, size: number, text: string, budget: WorkBudget): boolean {
  try {
    return run(paidProgram(source, size, budget), text, budget);
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error;
    throw new PatternError(
      `A pattern of ${size} instructions on a text of ${text.length} characters takes more than ${error.limit} steps; use a simpler pattern or a shorter text.`,
      { limit: error.limit, observed: error.observed },
    );
  }
}

/** What has been paid for stays at hand as long as the budget does: making it twice would be work that is not charged. */
function paidProgram(source: string, size: number, budget: WorkBudget): Program {
  budget.spend(4);
  const paid = budget.recall(source);
  if (paid !== undefined) return paid as Program;
  budget.spend((size + source.length) * STEPS_TO_MAKE);
  budget.allocate(bytesOf(source, size));
  const program = programOf(source);
  budget.remember(source, program);
  return program;
}

function bytesOf(source: string, size: number): number {
  return 1000 + 2 * source.length + 32 * size;
}

/** Programs used last, for the next one who needs them. */
const KEPT_BYTES = 16 * 1024 * 1024;
const kept = new Map<string, Program>();
let keptBytes = 0;

function programOf(source: string): Program {
  const known = kept.get(source);
  if (known !== undefined) {
    kept.delete(source);
    kept.set(source, known);
    return known;
  }
  const program = makeProgram(withinBounds(read(source)));
  kept.set(source, program);
  keptBytes += bytesOf(source, program.size);
  for (const [oldest, { size }] of kept) {
    if (keptBytes <= KEPT_BYTES) break;
    kept.delete(oldest);
    keptBytes -= bytesOf(oldest, size);
  }
  return program;
}

function withinBounds(node: PatternNode): PatternNode {
  const size = programSize(node);
  if (size <= MAX_INSTRUCTIONS) return node;
  throw new PatternError(
    `The pattern compiles to ${size} instructions; at most ${MAX_INSTRUCTIONS} are allowed. Use smaller repetition counts.`,
    { limit: MAX_INSTRUCTIONS, observed: size },
  );
}

function run(program: Program, text: string, budget: WorkBudget): boolean {
  if (program.literal !== undefined) {
    budget.spend(searchSteps(text, program.literal));
    return indexOf(text, program.literal) !== -1;
  }
  const { scratch, operands, sets, costs } = program;
  let waiting = 0;
  mark += 1;
  visits = 0;
  for (let at = 0; ; ) {
    if (at === 0 || !program.isAnchored) waiting = enter(program, 0, text, at, waiting);
    else if (waiting === 0) return false;
    if (waiting === MATCHED) return true;
    const codePoint = text.codePointAt(at);
    if (codePoint === undefined) return false;
    const before = at;
    at += codePoint > 0xffff ? 2 : 1;
    const { waiting: former, former: room } = scratch;
    const count = waiting;
    for (let index = 0; index < count; index++)
      visits += costs[operands[former[index] as number] as number] as number;
    budget.spend(visits / VISITS_PER_STEP);
    visits = 0;
    scratch.waiting = room;
    scratch.former = former;
    waiting = 0;
    mark += 1;
    for (let index = 0; index < count; index++) {
      const instruction = former[index] as number;
      const set = sets[operands[instruction] as number] as CharacterSet;
      if (!admits(set, codePoint, text, before)) continue;
      waiting = enter(program, instruction + 1, text, at, waiting);
      if (waiting === MATCHED) return true;
    }
  }
}

const MATCHED = -1;
/** They take some 10 ns each. */
const VISITS_PER_STEP = 2;
/** Grows with every position, also from one test to the next, so that nothing has to be cleared. */
let mark = 0;
/** Instructions visited at this position; charged, with what waits there, before the next character is looked at. */
let visits = 0;

/** Follows an instruction up to those that need a character, and puts them behind `waiting` others. How many there are then. */
function enter(
  { ops, operands, scratch }: Program,
  from: number,
  text: string,
  at: number,
  count: number,
): number {
  const { seenAt, open, waiting } = scratch;
  let depth = 1;
  open[0] = from;
  while (depth > 0) {
    const index = open[--depth] as number;
    if (seenAt[index] === mark) continue;
    seenAt[index] = mark;
    visits += 1;
    switch (ops[index]) {
      case MATCH:
        return MATCHED;
      case ONE:
        waiting[count++] = index;
        break;
      case JUMP:
        open[depth++] = operands[index] as number;
        break;
      case FORK:
        open[depth++] = operands[index] as number;
        open[depth++] = index + 1;
        break;
      default:
        if (holds(ASSERTIONS[operands[index] as number] as Assertion, text, at)) open[depth++] = index + 1;
    }
  }
  return count;
}

function holds(assertion: Assertion, text: string, at: number): boolean {
  switch (assertion) {
    case 'text-start':
      return at === 0;
    case 'text-end':
      return at === text.length;
    case 'line-start':
      return at === 0 || text[at - 1] === '\n';
    case 'line-end':
      return at === text.length || text[at] === '\n';
    case 'word':
      return isWord(text, at - 1) !== isWord(text, at);
    case 'not-word':
      return isWord(text, at - 1) === isWord(text, at);
  }
}

function isWord(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return (
    (unit >= 48 && unit <= 57) || (unit >= 65 && unit <= 90) || unit === 95 || (unit >= 97 && unit <= 122)
  );
}
