import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WorkBudget } from '../budget.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { withFormats } from '../validate.ts';
import { compileClientSchema } from './client-schema.ts';

/** Small schemas and values, made so that they often meet. */
const scalar = fc.constantFrom<Json>(
  null,
  true,
  false,
  0,
  1,
  2,
  1.5,
  -1,
  10,
  '',
  'a',
  'ab',
  'b1',
  'é😀',
  '2026-01-01',
);
const name = fc.constantFrom('a', 'b', 'c', 'ab');
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

const types = ['null', 'boolean', 'number', 'integer', 'string', 'array', 'object'];
const count = fc.nat(3);
const number = fc.constantFrom(0, 1, 1.5, 2, -1);
const pattern = fc.constantFrom('^a', 'b$', '^[a-c]+$', '\\d', '.');
const strings = fc.uniqueArray(name, { maxLength: 3 });

/** `unevaluatedItems` next to `contains` is left out: Ajv takes every item for evaluated there. */
function members(schema: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> {
  const schemas = fc.array(schema, { minLength: 1, maxLength: 3 });
  const map = fc.dictionary(name, schema, { maxKeys: 3, noNullPrototype: true });
  const any = fc.record(
    {
      type: fc.oneof(
        fc.constantFrom(...types),
        fc.uniqueArray(fc.constantFrom(...types), { minLength: 1, maxLength: 3 }),
      ),
      const: value,
      enum: fc.array(value, { minLength: 1, maxLength: 4 }),
      not: schema,
      anyOf: schemas,
      oneOf: schemas,
      allOf: schemas,
      if: schema,
      else: schema,
      $ref: fc.constantFrom('#/$defs/x', '#/$defs/y'),
    },
    { requiredKeys: [] },
  );
  const scalars = fc.record(
    {
      minimum: number,
      exclusiveMaximum: number,
      multipleOf: fc.constantFrom(1, 2, 0.5),
      minLength: count,
      maxLength: count,
      pattern,
      format: fc.constantFrom('date', 'email', 'unknown'),
    },
    { requiredKeys: [] },
  );
  const arrays = fc.record(
    {
      items: schema,
      prefixItems: schemas,
      minItems: count,
      maxItems: count,
      uniqueItems: fc.boolean(),
      unevaluatedItems: schema,
    },
    { requiredKeys: [] },
  );
  const containing = fc.record(
    { contains: schema, minContains: count, maxContains: count },
    { requiredKeys: ['contains'] },
  );
  const objects = fc.record(
    {
      properties: map,
      patternProperties: fc.dictionary(pattern, schema, { maxKeys: 2, noNullPrototype: true }),
      additionalProperties: schema,
      propertyNames: schema,
      required: strings,
      minProperties: count,
      maxProperties: count,
      dependentRequired: fc.dictionary(name, strings, { maxKeys: 2, noNullPrototype: true }),
      dependentSchemas: map,
      unevaluatedProperties: schema,
    },
    { requiredKeys: [] },
  );
  // A member called `then` would make a promise of the record.
  const branching = fc
    .tuple(schema, schema, schema)
    .map((parts) => parts.map((part) => JSON.stringify(part)))
    .map(
      ([condition, yes, no]) =>
        JSON.parse(`{"if": ${condition}, "then": ${yes}, "else": ${no}}`) as JsonObject,
    );
  return fc.oneof(
    any,
    branching,
    fc.tuple(any, scalars).map(([left, right]) => ({ ...left, ...right })),
    fc.tuple(any, arrays).map(([left, right]) => ({ ...left, ...right })),
    containing as fc.Arbitrary<JsonObject>,
    fc.tuple(any, objects).map(([left, right]) => ({ ...left, ...right })),
  );
}

const { inner } = fc.letrec<{ inner: Json }>((tie) => ({
  inner: fc.oneof({ maxDepth: 2 }, fc.boolean(), members(tie('inner'))),
}));
const definition = fc.constantFrom<Json>(
  true,
  { type: 'string' },
  { properties: { a: { type: 'number' } } },
  { items: false },
);
const schema = fc
  .tuple(members(inner), definition, definition)
  .map(([root, x, y]) => ({ ...root, $defs: { x, y } }));

/** Whether a schema uses what Ajv and the standard see differently. */
function isDisputed(node: Json): boolean {
  const text = JSON.stringify(node);
  return text.includes('"contains"') && text.includes('"unevaluatedItems"');
}

/** Undefined where the code that Ajv makes names a variable it has forgotten to declare. */
function resultOf(validate: (value: unknown) => unknown, instance: Json): boolean | undefined {
  try {
    return validate(instance) === true;
  } catch (error) {
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
}

describe('the result for a value', () => {
  it('is that of Ajv', () => {
    let fitting = 0;
    let failing = 0;

    fc.assert(
      fc.property(schema, fc.array(value, { minLength: 5, maxLength: 8 }), (document, instances) => {
        fc.pre(!isDisputed(document));
        const ajv = withFormats(new Ajv2020({ strict: false, logger: false, validateFormats: true }));
        const expected = ajv.compile(document);
        const validate = compileClientSchema(document);

        for (const instance of instances) {
          const fits = validate(instance, new WorkBudget()).length === 0;
          const expectedResult = resultOf(expected, instance);
          if (expectedResult === undefined) continue;
          expect(fits, `${JSON.stringify(document)} on ${JSON.stringify(instance)}`).toBe(expectedResult);
          if (fits) fitting += 1;
          else failing += 1;
        }
      }),
      { numRuns: 120 },
    );

    // Both happen often enough for the agreement to mean something.
    expect(fitting).toBeGreaterThan(100);
    expect(failing).toBeGreaterThan(100);
  });
});
