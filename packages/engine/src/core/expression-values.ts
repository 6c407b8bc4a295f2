import type { Json, JsonObject } from '@weft/protocol';
import { isJsonObject } from '@weft/protocol';
import { ExpressionError } from './plan.ts';

/**
 * Between JSON and CEL. CEL tells integers (bigint) from doubles; JSON does not, so every integral JSON number enters as an
 * integer. Objects enter as Maps: keys such as `constructor` and `__proto__` are then ordinary keys.
 */

export type CelValue = null | boolean | number | bigint | string | CelValue[] | Map<string, CelValue>;

/** The parts of the scope an expression can read: `true` = all of it, otherwise member by member. */
export type Reads = true | Map<string, Reads>;

/** Work left for one evaluation; see expressions.ts for what is charged. */
export interface Meter {
  charge(units: number): void;
}

/** Deep sizes of converted values, so that a repeated read can be charged without walking the value again. */
export type Sizes = WeakMap<object, number>;

const CHARACTERS_PER_UNIT = 8;

export function sizeOf(value: unknown, sizes: Sizes): number {
  if (typeof value === 'string') return 1 + value.length / CHARACTERS_PER_UNIT;
  if (typeof value !== 'object' || value === null) return 1;
  const known = sizes.get(value);
  if (known !== undefined) return known;
  return Array.isArray(value) ? 1 + value.length : 1;
}

/** Copies only what the expression reads, so a large state costs nothing to an expression that looks at one number. */
export function projectScope(
  scope: JsonObject,
  reads: Reads,
  sizes: Sizes,
  meter: Meter,
): Record<string, CelValue> {
  const context: [string, CelValue][] = [];
  for (const [name, part] of reads === true ? [] : reads) {
    // Members of the scope may be getters, also inherited ones: only those that are named here are asked for, and a name that
    // is none of the roots was refused when the expression was compiled.
    const value = scope[name] ?? (name === 'vars' ? scope['variables'] : undefined);
    if (value !== undefined) context.push([name, project(value, part, sizes, meter)]);
  }
  return Object.fromEntries(context);
}

function project(value: Json, reads: Reads, sizes: Sizes, meter: Meter): CelValue {
  if (reads === true || !isJsonObject(value)) return toCel(value, sizes, meter);
  const map = new Map<string, CelValue>();
  let size = 1;
  for (const [name, part] of reads) {
    const member = own(value, name);
    if (member === undefined) continue;
    const converted = project(member, part, sizes, meter);
    size += sizeOf(converted, sizes);
    map.set(name, converted);
  }
  sizes.set(map, size);
  return map;
}

function toCel(value: Json, sizes: Sizes, meter: Meter): CelValue {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value === 'string') {
    meter.charge(sizeOf(value, sizes));
    return value;
  }
  if (value === null || typeof value === 'boolean') return value;
  meter.charge(1);
  let size = 1;
  if (Array.isArray(value)) {
    meter.charge(value.length);
    const list = value.map((item) => {
      const converted = toCel(item, sizes, meter);
      size += sizeOf(converted, sizes);
      return converted;
    });
    sizes.set(list, size);
    return list;
  }
  const map = new Map<string, CelValue>();
  for (const [key, member] of Object.entries(value)) {
    meter.charge(1);
    const converted = toCel(member, sizes, meter);
    size += sizeOf(converted, sizes);
    map.set(key, converted);
  }
  sizes.set(map, size);
  return map;
}

/** The way back. Throws ExpressionError for what JSON cannot hold. */
export function fromCel(value: unknown): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'bigint':
      return integer(value);
    case 'number':
      if (Number.isFinite(value)) return value;
      throw new ExpressionError(`its result ${value} is not a JSON number`);
    case 'object':
      return value === null ? null : fromCelObject(value);
    default:
      throw new ExpressionError(`its result is a ${typeof value}, which is not a JSON value`);
  }
}

function fromCelObject(value: object): Json {
  if (Array.isArray(value)) return value.map(fromCel);
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, item]) => [String(key), fromCel(item)]));
  if (value instanceof Date) {
    throw new ExpressionError(
      'its result is a timestamp; turn it into an integer, for example with getFullYear()',
    );
  }
  if (value instanceof Uint8Array)
    throw new ExpressionError('its result is bytes; convert it with string(…)');
  if (Object.getPrototypeOf(value) === Object.prototype) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fromCel(item)]));
  }
  const primitive: unknown = value.valueOf();
  // Unsigned integers wrap a bigint; durations, types and functions do not.
  if (typeof primitive === 'bigint') return integer(primitive);
  throw new ExpressionError(
    'its result is not a JSON value; durations and types can be compared, not returned (use getSeconds() or string(…))',
  );
}

function integer(value: bigint): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new ExpressionError(`its result ${value} is too large for a JSON number; use string(…) or double(…)`);
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
