import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';

const MOST_DEPTH = 16;

/** The smallest value that a plain JSON Schema describes; `null` where it does not say. */
export function sampleOf(schema: JsonObject, depth = 0): Json {
  if (schema['const'] !== undefined) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0] ?? null;
  if (schema['default'] !== undefined) return schema['default'];
  if (depth > MOST_DEPTH) return null;
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  switch (type) {
    case 'object':
      return objectOf(schema, depth);
    case 'array':
      return Array.from({ length: Math.min(Number(schema['minItems'] ?? 0), 100) }, () =>
        isJsonObject(schema['items']) ? sampleOf(schema['items'], depth + 1) : null,
      );
    case 'string':
      return 'x'.repeat(Math.min(Number(schema['minLength'] ?? 0), 1_000));
    case 'integer':
    case 'number':
      return Number(schema['minimum'] ?? 0);
    case 'boolean':
      return false;
    default:
      return null;
  }
}

function objectOf({ properties, required }: JsonObject, depth: number): JsonObject {
  const known = isJsonObject(properties) ? properties : {};
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return Object.fromEntries(
    names.map((name) => {
      const member = Object.hasOwn(known, name) ? known[name] : undefined;
      return [name, isJsonObject(member) ? sampleOf(member, depth + 1) : null];
    }),
  );
}
