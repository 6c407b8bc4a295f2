import type { JsonObject } from '@weft/protocol';

const MAX_DEPTH = 64;

/** Where a value stops being JSON: a path such as `outputs.items[3]`, or undefined when all of it is. */
export function findNonJson(value: unknown, path: string, depth = 0): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : path;
  if (typeof value !== 'object' || depth > MAX_DEPTH) return path;
  return Array.isArray(value) ? findInArray(value, path, depth) : findInObject(value, path, depth);
}

function findInArray(list: readonly unknown[], path: string, depth: number): string | undefined {
  for (let index = 0; index < list.length; index += 1) {
    const found = findNonJson(list[index], `${path}[${index}]`, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function findInObject(object: object, path: string, depth: number): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) return path;
  for (const [key, member] of Object.entries(object)) {
    const found = findNonJson(member, `${path}.${key}`, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function jsonBytes(value: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(value));
}
