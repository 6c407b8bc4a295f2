import { type WorkBudget, isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { EvaluationFailure } from './failure.ts';

/**
 * The values of an expression. What comes from the run stays as it is, plain JSON, and is turned into a value of CEL where it
 * is looked at: an expression that reads one number of a large state pays for that number. CEL tells integers (bigint) from
 * doubles; JSON does not, so every integral JSON number is an integer. Lists and maps that the expression makes are objects of
 * our own, because their numbers are what they are.
 */
export type Value = null | boolean | number | bigint | string | object;

export type Kind =
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'list'
  | 'map'
  | 'type'
  | 'google.protobuf.Timestamp'
  | 'google.protobuf.Duration';

/** A list that the expression made. */
export class ListValue {
  readonly items: readonly Value[];

  constructor(items: readonly Value[]) {
    this.items = items;
  }
}

/** A map that the expression made. Keys are text: `{1: "a"}` and `{"1": "a"}` are the same. */
export class MapValue {
  readonly members: ReadonlyMap<string, Value>;

  constructor(members: ReadonlyMap<string, Value>) {
    this.members = members;
  }
}

/** Members that are looked up when they are asked for, such as the outputs of all nodes. */
export interface LazyMembers {
  get(name: string): Json | undefined;
  names(): readonly string[];
}

/** A map of the run whose members are not in one JSON object. */
export class LazyMap {
  readonly members: LazyMembers;

  constructor(members: LazyMembers) {
    this.members = members;
  }
}

export class UnsignedValue {
  readonly value: bigint;

  constructor(value: bigint) {
    if (value < 0n || value > 0xffff_ffff_ffff_ffffn)
      throw new EvaluationFailure('Unsigned integer overflow');
    this.value = value;
  }
}

/** Exact to the nanosecond. */
export class DurationValue {
  readonly seconds: bigint;
  readonly nanos: number;

  constructor(seconds: bigint, nanos: number) {
    this.seconds = seconds;
    this.nanos = nanos;
  }
}

export class TypeValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

export function kindOf(value: Value): Kind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'boolean':
      return 'bool';
    default:
      return value === null ? 'null' : kindOfObject(value);
  }
}

function kindOfObject(value: object): Kind {
  if (Array.isArray(value) || value instanceof ListValue) return 'list';
  if (value instanceof UnsignedValue) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof TypeValue) return 'type';
  if (value instanceof Date) return 'google.protobuf.Timestamp';
  if (value instanceof DurationValue) return 'google.protobuf.Duration';
  return 'map';
}

/** A part of the run's JSON as a value. */
export function fromJson(value: Json): Value {
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
}

export function lengthOf(list: Value): number {
  return list instanceof ListValue ? list.items.length : (list as Json[]).length;
}

/** Undefined where the list has no such item. */
export function itemAt(list: Value, index: number): Value | undefined {
  if (list instanceof ListValue) return list.items[index];
  const item = (list as Json[])[index];
  return item === undefined ? undefined : fromJson(item);
}

/** Undefined where the map has no such member; keys of the run's own maps are strings. */
export function memberOf(map: Value, key: Value): Value | undefined {
  if (map instanceof MapValue) return isKey(key) ? map.members.get(keyText(key)) : undefined;
  if (typeof key !== 'string') return undefined;
  if (map instanceof LazyMap) {
    const member = map.members.get(key);
    return member === undefined ? undefined : fromJson(member);
  }
  return Object.hasOwn(map as JsonObject, key) ? fromJson((map as JsonObject)[key] as Json) : undefined;
}

/** A number that is written as a key, or a truth value, is its text. */
export function keyText(key: Value): string {
  if (!isKey(key)) throw new EvaluationFailure(`a ${kindOf(key)} cannot be the key of a map`);
  return key instanceof UnsignedValue ? String(key.value) : String(key);
}

function isKey(key: Value): boolean {
  return typeof key !== 'object' || key === null || key instanceof UnsignedValue;
}

/** Gathering the names of a large object takes as long as visiting each several times. */
export const NAME_STEPS = 6;

export function namesOf(map: Value): readonly string[] {
  if (map instanceof MapValue) return [...map.members.keys()];
  if (map instanceof LazyMap) return map.members.names();
  return Object.keys(map as JsonObject);
}

