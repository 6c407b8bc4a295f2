import type { Json } from '@weft/protocol';

/** The word a variable declaration uses for the type of this value; `null` fits none of them. */
export function jsonType(value: Json): 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object' {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'object') return 'object';
  if (typeof value === 'string') return 'string';
  return typeof value === 'number' ? 'number' : 'boolean';
}
