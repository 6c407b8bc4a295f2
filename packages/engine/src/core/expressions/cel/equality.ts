import type { WorkBudget } from '@weft/protocol';
import { EvaluationFailure } from './failure.ts';
import {
  type DurationValue,
  itemAt,
  kindOf,
  lengthOf,
  memberOf,
  NAME_STEPS,
  namesOf,
  UnsignedValue,
  type Value,
} from './values.ts';

const MAX_DEPTH = 256;

/** Deep equality, charged part by part. Numbers are equal when they are the same number; what differs in kind is not equal. */
export function isEqual(left: Value, right: Value, budget: WorkBudget, depth = 0): boolean {
  budget.spend(2);
  if (typeof left === 'string') {
    if (typeof right !== 'string' || left.length !== right.length) return false;
    budget.spend(left.length / 16);
    return left === right;
  }
  if (left === right) return true;
  const number = numberOf(left);
  if (number !== undefined) return sameNumber(number, numberOf(right));
  if (typeof left !== 'object' || left === null || typeof right !== 'object' || right === null) return false;
  if (depth > MAX_DEPTH) throw new EvaluationFailure(`values are nested more than ${MAX_DEPTH} deep`);
  return areEqualObjects(left, right, budget, depth);
}

function numberOf(value: Value): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  return value instanceof UnsignedValue ? value.value : undefined;
}

/** An integer and a double are equal when they are the same number. */
function sameNumber(left: number | bigint, right: number | bigint | undefined): boolean {
  if (right === undefined || typeof left === typeof right) return left === right;
  const [integer, double] = typeof left === 'bigint' ? [left, right] : [right, left];
  return Number.isInteger(double) && BigInt(double) === integer;
}

function areEqualObjects(left: object, right: object, budget: WorkBudget, depth: number): boolean {
  const kind = kindOf(left);
  if (kind !== kindOf(right)) return false;
  switch (kind) {
    case 'list':
      return areEqualLists(left, right, budget, depth);
    case 'map':
      return areEqualMaps(left, right, budget, depth);
    case 'bytes':
      return areEqualBytes(left as Uint8Array, right as Uint8Array, budget);
    case 'google.protobuf.Timestamp':
      return (left as Date).getTime() === (right as Date).getTime();
    case 'google.protobuf.Duration':
      return areEqualDurations(left as DurationValue, right as DurationValue);
    default:
      return false;
  }
}

function areEqualLists(left: Value, right: Value, budget: WorkBudget, depth: number): boolean {
  const length = lengthOf(left);
  if (length !== lengthOf(right)) return false;
  for (let index = 0; index < length; index++) {
    if (!isEqual(itemAt(left, index) ?? null, itemAt(right, index) ?? null, budget, depth + 1)) return false;
  }
  return true;
}

function areEqualMaps(left: Value, right: Value, budget: WorkBudget, depth: number): boolean {
  const names = namesOf(left);
  const others = namesOf(right);
  budget.spend(NAME_STEPS * (names.length + others.length));
  if (names.length !== others.length) return false;
  for (const name of names) {
    const other = memberOf(right, name);
    if (other === undefined || !isEqual(memberOf(left, name) ?? null, other, budget, depth + 1)) return false;
  }
  return true;
}

function areEqualBytes(left: Uint8Array, right: Uint8Array, budget: WorkBudget): boolean {
  if (left.length !== right.length) return false;
  budget.spend(left.length / 8);
  return left.every((byte, index) => byte === right[index]);
}

function areEqualDurations(left: DurationValue, right: DurationValue): boolean {
  return left.seconds === right.seconds && left.nanos === right.nanos;
}

/** `in`: an item of a list, or a key of a map. */
export function isIn(value: Value, collection: Value, budget: WorkBudget): boolean {
  if (kindOf(collection) === 'map') return memberOf(collection, value) !== undefined;
  const length = lengthOf(collection);
  for (let index = 0; index < length; index++) {
    if (isEqual(value, itemAt(collection, index) ?? null, budget)) return true;
  }
  return false;
}
