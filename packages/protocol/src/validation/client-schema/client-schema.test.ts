import { describe, expect, it } from 'vitest';
import { createAllowance } from '../allowance.ts';
import { WorkBudget } from '../budget.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { Problem } from '../problems.ts';
import { compileClientSchema } from './client-schema.ts';

function validator(schema: JsonObject): (value: Json) => readonly Problem[] {
  const validate = compileClientSchema(schema);
  return (value) => validate(value, new WorkBudget());
}

function nested(depth: number): JsonObject {
  return depth === 0 ? {} : { not: nested(depth - 1) };
}

function manyPatterns(count: number): JsonObject {
  return { allOf: Array.from({ length: count }, (_, index) => ({ pattern: `[a-z${index}]{1000}` })) };
}

/** a → b b, b → c c, …: small as text, exponential as work. */
function doubling(levels: number): JsonObject {
  const definitions: JsonObject = { [`d${levels}`]: { type: 'string' } };
  for (let level = 0; level < levels; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    definitions[`d${level}`] = { allOf: [next, { ...next }] };
  }
  return { $ref: '#/$defs/d0', $defs: definitions };
}

/** a → b → c → …: each level small, and the evaluation as deep as all of them together. */
function chain(levels: number): JsonObject {
  const definitions: JsonObject = { [`d${levels}`]: {} };
  for (let level = 0; level < levels; level++)
    definitions[`d${level}`] = { not: { $ref: `#/$defs/d${level + 1}` } };
  return { $ref: '#/$defs/d0', $defs: definitions };
}

describe('a schema from a client', () => {
  it('is compiled with local references, formats and patterns', () => {
    const validate = validator({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { id: { $ref: '#/$defs/id' }, when: { type: 'string', format: 'date' } },
      additionalProperties: false,
      $defs: { id: { type: 'string', pattern: '^[a-z]\\d+$' } },
    });

    expect(validate({ id: 'a1', when: '2026-01-01' })).toEqual([]);
    expect(validate({ id: 'A1', whn: 1 }).map((problem) => problem.path)).toEqual(['/whn', '/id']);
  });

  it('matches patterns anywhere in the text, as JSON Schema says', () => {
    expect(validator({ pattern: 'b' })('abc')).toEqual([]);
    expect(validator({ pattern: '\\u00e9' })('café')).toEqual([]);
  });

  it('keeps several patterns apart', () => {
    const validate = validator({ properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } });

    expect(validate({ a: 'a', b: 'b' })).toEqual([]);
    expect(validate({ a: 'b', b: 'a' })).toHaveLength(2);
  });

  it.each<[string, JsonObject]>([
    ['a remote reference', { $ref: 'https://example.com/schema.json' }],
    ['a file reference', { $ref: 'other.json#/a' }],
    ['a reference that leads nowhere', { $ref: '#/$defs/none' }],
    ['a reference to itself', { $ref: '#' }],
    ['a recursion', { properties: { child: { allOf: [{ $ref: '#' }, { $ref: '#' }] } } }],
    ['a reference to what is no schema', { $ref: '#/required', required: [] }],
    ['an older dialect', { $schema: 'http://json-schema.org/draft-07/schema#' }],
    ['an unknown type', { type: 'strin' }],
    ['a list where a schema belongs', { items: [{}] }],
    ['a negative length', { minLength: -1 }],
    ['a number that is no unit', { multipleOf: 0 }],
    ['a requirement that is no list', { required: 'a' }],
    ['a branch that is no schema', JSON.parse('{"if": true, "then": 1}')],
    ['a pattern with lookahead', { pattern: '(?=a)b' }],
    ['a broken pattern', { patternProperties: { '(': {} } }],
    ['an asynchronous schema', { $async: true }],
  ])('is refused for %s', (_, schema) => {
    expect(() => compileClientSchema(schema)).toThrow(
      expect.objectContaining({ name: 'HostError', code: 'validation_error' }),
    );
  });

  it.each<[string, string, JsonObject]>([
    ['too much depth', 'schema_too_large', nested(40)],
    ['too many bytes', 'schema_too_large', { description: 'x'.repeat(70_000) }],
    ['exponential expansion', 'schema_too_large', doubling(28)],
    ['a chain of references', 'schema_too_large', chain(300)],
    ['too many parts', 'schema_too_large', { anyOf: Array.from({ length: 5000 }, () => ({})) }],
    ['patterns that are too large together', 'pattern_too_costly', manyPatterns(300)],
    ['a pattern that explodes', 'pattern_too_costly', { pattern: '(a{1000}){1000}' }],
  ])('is refused for %s, naming limit and observed', (_, code, schema) => {
    expect(() => compileClientSchema(schema)).toThrow(
      expect.objectContaining({
        code,
        details: expect.objectContaining({ limit: expect.any(Number), observed: expect.any(Number) }),
      }),
    );
  });

  it('shares what is allowed with the other schemas of its definition', () => {
    const allowance = createAllowance();
    const schema = { anyOf: Array.from({ length: 3000 }, () => ({ type: 'string' })) };
    const compileMany = (): void => {
      for (let count = 0; count < 10; count++) compileClientSchema(schema, { allowance });
    };

    expect(compileMany).toThrow(
      expect.objectContaining({ code: 'schema_too_large', details: { limit: 5_000, observed: 6_004 } }),
    );
  });

  it('is compiled once for all references to it', () => {
    const shared = { pattern: '^[a-z]{500}$' };
    const all = Array.from({ length: 1000 }, () => ({ $ref: '#/$defs/shared' }));

    expect(validator({ allOf: all, $defs: { shared } })('a1')).toHaveLength(20);
  });

  it('does not see the schema of another client', () => {
    const schema = { $id: 'https://example.com/mine', type: 'string' };

    compileClientSchema(schema);
    expect(() => compileClientSchema({ ...schema, type: 'number' })).not.toThrow();
  });
});

