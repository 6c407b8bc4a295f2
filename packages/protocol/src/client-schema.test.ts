import { describe, expect, it } from 'vitest';
import { compileClientSchema } from './client-schema.ts';
import { HostError } from './errors.ts';
import type { Json, JsonObject } from './json.ts';

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

describe('a schema from a client', () => {
  it('is compiled with local references, formats and patterns', () => {
    const validate = compileClientSchema({
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
    expect(compileClientSchema({ pattern: 'b' })('abc')).toEqual([]);
    expect(compileClientSchema({ pattern: '\\u00e9' })('café')).toEqual([]);
  });

  it('keeps several patterns apart', () => {
    const validate = compileClientSchema({ properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } });

    expect(validate({ a: 'a', b: 'b' })).toEqual([]);
    expect(validate({ a: 'b', b: 'a' })).toHaveLength(2);
  });

  it.each<[string, JsonObject]>([
    ['a remote reference', { $ref: 'https://example.com/schema.json' }],
    ['a file reference', { $ref: 'other.json#/a' }],
    ['a reference that leads nowhere', { $ref: '#/$defs/none' }],
    ['a reference to itself', { $ref: '#' }],
    ['a recursion', { properties: { child: { allOf: [{ $ref: '#' }, { $ref: '#' }] } } }],
    ['an older dialect', { $schema: 'http://json-schema.org/draft-07/schema#' }],
    ['too much depth', nested(40)],
    ['too many bytes', { description: 'x'.repeat(70_000) }],
    ['exponential expansion', doubling(28)],
    ['a wrong keyword value', { type: 'strin' }],
    ['a pattern with lookahead', { pattern: '(?=a)b' }],
    ['a broken pattern', { pattern: '(' }],
    ['patterns that are too large together', manyPatterns(100)],
    ['an asynchronous schema', { $async: true }],
  ])('is refused for %s', (_, schema) => {
    expect(() => compileClientSchema(schema)).toThrow(HostError);
    expect(() => compileClientSchema(schema)).toThrow(expect.objectContaining({ code: 'validation_error' }));
  });

  it('cannot make the host slow with a pattern', () => {
    const validate = compileClientSchema({ type: 'string', pattern: '^(a+)+$' });

    expect(validate(`${'a'.repeat(5_000)}!`)).toHaveLength(1);
  });

  it('cannot make the host slow with uniqueItems or a long enum', () => {
    const values = Array.from({ length: 40_000 }, (_, index): Json => [index]);

    expect(compileClientSchema({ uniqueItems: true })(values)).toEqual([]);
    expect(
      compileClientSchema({ uniqueItems: true })([
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
    ).toHaveLength(1);
    expect(compileClientSchema({ items: { enum: values.slice(0, 5_000) } })(values.slice(0, 5_000))).toEqual(
      [],
    );
    expect(compileClientSchema({ enum: ['a', { b: 1 }] })('c')).toEqual([
      { path: '', message: 'must be one of "a", {"b":1}', keyword: 'enum' },
    ]);
  });

  it('does not see the schema of another client', () => {
    const schema = { $id: 'https://example.com/mine', type: 'string' };

    compileClientSchema(schema);
    expect(() => compileClientSchema({ ...schema, type: 'number' })).not.toThrow();
  });
});
