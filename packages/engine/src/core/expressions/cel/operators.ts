import type { WorkBudget } from '@weft/protocol';
import { isEqual, isIn } from './equality.ts';
import { EvaluationFailure } from './failure.ts';
import { addDurations, durationMs, moveTimestamp, subtractDurations, timeBetween } from './time.ts';
import {
  clip,
  DurationValue,
  type Kind,
  kindOf,
  itemAt,
  lengthOf,
  ListValue,
  UnsignedValue,
  type Value,
} from './values.ts';

/** Every operator with two operands. Each charges what it is about to do before it does it. */
export type BinarySign = '==' | '!=' | 'in' | '+' | '-' | '*' | '/' | '%' | '<' | '<=' | '>' | '>=';
type Operator = (left: Value, right: Value, budget: WorkBudget) => Value;

function noOverload(left: Value, sign: string, right: Value): EvaluationFailure {
  return new EvaluationFailure(`no such overload: ${kindOf(left)} ${sign} ${kindOf(right)}`);
}

const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;

/** Two integers of a length that an expression can write down take no more than this. */
const ARITHMETIC_STEPS = 2;

type Arithmetic = '+' | '-' | '*' | '/' | '%';

function calculateInt(left: bigint, sign: Arithmetic, right: bigint): bigint {
  switch (sign) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      if (right === 0n) throw new EvaluationFailure('division by zero');
      return left / right;
    case '%':
      if (right === 0n) throw new EvaluationFailure('modulo by zero');
      return left % right;
  }
}

function withinInt(value: bigint): bigint {
  if (value >= MIN_INT && value <= MAX_INT) return value;
  throw new EvaluationFailure(`integer overflow: ${clip(String(value))}`);
}

function calculateDouble(left: number, sign: Exclude<Arithmetic, '%'>, right: number): number {
  switch (sign) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
  }
}

/** An integral JSON number may meet a fractional one anywhere, so ints and doubles calculate with each other. */
function arithmetic(sign: Arithmetic, others?: Operator): Operator {
  return (left, right, budget) => {
    budget.spend(ARITHMETIC_STEPS);
    if (typeof left === 'bigint' && typeof right === 'bigint')
      return withinInt(calculateInt(left, sign, right));
    const isNumbers = isNumber(left) && isNumber(right);
    if (isNumbers && sign !== '%') return calculateDouble(Number(left), sign, Number(right));
    if (left instanceof UnsignedValue && right instanceof UnsignedValue)
      return new UnsignedValue(calculateInt(left.value, sign, right.value));
    if (others === undefined) throw noOverload(left, sign, right);
    return others(left, right, budget);
  };
}

function isNumber(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** Text may be put together lazily; it is charged as if it were not. */
const add: Operator = (left, right, budget) => {
  if (typeof left === 'string' && typeof right === 'string') {
    budget.allocate(32 + 2 * (left.length + right.length));
    return left + right;
  }
  const kinds = [kindOf(left), kindOf(right)] as const;
  if (kinds[0] === 'list' && kinds[1] === 'list') return addLists(left, right, budget);
  if (kinds[0] === 'bytes' && kinds[1] === 'bytes')
    return addBytes(left as Uint8Array, right as Uint8Array, budget);
  if (left instanceof DurationValue && right instanceof DurationValue) return addDurations(left, right);
  if (left instanceof Date && right instanceof DurationValue) return moveTimestamp(left, right, 1);
  if (left instanceof DurationValue && right instanceof Date) return moveTimestamp(right, left, 1);
  throw noOverload(left, '+', right);
};

function addLists(left: Value, right: Value, budget: WorkBudget): ListValue {
  const lengths = [lengthOf(left), lengthOf(right)] as const;
  const length = lengths[0] + lengths[1];
  budget.spend(length);
  budget.allocate(LIST_ITEM_BYTES * length);
  const items: Value[] = [];
  for (let index = 0; index < lengths[0]; index++) items.push(itemAt(left, index) ?? null);
  for (let index = 0; index < lengths[1]; index++) items.push(itemAt(right, index) ?? null);
  return new ListValue(items);
}

/** A slot, and a number in it. */
export const LIST_ITEM_BYTES = 32;

function addBytes(left: Uint8Array, right: Uint8Array, budget: WorkBudget): Uint8Array {
  budget.allocate(100 + left.length + right.length);
  const sum = new Uint8Array(left.length + right.length);
  sum.set(left, 0);
  sum.set(right, left.length);
  return sum;
}

const subtract: Operator = (left, right) => {
  if (left instanceof DurationValue && right instanceof DurationValue) return subtractDurations(left, right);
  if (left instanceof Date && right instanceof Date) return timeBetween(left, right);
  if (left instanceof Date && right instanceof DurationValue) return moveTimestamp(left, right, -1);
  throw noOverload(left, '-', right);
};

const NUMBERS: ReadonlySet<Kind> = new Set(['int', 'uint', 'double']);

/** What JavaScript can put in order: a number of any kind, text, a truth value, a time. */
function comparable(value: Value): number | bigint | string | boolean | undefined {
  if (value instanceof UnsignedValue) return value.value;
  if (value instanceof Date) return value.getTime();
  if (value instanceof DurationValue) return durationMs(value);
  return typeof value === 'object' ? undefined : value;
}

type Comparable = number | bigint | string | boolean;

function comparison(
  sign: '<' | '<=' | '>' | '>=',
  holds: (left: Comparable, right: Comparable) => boolean,
): Operator {
  return (left, right, budget) => {
    budget.spend(1);
    const leftKind = kindOf(left);
    const rightKind = kindOf(right);
    const isSameKind = leftKind === rightKind || (NUMBERS.has(leftKind) && NUMBERS.has(rightKind));
    const [first, second] = [comparable(left), comparable(right)];
    if (!isSameKind || first === undefined || second === undefined) throw noOverload(left, sign, right);
    if (typeof first === 'string') budget.spend(Math.min(first.length, (second as string).length) / 16);
    return holds(first, second);
  };
}

const contains: Operator = (left, right, budget) => {
  budget.spend(1);
  const kind = kindOf(right);
  if (kind !== 'list' && kind !== 'map') throw noOverload(left, 'in', right);
  if (typeof left === 'string') budget.spend(left.length / 16);
  return isIn(left, right, budget);
};

export const BINARY: Readonly<Record<BinarySign, Operator>> = {
  '==': isEqual,
  '!=': (left, right, budget) => !isEqual(left, right, budget),
  in: contains,
  '+': arithmetic('+', add),
  '-': arithmetic('-', subtract),
  '*': arithmetic('*'),
  '/': arithmetic('/'),
  '%': arithmetic('%'),
  '<': comparison('<', (left, right) => left < right),
  '<=': comparison('<=', (left, right) => left <= right),
  '>': comparison('>', (left, right) => left > right),
  '>=': comparison('>=', (left, right) => left >= right),
};

export const UNARY: Readonly<Record<'!_' | '-_', (operand: Value) => Value>> = {
  '!_': (operand) => {
    if (typeof operand === 'boolean') return !operand;
    throw new EvaluationFailure(`no such overload: !${kindOf(operand)}`);
  },
  '-_': (operand) => {
    if (typeof operand === 'bigint' || typeof operand === 'number') return -operand;
    throw new EvaluationFailure(`no such overload: -${kindOf(operand)}`);
  },
};
