import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import { NAME_FORMAT } from '../json/names.ts';

/**
 * For tests: every place of a schema that takes text from outside, and documents that the schema allows with a text of the
 * caller's choice in one such place, or in all of them. Knows the keywords that our own schemas use.
 */
export interface TextField {
  /** JSON Pointer into a sample; members of a map are called `member`, and what an open object adds is `*`. */
  readonly path: string;
  /**
   * - `name`: a text, or the name of a member, that is held to names.ts.
   * - `fixed`: only texts of a certain form are taken, none of which holds a control character.
   * - `text`: any text. `key`: any text as the name of a member. `json`: anything at all.
   */
  readonly kind: 'name' | 'fixed' | 'text' | 'key' | 'json';
  /** The path is that of a member whose name is meant, not its value. */
  readonly isKey: boolean;
  /** Which branch of a union it is in, by the union's path. */
  readonly branches: Readonly<Record<string, number>>;
}

export interface SampleOptions {
  /** Members that the schema does not demand are left out unless this says otherwise. */
  readonly hasMember?: (path: string) => boolean;
  /** The text for a place that takes free text or a name; undefined: a plain one. */
  readonly text?: (path: string) => string | undefined;
  readonly branches?: Readonly<Record<string, number>>;
}

interface Schema extends JsonObject {}

const CLOSED_FORMATS = new Set(['date-time', 'uri']);
const MEMBER = 'member';

export function textFields(schema: object): TextField[] {
  return [...fieldsOf(asJson(schema), '', {})];
}

type Branches = TextField['branches'];

function* fieldsOf(schema: Schema, path: string, branches: Branches): Generator<TextField> {
  const field = (kind: TextField['kind'], at = path, isKey = false): TextField => ({
    path: at,
    kind,
    isKey,
    branches,
  });
  const options = listOf(schema, 'anyOf');
  if (options.length > 0) {
    for (const [index, option] of options.entries())
      yield* fieldsOf(option, path, { ...branches, [path]: index });
    return;
  }
  const parts = listOf(schema, 'allOf');
  for (const part of parts) yield* fieldsOf(part, path, branches);
  if (parts.length > 0) return;
  if ('const' in schema || 'enum' in schema) return;
  switch (schema['type']) {
    case 'string':
      yield field(kindOf(schema));
      return;
    case 'array':
      if (isJsonObject(schema['items'])) yield* fieldsOf(schema['items'], `${path}/0`, branches);
      return;
    case 'object':
      yield* membersOf(schema, path, branches);
      return;
    case undefined:
      yield field('json');
      return;
    default: // numbers and the like hold no text
  }
}

function* membersOf(schema: Schema, path: string, branches: Branches): Generator<TextField> {
  for (const [name, member] of Object.entries(objectAt(schema, 'properties')))
    yield* fieldsOf(member as Schema, `${path}/${name}`, branches);
  // Names that a pattern lets escape are not held to anything.
  for (const [pattern, member] of Object.entries(objectAt(schema, 'patternProperties'))) {
    const isClosed = isClosedPattern(pattern) && schema['additionalProperties'] === false;
    yield { path: `${path}/${MEMBER}`, kind: isClosed ? 'fixed' : 'key', isKey: true, branches };
    yield* fieldsOf(member as Schema, `${path}/${MEMBER}`, branches);
  }
  const { additionalProperties: others, unevaluatedProperties } = schema;
  if (others === false || unevaluatedProperties === false) return;
  if (others === undefined && Object.keys(objectAt(schema, 'properties')).length > 0) return; // closed by what it is part of
  const kind = objectAt(schema, 'propertyNames')['format'] === NAME_FORMAT ? 'name' : 'key';
  yield { path: `${path}/${MEMBER}`, kind, isKey: true, branches };
  if (isJsonObject(others)) yield* fieldsOf(others, `${path}/${MEMBER}`, branches);
  else yield { path: `${path}/*`, kind: 'json', isKey: false, branches };
}

function kindOf({ format, pattern }: Schema): TextField['kind'] {
  if (format === NAME_FORMAT) return 'name';
  if (typeof format === 'string' && CLOSED_FORMATS.has(format)) return 'fixed';
  return typeof pattern === 'string' && isClosedPattern(pattern) ? 'fixed' : 'text';
}

/** Anchored, and made of nothing but signs that it names. */
function isClosedPattern(pattern: string): boolean {
  const named = pattern.replaceAll(/\\[.*+?^$(){}|[\]\\/dw-]/g, '').replaceAll(/\[[^^\]][^\]]*\]/g, '');
  return pattern.startsWith('^') && pattern.endsWith('$') && !/[.\\]|\[\^/.test(named);
}