/** Levels of nesting that a result may have; the fold and everyone who reads it recurse. */
const MAX_DEPTH = 128;

/**
 * The way back. The text that the result will be is charged before it is made: a list of a thousand times the same large value
 * is small in memory, and large wherever it is written down. Parts of the run's own JSON are shared, not copied.
 */
export function toJson(value: Value, budget: WorkBudget, depth = 0): Json {
  budget.spend(1);
  if (depth > MAX_DEPTH) throw new EvaluationFailure(`its result is nested more than ${MAX_DEPTH} deep`);
  switch (typeof value) {
    case 'string':
      chargeText(value, budget);
      return value;
    case 'boolean':
      return value;
    case 'bigint':
      return integer(value);
    case 'number':
      if (Number.isFinite(value)) return value;
      throw new EvaluationFailure(`its result ${value} is not a JSON number`);
    default:
      return value === null ? null : objectToJson(value, budget, depth);
  }
}

/** Control characters and half pairs are longer in JSON than in memory, and most texts have none. */
function chargeText(text: string, budget: WorkBudget): void {
  budget.allocate(2 * text.length + 2);
  if (text.length < 64) return;
  budget.spend(text.length / 8);
  let escapes = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || (unit >= 0xd800 && unit <= 0xdfff)) escapes += 1;
  }
  budget.allocate(5 * escapes);
}

function objectToJson(value: object, budget: WorkBudget, depth: number): Json {
  if (value instanceof ListValue) {
    budget.allocate(16 * value.items.length);
    return value.items.map((item) => toJson(item, budget, depth + 1));
  }
  if (value instanceof MapValue) {
    const entries: [string, Json][] = [];
    for (const [name, member] of value.members) {
      chargeMember(name, budget);
      entries.push([name, toJson(member, budget, depth + 1)]);
    }
    return Object.fromEntries(entries);
  }
  if (value instanceof LazyMap) return lazyToJson(value, budget, depth);
  if (Array.isArray(value) || isPlain(value)) {
    chargeJson(value as Json, budget, depth);
    return value as Json;
  }
  if (value instanceof UnsignedValue) return integer(value.value);
  throw new EvaluationFailure(NOT_JSON[kindOf(value)] ?? 'its result is not a JSON value');
}

const NOT_JSON: Partial<Record<Kind, string>> = {
  'google.protobuf.Timestamp':
    'its result is a timestamp; turn it into an integer, for example with getFullYear()',
  'google.protobuf.Duration':
    'its result is not a JSON value; durations and types can be compared, not returned (use getSeconds() or string(…))',
  type: 'its result is not a JSON value; durations and types can be compared, not returned (use getSeconds() or string(…))',
  bytes: 'its result is bytes; convert it with string(…)',
};

function lazyToJson(value: LazyMap, budget: WorkBudget, depth: number): Json {
  const entries: [string, Json][] = [];
  for (const name of namesOf(value)) {
    chargeMember(name, budget);
    const member = value.members.get(name);
    if (member === undefined) continue;
    chargeJson(member, budget, depth + 1);
    entries.push([name, member]);
  }
  return Object.fromEntries(entries);
}

function chargeMember(name: string, budget: WorkBudget): void {
  budget.allocate(32 + 2 * name.length);
}

/** Walks what is shared, only to know how large it is. */
function chargeJson(value: Json, budget: WorkBudget, depth: number): void {
  budget.spend(1);
  if (depth > MAX_DEPTH) throw new EvaluationFailure(`its result is nested more than ${MAX_DEPTH} deep`);
  if (typeof value === 'string') return chargeText(value, budget);
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    budget.allocate(8 * value.length);
    for (const item of value) chargeJson(item, budget, depth + 1);
    return;
  }
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue;
    chargeMember(name, budget);
    chargeJson(value[name] as Json, budget, depth + 1);
  }
}

function isPlain(value: object): boolean {
  return isJsonObject(value) && kindOfObject(value) === 'map';
}

function integer(value: bigint): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new EvaluationFailure(
    `its result ${clip(String(value))} is too large for a JSON number; use string(…) or double(…)`,
  );
}

/** Values in messages are shown as far as a sentence has room for them. */
export function clip(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
