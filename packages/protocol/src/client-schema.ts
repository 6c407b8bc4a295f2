import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject, SchemaValidateFunction } from 'ajv';
import { RE2JS } from 're2js';
import { canonicalJson } from './canonical.ts';
import { HostError } from './errors.ts';
import { type Json, isJsonObject, type JsonObject } from './json.ts';
import { lazily, type Validator, twoStepValidator, withFormats } from './validate.ts';

/**
 * Schemas that come from clients, such as a workflow's `configurableSchema`. They are programs that the host runs, so
 * everything whose cost grows faster than schema times value is refused or replaced:
 *
 * 1. Size, depth and the number of subschemas after expanding every `$ref` are bounded, and a `$ref` may not recurse.
 * 2. Patterns run on an engine without backtracking, and their compiled size is bounded.
 * 3. `uniqueItems` and `enum` compare canonical texts in a set instead of every pair.
 * 4. Nothing is ever fetched.
 */

export interface ClientSchemaLimits {
  /** UTF-8 bytes of the schema as JSON. */
  readonly maxBytes?: number;
  readonly maxDepth?: number;
}

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const MAX_EXPANDED_SUBSCHEMAS = 4000;
/** Instructions of all compiled patterns together; a repetition such as `{1000}` is unrolled. */
const MAX_PATTERN_STEPS = 50_000;

/** Throws HostError `validation_error` when the schema itself is not acceptable. */
export function compileClientSchema(schema: JsonObject, limits: ClientSchemaLimits = {}): Validator {
  checkSize(schema, limits.maxBytes ?? 65_536);
  checkNode(schema, schema, '', limits.maxDepth ?? 32);
  expandedSize(schema, schema, [], { left: MAX_EXPANDED_SUBSCHEMAS });
  const quick = compileOrRefuse(schema, false);
  return twoStepValidator(
    () => quick,
    lazily(() => compileOrRefuse(schema, true)),
  );
}

function checkSize(schema: JsonObject, maxBytes: number): void {
  const bytes = new TextEncoder().encode(JSON.stringify(schema)).length;
  if (bytes > maxBytes) refuse('', `the schema has ${bytes} bytes; at most ${maxBytes} are allowed`);
}

/** Shared, because making the check of schemas takes ten times as long as most schemas do. */
const metaSchemas = lazily(() => withFormats(new Ajv2020({ strict: false, logger: false })));

/** Makes the check of schemas ready, so that the first client's schema does not have others wait. */
export function warmUpClientSchemas(): void {
  void metaSchemas().validateSchema({});
}

/** A fresh compiler each time: ids of one client's schema must not be visible to another's. */
function compileOrRefuse(schema: JsonObject, allErrors: boolean) {
  const ajv = withFormats(
    new Ajv2020({
      strict: false,
      allErrors,
      verbose: true,
      logger: false,
      addUsedSchema: false,
      validateSchema: false,
      code: { regExp: linearRegExps() },
    }),
  );
  for (const keyword of ['uniqueItems', 'enum']) ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: true,
    compile: uniqueItems,
  });
  ajv.addKeyword({ keyword: 'enum', schemaType: 'array', errors: true, compile: oneOfValues });
  try {
    void metaSchemas().validateSchema(schema, true); // throws what is wrong; nothing asynchronous passed `checkNode`
    return ajv.compile(schema);
  } catch (error) {
    return refuse('', error instanceof Error ? error.message : 'it cannot be compiled');
  }
}

function uniqueItems(wanted: boolean): SchemaValidateFunction {
  const check: SchemaValidateFunction = (items: Json[]) => {
    const ok = !wanted || new Set(items.map(canonicalJson)).size === items.length;
    if (!ok) check.errors = [failure('uniqueItems', {})];
    return ok;
  };
  return check;
}

function oneOfValues(allowedValues: Json[]): SchemaValidateFunction {
  const allowed = new Set(allowedValues.map(canonicalJson));
  const check: SchemaValidateFunction = (value: Json) => {
    const ok = allowed.has(canonicalJson(value));
    if (!ok) check.errors = [failure('enum', { allowedValues })];
    return ok;
  };
  return check;
}

function failure(keyword: string, params: Record<string, unknown>): Partial<ErrorObject> {
  return { keyword, params };
}

/** What Ajv asks for instead of `new RegExp`. `code` is only used for standalone modules, which are not made here. */
function linearRegExps() {
  let stepsLeft = MAX_PATTERN_STEPS;
  const compile = (pattern: string) => {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    stepsLeft -= compiled.programSize();
    if (stepsLeft < 0) throw new Error('its patterns are too large together');
    // Ajv tells patterns apart by their text, so two patterns without one would be taken for the same.
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => `/${pattern}/` };
  };
  return Object.assign(compile, { code: 'linearRegExp' });
}

/** Walks the whole document, also places that are no schemas: what is refused here is refused anywhere. */
function checkNode(node: Json, root: JsonObject, path: string, depthLeft: number): void {
  if (depthLeft < 0) refuse(path, 'the schema is nested too deeply');
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

/** Counts subschemas as a validator meets them, every `$ref` expanded where it stands. */
function expandedSize(node: Json, root: JsonObject, open: readonly string[], budget: { left: number }): void {
  if (typeof node !== 'object' || node === null) return;
  budget.left--;
  if (budget.left < 0)
    refuse('', `the schema has more than ${MAX_EXPANDED_SUBSCHEMAS} parts once its $refs are expanded`);
  if (Array.isArray(node)) {
    for (const entry of node) expandedSize(entry, root, open, budget);
    return;
  }
  if (typeof node.$ref === 'string') {
    if (open.includes(node.$ref)) refuse('', `the $ref "${node.$ref.slice(0, 128)}" leads back to itself`);
    expandedSize(resolvePointer(root, node.$ref) ?? null, root, [...open, node.$ref], budget);
  }
  for (const [key, value] of Object.entries(node)) {
    if (!DATA_KEYWORDS.has(key)) expandedSize(value, root, open, budget);
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

function resolvePointer(root: JsonObject, reference: string): Json | undefined {
  let at: Json | undefined = root;
  const steps = reference === '#' ? [] : reference.slice(2).split('/');
  for (const step of steps) {
    const key = decodeStep(step);
    if (typeof at !== 'object' || at === null || key === undefined || !Object.hasOwn(at, key))
      return undefined;
    at = (at as JsonObject)[key];
  }
  return at;
}

function decodeStep(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}

function escapePointer(step: string): string {
  return step.slice(0, 128).replaceAll('~', '~0').replaceAll('/', '~1');
}

function refuse(path: string, problem: string): never {
  const place = path === '' ? '' : ` at ${path}`;
  throw new HostError('validation_error', `The schema is not acceptable${place}: ${problem}.`, {
    field: path,
  });
}
