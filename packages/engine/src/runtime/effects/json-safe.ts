import type { JsonObject } from '@weft/protocol';

const MAX_DEPTH = 64;

/** Where a value stops being JSON: a path such as `outputs.items[3]`, or undefined when all of it is. */
export function findNonJson(value: unknown, path: string): string | undefined {
  const rest = restOfPath(value, 0);
  return rest === undefined ? undefined : path + rest;
}

/** From this value on. The path is put together on the way back, so that only what is wrong pays for it. */
function restOfPath(value: unknown, depth: number): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : '';
  if (typeof value !== 'object' || depth > MAX_DEPTH) return '';
  return Array.isArray(value) ? restInArray(value, depth) : restInObject(value, depth);
}

function restInArray(list: readonly unknown[], depth: number): string | undefined {
  for (let index = 0; index < list.length; index += 1) {
    const rest = restOfPath(list[index], depth + 1);
    if (rest !== undefined) return `[${index}]${rest}`;
  }
  return undefined;
}

function restInObject(object: object, depth: number): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) return '';
  for (const key of Object.keys(object)) {
    const rest = restOfPath((object as Readonly<Record<string, unknown>>)[key], depth + 1);
    if (rest !== undefined) return `.${key}${rest}`;
  }
  return undefined;
}

export function jsonBytes(value: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(value));
}
