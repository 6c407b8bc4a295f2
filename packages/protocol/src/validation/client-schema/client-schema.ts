import { type Allowance, createAllowance } from '../allowance.ts';
import { type WorkBudget, BudgetExceeded } from '../budget.ts';
import { HostError } from '../../errors/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts';
import { PatternError } from '../pattern/pattern.ts';
import type { Finding, Problem } from '../problems.ts';
import { readProblems } from '../validate.ts';
import { makeSchema } from './compile.ts';
import { fits, type Schema } from './evaluate.ts';
import { escapePointer, refuse, resolvePointer } from './refuse.ts';

/**
 * Schemas that come from clients, such as a workflow's `configurableSchema`. They are programs that the host runs:
 *
 * 1. Size, depth and the number of subschemas after expanding every `$ref` are bounded, and a `$ref` may not recurse.
 * 2. They are interpreted, not turned into code, and every visit of a subschema is charged to the budget of the caller.
 * 3. Patterns run on an engine without backtracking, and their size and work are bounded.
 * 4. Nothing is ever fetched.
 */
export type ClientSchema = (value: Json, budget: WorkBudget) => readonly Problem[];

export interface ClientSchemaOptions {
  /** What it shares with the other schemas of its definition. */
  readonly allowance?: Allowance;
}

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
/** UTF-8 bytes of the schema as JSON. */
const MAX_BYTES = 65_536;
const MAX_DEPTH = 32;
const MAX_EXPANDED_SUBSCHEMAS = 4000;
/** Nesting once every `$ref` is expanded: as deep as the evaluation goes. */
const MAX_EXPANDED_DEPTH = 256;

/**
 * Throws HostError when the schema itself is not acceptable: `schema_too_large` or `pattern_too_costly` with the limit, else
 * `validation_error`. The validator throws the first two when holding the value against it takes more than the budget has.
 */
export function compileClientSchema(schema: JsonObject, options: ClientSchemaOptions = {}): ClientSchema {
  const allowance = options.allowance ?? createAllowance();
  checkSize(schema);
  checkNode(schema, schema, '', MAX_DEPTH);
  const expanded = { count: 0 };
  expand(schema, schema, [], expanded);
  allowance.take('subschemas', expanded.count);
  const made = makeSchema(schema, allowance);
  return (value, budget) => findProblems(made, value, budget);
}

/** Asks first whether anything is wrong: nearly every value is right, and then no place has to be remembered. */
function findProblems(schema: Schema, value: Json, budget: WorkBudget): readonly Problem[] {
  try {
    if (fits(schema, value, '', { budget })) return [];
  } catch (error) {
    throw tooCostly(error);
  }
  const findings: Finding[] = [];
  try {
    fits(schema, value, '', { budget, findings });
  } catch (error) {
    // That it does not fit is known; the list ends where the budget does.
    if (!(error instanceof BudgetExceeded) && !(error instanceof PatternError)) throw error;
  }
  const problems = readProblems(findings);
  return problems.length > 0 ? problems : [{ path: '', message: 'does not fit the schema', keyword: '' }];
}

function tooCostly(error: unknown): unknown {
  if (error instanceof BudgetExceeded) {
    const { resource, limit, observed } = error;
    return new HostError(
      'schema_too_large',
      `Holding this value against its schema takes more than ${limit} ${resource}. Use a simpler schema, or a smaller value.`,
      { limit, observed },
    );
  }
  if (!(error instanceof PatternError) || error.limit === undefined || error.observed === undefined)
    return error;
  return new HostError('pattern_too_costly', error.message, { limit: error.limit, observed: error.observed });
}

function checkSize(schema: JsonObject): void {
  const bytes = new TextEncoder().encode(JSON.stringify(schema)).length;
  if (bytes > MAX_BYTES) tooLarge('', 'bytes', MAX_BYTES, bytes);
}

function tooLarge(path: string, what: string, limit: number, observed: number): never {
  return refuse(path, `it has ${observed} ${what}; at most ${limit} are allowed`, { limit, observed });
}

/** Walks the whole document, also places that are no schemas: what is refused here is refused anywhere. */
function checkNode(node: Json, root: JsonObject, path: string, depthLeft: number): void {
  if (depthLeft < 0) tooLarge(path, 'levels', MAX_DEPTH, MAX_DEPTH + 1);
  if (Array.isArray(node)) {
    for (const [index, entry] of node.entries()) checkNode(entry, root, `${path}/${index}`, depthLeft - 1);
    return;
  }
  if (!isJsonObject(node)) return;
  checkDialect(node, root, path);
  checkReference(node.$ref, root, `${path}/$ref`);
  for (const [key, value] of Object.entries(node))
    checkNode(value, root, `${path}/${escapePointer(key)}`, depthLeft - 1);
}

function checkDialect(node: JsonObject, root: JsonObject, path: string): void {
  if (node === root && node.$schema !== undefined && node.$schema !== DIALECT) {
    refuse('/$schema', `only JSON Schema 2020-12 (${DIALECT}) is supported`);
  }
  for (const keyword of ['$dynamicRef', '$recursiveRef', '$async'] as const) {
    if (node[keyword] !== undefined && !isJsonObject(node[keyword]))
      refuse(`${path}/${keyword}`, `${keyword} is not supported`);
  }
  if (node !== root && typeof node.$id === 'string')
    refuse(`${path}/$id`, '$id is supported at the root only');
}

function checkReference(reference: Json | undefined, root: JsonObject, path: string): void {
  if (typeof reference !== 'string') return;
  if (reference !== '#' && !reference.startsWith('#/')) {
    refuse(path, 'a $ref must be a JSON Pointer into the same schema, such as "#/$defs/name"');
  }
  if (resolvePointer(root, reference) === undefined) refuse(path, 'the $ref leads nowhere');
}

/** Counts subschemas as an evaluation meets them, every `$ref` expanded where it stands. */
function expand(
  node: Json,
  root: JsonObject,
  open: readonly string[],
  expanded: { count: number },
  depth = 0,
): void {
  if (typeof node !== 'object' || node === null) return;
  expanded.count++;
  if (expanded.count > MAX_EXPANDED_SUBSCHEMAS)
    tooLarge('', 'parts once its $refs are expanded', MAX_EXPANDED_SUBSCHEMAS, expanded.count);
  if (depth > MAX_EXPANDED_DEPTH)
    tooLarge('', 'levels once its $refs are expanded', MAX_EXPANDED_DEPTH, depth);
  if (Array.isArray(node)) {
    for (const entry of node) expand(entry, root, open, expanded, depth + 1);
    return;
  }
  if (typeof node.$ref === 'string') {
    if (open.includes(node.$ref)) refuse('', `the $ref "${node.$ref.slice(0, 128)}" leads back to itself`);
    expand(resolvePointer(root, node.$ref) ?? null, root, [...open, node.$ref], expanded, depth + 1);
  }
  for (const [key, value] of Object.entries(node)) {
    if (!DATA_KEYWORDS.has(key)) expand(value, root, open, expanded, depth + 1);
  }
}

/** Their values are data or are reached only through a `$ref`. */
const DATA_KEYWORDS = new Set([
  '$defs',
  'definitions',
  'enum',
  'const',
  'default',
  'examples',
  'required',
  'type',
]);