describe('holding a value against a schema', () => {
  const numbers = (count: number): Json[] => Array.from({ length: count }, (_, index) => index);
  const names = (count: number): JsonObject =>
    Object.fromEntries(numbers(count).map((index) => [`name${String(index)}`, index]));

  it('takes work in proportion to schema and value, which is counted', () => {
    const steps = (schema: JsonObject, value: Json): number => {
      const budget = new WorkBudget({ steps: 1e9, bytes: 1e9 });
      compileClientSchema(schema)(value, budget);
      return budget.steps;
    };
    const cases: [schema: JsonObject, value: (size: number) => Json][] = [
      [{ uniqueItems: true }, (size) => numbers(size).map((index) => [index])],
      [{ items: { enum: numbers(5000) } }, numbers],
      [{ items: { anyOf: numbers(50).map((index) => ({ const: index })) } }, numbers],
      [{ propertyNames: { pattern: '^([a-z]+)+\\d*$' } }, names],
      [{ anyOf: [{ properties: names(0) }, true], unevaluatedProperties: true }, names],
      [{ contains: { minimum: 1e9 } }, numbers],
      [{ pattern: '^(a+)+$' }, (size) => `${'a'.repeat(size)}!`],
    ];

    for (const [schema, value] of cases) {
      const once = steps(schema, value(1000));

      expect(steps(schema, value(2000)), JSON.stringify(schema).slice(0, 60)).toBeLessThan(2.2 * once);
    }
  });

  it.each<[string, string, JsonObject, () => Json]>([
    [
      'branches × items',
      'schema_too_large',
      { items: { oneOf: numbers(900).map((index) => ({ const: index })) } },
      () => numbers(5000),
    ],
    [
      'names × patterns',
      'pattern_too_costly',
      { patternProperties: Object.fromEntries(numbers(200).map((index) => [`[a-z]+${String(index)}$`, {}])) },
      () => names(5000),
    ],
    ['a pattern on a long text', 'pattern_too_costly', { pattern: '(.*a){12}$' }, () => 'a'.repeat(500_000)],
    [
      'what is left unevaluated',
      'schema_too_large',
      { anyOf: numbers(300).map(() => ({ additionalProperties: true })), unevaluatedProperties: false },
      () => names(5000),
    ],
    [
      'large values compared',
      'schema_too_large',
      { items: { const: [names(1500)] } },
      () => Array.from({ length: 200 }, () => [names(1500)]),
    ],
  ])('ends when it takes too much: %s', (_, code, schema, value) => {
    const budget = new WorkBudget();

    expect(() => compileClientSchema(schema)(value(), budget)).toThrow(
      expect.objectContaining({
        code,
        details: { limit: expect.any(Number), observed: expect.any(Number) },
      }),
    );
    expect(budget.steps).toBeLessThan(1.1 * budget.limits.steps);
    expect(budget.bytes).toBeLessThan(1.1 * budget.limits.bytes);
  });

  it('says that a value does not fit also when the list of what is wrong would cost too much', () => {
    const schema = {
      allOf: [{ type: 'string' }, { items: { anyOf: numbers(500).map((index) => ({ const: index })) } }],
    };
    const problems = compileClientSchema(schema)(numbers(3000), new WorkBudget());

    expect(problems[0]).toEqual({ path: '', message: 'must be a string', keyword: 'type' });
  });

  it('does not repeat long names and values', () => {
    const schema = { additionalProperties: false, properties: { a: { const: 'x'.repeat(10_000) } } };
    const value = {
      a: 1,
      ...Object.fromEntries(numbers(30).map((index) => [`${'y'.repeat(50_000)}${String(index)}`, 1])),
    };

    const problems = compileClientSchema(schema)(value, new WorkBudget());

    expect(JSON.stringify(problems).length).toBeLessThan(20_000);
  });
});
