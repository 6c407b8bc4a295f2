import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { HostError } from '../errors/errors.ts';
import { closed } from '../documents/schema-parts.ts';
import { assertValid, compileValidator } from './validate.ts';

const validate = compileValidator(
  closed({
    name: Type.String({ minLength: 2 }),
    size: Type.Optional(Type.Integer({ maximum: 9 })),
    when: Type.Optional(Type.String({ format: 'date-time' })),
  }),
);

describe('a validator', () => {
  it('finds nothing wrong with a right value', () => {
    expect(validate({ name: 'ab', size: 9, when: '2026-01-01T00:00:00.000Z' })).toEqual([]);
  });

  it('names every problem at its place, in English', () => {
    expect(validate({ name: 'a', size: 10, when: 'now', nam: 1 })).toEqual([
      { path: '/nam', message: 'unknown field "nam"; did you mean "name"?', keyword: 'additionalProperties' },
      { path: '/name', message: 'must have at least 2 characters', keyword: 'minLength' },
      { path: '/size', message: 'must be at most 9', keyword: 'maximum' },
      { path: '/when', message: 'must be a valid date-time', keyword: 'format' },
    ]);
  });

  it.each([
    [{}, 'the field "name" is missing'],
    [{ name: 3 }, 'must be a string'],
    [[], 'must be an object'],
    [{ name: 'ab', completelyElse: 1 }, 'unknown field "completelyElse"'],
  ])('says of %j: %s', (value, message) => {
    expect(validate(value).map((problem) => problem.message)).toEqual([message]);
  });

  it('reports at most twenty problems, and few for a huge document', () => {
    const numbers = compileValidator(Type.Array(Type.String()));

    expect(numbers(Array.from({ length: 1000 }, () => 1))).toHaveLength(20);
    expect(numbers(Array.from({ length: 200_000 }, () => 1))).toHaveLength(1);
  });

  it('does not take inherited names for fields', () => {
    expect(validate(JSON.parse('{"name":"ab","__proto__":1}'))).toHaveLength(1);
    expect(validate({ name: 'ab', constructor: 1 })).toHaveLength(1);
  });
});

describe('an assertion', () => {
  it('throws a validation error that names the first field', () => {
    const check = () => assertValid(validate, { name: 'ab', nmae: 1 }, 'The request body');

    expect(check).toThrow(HostError);
    expect(check).toThrow(
      'The request body is not valid at nmae: unknown field "nmae"; did you mean "name"?',
    );
    expect(check).toThrow(
      expect.objectContaining({
        code: 'validation_error',
        details: expect.objectContaining({ field: 'nmae' }),
      }),
    );
  });

  it('passes a right value', () => {
    expect(() => assertValid(validate, { name: 'ab' }, 'The request body')).not.toThrow();
  });
});
