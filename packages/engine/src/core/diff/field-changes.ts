import { type Json, type JsonObject, isJsonObject } from '@weft/protocol/plain';

/** A place where two values differ: `outputs.items[2]`. A side that has nothing there is absent. */
export interface FieldChange {
  readonly path: string;
  readonly a?: Json;
  readonly b?: Json;
}

/** Every place where two JSON values differ, deepest first named, in the order of their keys. Lists are compared by index. */
export function fieldChanges(a: Json | undefined, b: Json | undefined, path = ''): FieldChange[] {
  if (isJsonObject(a) && isJsonObject(b)) return memberChanges(a, b, path);
  if (Array.isArray(a) && Array.isArray(b)) {
    return Array.from({ length: Math.max(a.length, b.length) }, (_, index) =>
      fieldChanges(a[index], b[index], `${path}[${index}]`),
    ).flat();
  }
  if (a === b) return [];
  return [{ path, ...(a !== undefined && { a }), ...(b !== undefined && { b }) }];
}

function memberChanges(a: JsonObject, b: JsonObject, path: string): FieldChange[] {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return names.flatMap((name) => fieldChanges(own(a, name), own(b, name), path + step(path, name)));
}

/** A key may be called like something every object has. */
function own(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function step(path: string, name: string): string {
  if (!/^[\w$-]+$/.test(name)) return `[${JSON.stringify(name)}]`;
  return path === '' ? name : `.${name}`;
}
