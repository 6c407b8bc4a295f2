/** JSON Schemas (2020-12) of both documents in each of their three shapes. Order and disjointness are left to `check`. */
import { CAPABILITY_KEYS } from './check/check-capability.ts';
import { CROSS_KEYS } from './check/check-cross.ts';
import { PRECONDITIONS } from './check/check-status.ts';
import {
  CANONICALIZATION,
  CAPABILITY_DIFF,
  CAPABILITY_SCOPE,
  CATEGORIES,
  CROSS_FAILED_NOTES,
  CROSS_NOTES,
  CROSS_RUNTIME_DIFF,
  CROSS_SCOPE,
  IDEMPOTENT_NOTE,
  NON_CLAIMS,
  OUT_OF_SCOPE,
  RUNTIMES,
  SIDE_BAND,
} from './contract/vocabulary.ts';

export type Shape = 'clean' | 'partial' | 'failed';
export const SHAPES: readonly Shape[] = ['clean', 'partial', 'failed'];

export type JsonSchema = { readonly [keyword: string]: unknown };

/** The schema of one contract's documents in one shape. */
export function documentSchema(contract: 'capability' | 'cross', shape: Shape): JsonSchema {
  const isCross = contract === 'cross';
  const name = isCross ? 'cross-runtime-diff' : 'capability-diff';
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:weft:evidence:${name}-v0-${shape}`,
    title: `${name} v0, ${shape}`,
    ...object(
      isCross ? crossProperties(shape) : capabilityProperties(shape),
      isCross ? CROSS_KEYS : CAPABILITY_KEYS,
    ),
    ...(isCross && shape !== 'failed' ? { not: { anyOf: RUNTIMES.map(sameRuntime) } } : {}),
    ...(shape === 'partial' ? { allOf: partialRules() } : {}),
  };
}

function capabilityProperties(shape: Shape): Record<string, JsonSchema> {
  const isFailed = shape === 'failed';
  const decision = { type: ['string', 'null'] };
  const change = object({ tool_call_id: text(1), base: decision, head: decision });
  return {
    schema: { const: CAPABILITY_DIFF },
    ...runIds(isFailed),
    status: status(shape),
    preconditions: preconditions(shape, PRECONDITIONS),
    scope: constants(CAPABILITY_SCOPE),
    surface: surface(isFailed),
    binding_ids: parts(isFailed),
    policy_outcomes: object({ changed: isFailed ? NOTHING : { type: 'array', items: change } }),
    unbound: unbound(),
    ambiguities: NOTHING,
    notes: shape === 'clean' ? { anyOf: [NOTHING, { const: [IDEMPOTENT_NOTE] }] } : NOTHING,
  };
}

function crossProperties(shape: Shape): Record<string, JsonSchema> {
  const isFailed = shape === 'failed';
  const runtime = isFailed ? text(0) : { enum: [...RUNTIMES] };
  const word = isFailed ? { anyOf: [text(1), { type: 'null' }] } : text(1);
  const sdk = object({ sdk_name: word, sdk_version: word });
  return {
    schema: { const: CROSS_RUNTIME_DIFF },
    ...runIds(isFailed),
    base_runtime: runtime,
    head_runtime: runtime,
    status: status(shape),
    preconditions: preconditions(shape, [...PRECONDITIONS, 'runtimes_distinct']),
    scope: constants(CROSS_SCOPE),
    canonicalization: constants(CANONICALIZATION),
    surface: surface(isFailed),
    binding_ids: constants({ comparison: OUT_OF_SCOPE }),
    policy_outcomes: constants({ comparison: OUT_OF_SCOPE }),
    sdk_metadata: object({ comparison: { const: SIDE_BAND }, base: sdk, head: sdk }),
    unbound: unbound(),
    non_claims: { const: [...NON_CLAIMS] },
    ambiguities: NOTHING,
    notes: { const: isFailed ? [...CROSS_FAILED_NOTES] : [...CROSS_NOTES] },
  };
}

const NOTHING: JsonSchema = { const: [] };

function object(
  properties: Record<string, JsonSchema>,
  keys: readonly string[] = Object.keys(properties),
): JsonSchema {
  return { type: 'object', additionalProperties: false, required: [...keys], properties };
}

function constants(values: Readonly<Record<string, string | boolean>>): JsonSchema {
  return object(Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { const: value }])));
}

function text(minLength: number): JsonSchema {
  return minLength === 0 ? { type: 'string' } : { type: 'string', minLength };
}

function runIds(isFailed: boolean): Record<string, JsonSchema> {
  return { base_run_id: text(isFailed ? 0 : 1), head_run_id: text(isFailed ? 0 : 1) };
}

function status(shape: Shape): JsonSchema {
  return shape === 'partial' ? { enum: ['partial:health', 'partial:correlation'] } : { const: shape };
}

function preconditions(shape: Shape, keys: readonly string[]): JsonSchema {
  const fixed = (key: string): boolean =>
    shape === 'clean' ||
    key === 'stable_tool_call_ids_required' ||
    (shape === 'partial' && key === 'runtimes_distinct');
  return object(
    Object.fromEntries(keys.map((key) => [key, fixed(key) ? { const: true } : { type: 'boolean' }])),
  );
}

function surface(isEmpty: boolean): JsonSchema {
  return object(Object.fromEntries(CATEGORIES.map((category) => [category, parts(isEmpty)])));
}

function parts(isEmpty: boolean): JsonSchema {
  const values = isEmpty ? NOTHING : { type: 'array', items: { type: 'string' }, uniqueItems: true };
  return object({ added: values, removed: values, unchanged: values });
}

function unbound(): JsonSchema {
  return object(Object.fromEntries(CATEGORIES.map((category) => [category, NOTHING])));
}

function sameRuntime(runtime: string): JsonSchema {
  const same = { const: runtime };
  return {
    properties: { base_runtime: same, head_runtime: same },
    required: ['base_runtime', 'head_runtime'],
  };
}

/** Which status goes with which preconditions. */
function partialRules(): JsonSchema[] {
  const some = (keys: readonly string[]): JsonSchema => ({
    anyOf: keys.map((key) => ({
      properties: { preconditions: { properties: { [key]: { const: false } } } },
    })),
  });
  const all = (keys: readonly string[]): JsonSchema => ({
    properties: {
      preconditions: { properties: Object.fromEntries(keys.map((key) => [key, { const: true }])) },
    },
  });
  const health = ['base_health_clean', 'head_health_clean'];
  const correlation = ['base_correlation_clean', 'head_correlation_clean', 'stable_tool_call_ids_present'];
  const when = (value: string, then: JsonSchema): JsonSchema => ({
    anyOf: [{ not: { properties: { status: { const: value } } } }, then],
  });
  return [
    when('partial:health', some(health)),
    when('partial:correlation', { allOf: [all(health), some(correlation)] }),
  ];
}
