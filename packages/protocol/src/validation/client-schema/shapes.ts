import { isJsonObject, type Json } from '../../json/json.ts';

/** What the value of a keyword must be, and how that reads in a message. */
export const SHAPES = {
  any: [() => true, 'anything'],
  boolean: [(value) => typeof value === 'boolean', 'true or false'],
  string: [isString, 'a string'],
  strings: [isStrings, 'a list of strings'],
  values: [Array.isArray, 'a list'],
  number: [(value) => typeof value === 'number', 'a number'],
  positive: [(value) => typeof value === 'number' && value > 0, 'a number above 0'],
  count: [(value) => Number.isInteger(value) && Number(value) >= 0, 'a whole number from 0'],
  types: [isTypes, 'one or several of array, boolean, integer, null, number, object, string'],
  schema: [isSchema, 'a schema: an object, true or false'],
  schemas: [
    (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
    'a list of schemas',
  ],
  schemaMap: [(value) => isJsonObject(value) && Object.values(value).every(isSchema), 'an object of schemas'],
  stringsMap: [
    (value) => isJsonObject(value) && Object.values(value).every(isStrings),
    'an object of lists of strings',
  ],
  dependencies: [
    (value) =>
      isJsonObject(value) && Object.values(value).every((entry) => isSchema(entry) || isStrings(entry)),
    'an object of schemas or lists of strings',
  ],
} as const satisfies Record<string, readonly [isRight: (value: Json) => boolean, words: string]>;

export type Shape = keyof typeof SHAPES;

function isString(value: Json): boolean {
  return typeof value === 'string';
}

function isStrings(value: Json): boolean {
  return Array.isArray(value) && value.every(isString);
}

function isSchema(value: Json): boolean {
  return typeof value === 'boolean' || isJsonObject(value);
}

const TYPES = new Set<Json>(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);

function isTypes(value: Json): boolean {
  const types = Array.isArray(value) ? value : [value];
  return types.length > 0 && types.every((type) => TYPES.has(type));
}
