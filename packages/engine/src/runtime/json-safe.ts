import type { JsonObject } from '@weft/protocol';

const MAX_DEPTH = 64;

/** Where a value stops being JSON: a path such as `outputs.items[3]`, or undefined when all of it is. */
export function findNonJson(value: unknown, path: string, depth = 0): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : path;
  if (typeof value !== 'object' || depth > MAX_DEPTH) return path;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const found = findNonJson(value[index], `${path}[${index}]`, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return path;
  for (const [key, member] of Object.entries(value)) {
    const found = findNonJson(member, `${path}.${key}`, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function jsonBytes(value: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(value));
}
