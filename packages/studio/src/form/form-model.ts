import { isJsonObject, type Json, type JsonObject } from '@weft/protocol/plain';
import { readJson } from './read-json.ts';

/**
 * A form as data: what a JSON Schema, or the variables of a workflow, ask for, as fields that a person can fill in. What a schema says beyond
 * types, lists and required names is left to the host, which checks every answer and says what is wrong with it.
 */
export interface FormField {
  /** Where its value goes: `['address', 'city']`. The whole value where it is empty. */
  readonly path: readonly string[];
  readonly label: string;
  readonly kind: 'text' | 'long-text' | 'number' | 'boolean' | 'choice' | 'json';
  readonly isRequired: boolean;
  readonly isSecret?: boolean;
  readonly hint?: string;
  readonly choices?: readonly Json[];
  /** As it is typed. */
  readonly initial: string;
}

/** What was typed, by the name of the field. */
export type FormValues = Readonly<Record<string, string>>;

export interface ReadForm {
  readonly value: Json | undefined;
  /** What is wrong, by the name of the field. */
  readonly problems: Readonly<Record<string, string>>;
}

const MAX_DEPTH = 4;
const MAX_FIELDS = 200;
const LONG_TEXT = 200;

export function nameOf(field: Pick<FormField, 'path'>): string {
  return field.path.join('.');
}

export function initialValues(fields: readonly FormField[]): FormValues {
  return Object.fromEntries(fields.map((field) => [nameOf(field), field.initial]));
}

/** The fields of a value that satisfies the schema; objects are opened, what has no simple form is typed as JSON. */
export function fieldsOfSchema(schema: JsonObject, known?: Json): FormField[] {
  return open(schema, [], { isRequired: true, known, depth: 0 }).slice(0, MAX_FIELDS);
}

interface Place {
  readonly isRequired: boolean;
  readonly known: Json | undefined;
  readonly depth: number;
}

function open(schema: JsonObject, path: readonly string[], place: Place): FormField[] {
  const members = schema['properties'];
  if (!isJsonObject(members) || place.depth >= MAX_DEPTH) return [fieldOf(schema, path, place)];
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const known = isJsonObject(place.known) ? place.known : {};
  return Object.entries(members).flatMap(([name, member]) =>
    open(isJsonObject(member) ? member : {}, [...path, name], {
      isRequired: place.isRequired && required.includes(name),
      known: Object.hasOwn(known, name) ? known[name] : undefined,
      depth: place.depth + 1,
    }),
  );
}

function fieldOf(schema: JsonObject, path: readonly string[], { isRequired, known }: Place): FormField {
  const hint = schema['description'];
  const initial = known ?? schema['default'] ?? schema['const'];
  const choices = Array.isArray(schema['enum']) ? schema['enum'] : undefined;
  const kind = choices === undefined ? kindOf(schema, initial) : 'choice';
  return {
    path,
    label: typeof schema['title'] === 'string' ? schema['title'] : (path.at(-1) ?? 'Answer'),
    kind,
    isRequired,
    ...(typeof hint === 'string' && { hint }),
    ...(choices !== undefined && { choices }),
    initial: typedText(kind, initial),
  };
}

function kindOf(schema: JsonObject, initial: Json | undefined): FormField['kind'] {
  switch (schema['type']) {
    case 'string':
      return isLong(schema, initial) ? 'long-text' : 'text';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    default:
      return 'json';
  }
}

function isLong({ maxLength }: JsonObject, initial: Json | undefined): boolean {
  if (typeof initial === 'string' && (initial.length > 80 || initial.includes('\n'))) return true;
  return typeof maxLength === 'number' && maxLength > LONG_TEXT;
}

interface Variable {
  readonly name: string;
  readonly type: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly defaultValue?: Json;
  readonly sensitive?: boolean;
}

/** What a run of a workflow can be given: its variables. */
export function fieldsOfVariables(variables: readonly Variable[], known: JsonObject = {}): FormField[] {
  return variables.map((variable) => {
    const given = Object.hasOwn(known, variable.name) ? known[variable.name] : undefined;
    const initial = given ?? variable.defaultValue;
    const kind = kindOf({ type: variable.type }, initial);
    return {
      path: [variable.name],
      label: variable.name,
      kind,
      isRequired: variable.required === true && variable.defaultValue === undefined,
      ...(variable.sensitive === true && { isSecret: true }),
      ...(variable.description !== undefined && { hint: variable.description }),
      initial: typedText(kind, initial),
    };
  });
}

function typedText(kind: FormField['kind'], value: Json | undefined): string {
  if (value === undefined) return kind === 'boolean' ? 'false' : '';
  if ((kind === 'text' || kind === 'long-text') && typeof value === 'string') return value;
  return kind === 'json' ? JSON.stringify(value, null, 2) : JSON.stringify(value);
}

/** The value that was typed. Fields that were left empty are left out, unless they are required. */
export function readForm(fields: readonly FormField[], values: FormValues): ReadForm {
  const problems: Record<string, string> = {};
  let value: Json | undefined = fields.some(({ path }) => path.length > 0) ? {} : undefined;
  for (const field of fields) {
    const name = nameOf(field);
    const read = readField(field, values[name] ?? '');
    if (read.problem !== undefined) problems[name] = read.problem;
    else if (read.value !== undefined) value = withValue(value, field.path, read.value);
  }
  return { value, problems };
}

interface ReadField {
  readonly value?: Json;
  readonly problem?: string;
}

function readField({ kind, isRequired, label }: FormField, text: string): ReadField {
  const trimmed = text.trim();
  if (trimmed === '') return isRequired ? { problem: `${label} is needed.` } : {};
  if (kind === 'text' || kind === 'long-text') return { value: text };
  if (kind === 'number') {
    const number = Number(trimmed);
    return Number.isFinite(number) ? { value: number } : { problem: `${label} must be a number.` };
  }
  const read = readJson(text);
  if ('value' in read) return read;
  return {
    problem: `${label} must be JSON, such as "text", [1, 2] or {"name": "value"}, and is not in ${read.problem}.`,
  };
}

function withValue(target: Json | undefined, path: readonly string[], value: Json): Json {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  const object = isJsonObject(target) ? target : {};
  const member = Object.hasOwn(object, first) ? object[first] : undefined;
  return Object.fromEntries([...Object.entries(object), [first, withValue(member, rest, value)]]);
}

/** Members whose values differ from those they had: what a fork has to be given. */
export function changedMembers(before: JsonObject, after: Json | undefined): JsonObject {
  if (!isJsonObject(after)) return {};
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  );
}
