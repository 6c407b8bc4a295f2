import { Ajv2020 } from 'ajv/dist/2020.js';
import type { AnySchemaObject, ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { HostError } from '../errors/errors.ts';
import { fieldName } from '../json/field-name.ts';
import type { JsonObject } from '../json/json.ts';
import { isName, NAME_FORMAT, shownName } from '../json/names.ts';
import { type Finding, type Problem, toProblems } from './problems.ts';
import { pruneUnions } from './union-problems.ts';

export type { Problem } from './problems.ts';

/** All that is wrong with a value, most important first; empty when nothing is. */
export type Validator = (value: unknown) => readonly Problem[];

/** Reported at most; a document with more is not understood better by a longer list. */
const MAX_PROBLEMS = 20;

/**
 * A document with more values than this is checked up to its first failure only: where every value is wrong, and in every branch
 * of a union, the list of all failures takes a second to make.
 */
const MAX_VALUES_FOR_ALL_ERRORS = 2_000;

/** The formats every validator of ours knows. */
export const FORMATS = [
  'date-time',
  'date',
  'time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uuid',
] as const;

export function withFormats(ajv: Ajv2020): Ajv2020 {
  addFormats.default(ajv, { mode: 'fast', formats: [...FORMATS] });
  return ajv;
}

const URI = /^[a-z][a-z0-9+.-]*:\S*$/i;

/** For schemas of our own: names, and addresses that hold nothing a name may not hold. */
export function withOwnFormats(ajv: Ajv2020): Ajv2020 {
  return withFormats(ajv)
    .addFormat(NAME_FORMAT, isName)
    .addFormat('uri', (text) => URI.test(text) && isName(text));
}

// Our own schemas are held against the meta-schema by a test; doing it here costs more than all of them together.
const OWN = { strict: true, verbose: true, validateSchema: false } as const;
const firstError = lazily(() => withOwnFormats(new Ajv2020({ ...OWN, allErrors: false })));
const allErrors = lazily(() => withOwnFormats(new Ajv2020({ ...OWN, allErrors: true })));

/** Compiles one of our own schemas; use once per schema, at start. */
export function compileValidator(schema: TSchema): Validator {
  return twoStepValidator(
    lazily(() => firstError().compile(schema as AnySchemaObject)),
    lazily(() => allErrors().compile(schema as AnySchemaObject)),
  );
}

/** Asks the quick check first: nearly every document is right, and then the thorough one is never even compiled. */
function twoStepValidator(quick: () => ValidateFunction, thorough: () => ValidateFunction): Validator {
  return (value) => {
    const first = quick();
    if (first(value)) return [];
    if (!hasFewValues(value, MAX_VALUES_FOR_ALL_ERRORS)) return readProblems(first.errors);
    const all = thorough();
    return all(value) ? readProblems(first.errors) : readProblems(all.errors);
  };
}

export function readProblems(errors: readonly Finding[] | null | undefined): Problem[] {
  return toProblems(pruneUnions((errors ?? []).slice(0, 1000)).slice(0, MAX_PROBLEMS));
}

/** Throws HostError `validation_error` that names the first wrong field. `what` is the document, as in "The request body". */
export function assertValid(validator: Validator, value: unknown, what: string): void {
  const problems = validator(value);
  const [first] = problems;
  if (first === undefined) return;
  const place = first.path === '' ? '' : ` at ${shownName(fieldName(first.path))}`;
  const end = first.message.endsWith('?') ? '' : '.';
  throw new HostError(
    'validation_error',
    `${what} is not valid${place}: ${first.message}${end}`,
    problemDetails(first, problems),
  );
}

function problemDetails(first: Problem, problems: readonly Problem[]): JsonObject {
  return {
    field: fieldName(first.path),
    problems: problems.slice(0, MAX_PROBLEMS).map((problem) => ({ ...problem })),
  };
}

function hasFewValues(value: unknown, limit: number): boolean {
  let left = limit;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    const members = Object.values(next);
    left -= members.length;
    if (left < 0) return false;
    for (const member of members) open.push(member);
  }
  return true;
}

function lazily<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