/** A document that the schema allows. */
export function sampleOf(schema: object, options: SampleOptions = {}): Json {
  return sample(asJson(schema), '', options);
}

/** One that has the field, with this text in it. */
export function sampleWith(schema: object, { path, isKey, branches }: TextField, text: string): Json {
  const made = sampleOf(schema, {
    branches,
    hasMember: (member) => path === member || path.startsWith(`${member}/`),
    text: (at) => (at === path && !isKey ? text : undefined),
  });
  return isKey ? withRenamed(made, path.split('/').slice(1), text) : made;
}

function withRenamed(value: Json, [step = '', ...rest]: readonly string[], name: string): Json {
  if (Array.isArray(value))
    return value.map((item, index) => (index === Number(step) ? withRenamed(item, rest, name) : item));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, member]): [string, Json] => {
    if (key !== step) return [key, member];
    return rest.length === 0 ? [name, member] : [key, withRenamed(member, rest, name)];
  });
  return Object.fromEntries(entries);
}

function sample(schema: Schema, path: string, options: SampleOptions): Json {
  const union = listOf(schema, 'anyOf');
  if (union.length > 0) return sample(union[options.branches?.[path] ?? 0] ?? {}, path, options);
  const parts = listOf(schema, 'allOf');
  if (parts.length > 0)
    return Object.assign({}, ...parts.map((part) => sample(part, path, options))) as JsonObject;
  if (schema['const'] !== undefined) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0] ?? null;
  switch (schema['type']) {
    case 'string':
      return sampleText(schema, path, options);
    case 'integer':
    case 'number':
      return Number(schema['minimum'] ?? Math.min(1, Number(schema['maximum'] ?? 1)));
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return sampleList(schema, path, options);
    case 'object':
      return sampleObject(schema, path, options);
    default:
      return options.text?.(path) ?? 'anything';
  }
}

function sampleList(schema: Schema, path: string, options: SampleOptions): Json[] {
  const items = isJsonObject(schema['items']) ? schema['items'] : {};
  const count = Math.max(1, Number(schema['minItems'] ?? 0));
  return Array.from({ length: count }, (_, index) => sample(items, `${path}/${index}`, options));
}

function sampleObject(schema: Schema, path: string, options: SampleOptions): JsonObject {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const made: [string, Json][] = [];
  for (const [name, member] of Object.entries(objectAt(schema, 'properties'))) {
    const at = `${path}/${name}`;
    if (required.includes(name) || options.hasMember?.(at) === true)
      made.push([name, sample(member as Schema, at, options)]);
  }
  const [patterned] = Object.values(objectAt(schema, 'patternProperties'));
  const others = patterned ?? schema['additionalProperties'] ?? {};
  const at = `${path}/${MEMBER}`;
  if (others !== false && options.hasMember?.(at) === true)
    made.push([MEMBER, sample(isJsonObject(others) ? others : {}, at, options)]);
  return Object.fromEntries(made);
}

const TEXTS: readonly string[] = [
  'plain',
  'prompt:plain',
  'plain.type',
  '1.0.0',
  '1.0',
  '2026-01-31',
  'replace',
  'updates',
  'EUR',
  ...[8, 16, 32, 64].map((length) => '0'.repeat(length)),
  `sha256:${'0'.repeat(64)}`,
  'grpc://127.0.0.1:7879',
];

function sampleText({ format, pattern, minLength }: Schema, path: string, options: SampleOptions): string {
  if (format === 'date-time') return '2026-01-31T12:00:00.000Z';
  if (format === 'uri') return 'https://weft.example/plain';
  const asked = options.text?.(path);
  if (asked !== undefined) return asked;
  if (typeof pattern !== 'string') return 'plain'.padEnd(Number(minLength ?? 0), '-');
  const found = TEXTS.find((text) => new RegExp(pattern, 'u').test(text));
  if (found === undefined) throw new Error(`There is no sample for the pattern ${pattern} at ${path}.`);
  return found;
}

function asJson(schema: object): Schema {
  return JSON.parse(JSON.stringify(schema)) as Schema;
}

function listOf(schema: Schema, keyword: string): Schema[] {
  const list = schema[keyword];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function objectAt(schema: Schema, keyword: string): JsonObject {
  const value = schema[keyword];
  return isJsonObject(value) ? value : {};
}
