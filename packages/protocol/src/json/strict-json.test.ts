import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HostError } from '../errors/errors.ts';
import { parseStrictJson, strictJsonInSteps } from './strict-json.ts';

function refusal(text: string, maxDepth?: number): HostError {
  try {
    parseStrictJson(text, maxDepth === undefined ? {} : { maxDepth });
  } catch (error) {
    if (error instanceof HostError) return error;
    throw error;
  }
  throw new Error(`was accepted: ${text}`);
}

describe('strict JSON', () => {
  it('reads whatever JSON.stringify writes, with the same result', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);

        expect(parseStrictJson(text)).toStrictEqual(JSON.parse(text));
      }),
    );
  });

  it('accepts and refuses what JSON.parse accepts and refuses, apart from the I-JSON rules', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b"',
      '1',
      '-',
      '0.5',
      'e3',
      'true',
      'null',
      ' ',
      '\\',
      '"',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        let native: unknown;
        try {
          native = JSON.parse(text);
        } catch {
          expect(refusal(text).code).toBe('validation_error');
          return;
        }
        try {
          expect(parseStrictJson(text)).toStrictEqual(native);
        } catch (error) {
          expect(String(error)).toMatch(/twice/);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('keeps __proto__ as an ordinary key', () => {
    const value = parseStrictJson('{"__proto__":{"admin":true}}') as object;

    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect('admin' in value).toBe(false);
  });

  it.each([
    ['{"a":1,"a":2}', 'a', 7],
    ['{"x":[{"a":1,"\\u0061":2}]}', 'x.0.a', 13],
    ['{"__proto__":1,"__proto__":2}', '__proto__', 15],
    ['{"a/b":1,"a/b":2}', 'a/b', 9],
  ])('refuses the double key in %s at %s', (text, field, position) => {
    expect(refusal(text).details).toEqual({ field, position });
  });

  it.each(['"\\ud800"', '"\\udc00\\ud800"', '"\ud800"', '{"\\ud800":1}', '["a\udc00"]', '"\\ud83dx"'])(
    'refuses half a surrogate pair in %j',
    (text) => {
      expect(refusal(text).message).toContain('surrogate');
    },
  );

  it('accepts whole surrogate pairs, raw, escaped and mixed', () => {
    expect(parseStrictJson('["😀","\\ud83d\\ude00","\\ud83d\ude00"]')).toEqual(['😀', '😀', '😀']);
  });

  it.each([
    '9007199254740993',
    '-9007199254740993',
    '1e400',
    '-1e400',
    '1e-400',
    '0.0e-1000000001e',
    '123456789012345678901',
  ])('refuses the number %s', (text) => {
    expect(refusal(text).code).toBe('validation_error');
  });

  it.each([
    '0.1',
    '9007199254740992',
    '9007199254740994',
    '1e308',
    '5e-324',
    '0e-500',
    '0.000e-400',
    '-0',
    '123456789012345680000',
  ])('accepts the number %s', (text) => {
    expect(parseStrictJson(text)).toBe(Number(text));
  });

  it('bounds the depth', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

    expect(parseStrictJson(nested(64))).toBeDefined();
    expect(refusal(nested(65)).message).toContain('deeper than 64 levels');
    expect(refusal('{"a":{"b":1}}', 1).details).toEqual({ field: 'a', position: 5 });
    expect(refusal('['.repeat(1_000_000)).message).toContain('deeper');
  });

  it.each([
    '',
    ' ',
    '{"a":1} x',
    '{"a":1}{',
    '\uFEFF{}',
    '"a\nb"',
    '"a\u0000"',
    '{"a"}',
    '{a:1}',
    "{'a':1}",
    '[1,]',
    '{"a":1,}',
    '01',
    '.5',
    '1.',
    '+1',
    'NaN',
    'tru',
    '"\\x"',
    '"abc',
    '"\\',
    '[1 2]',
  ])('refuses %j', (text) => {
    expect(refusal(text).code).toBe('validation_error');
  });

  it('reads a large body in linear time', () => {
    const text = JSON.stringify(
      Array.from({ length: 20_000 }, (_, index) => ({ id: `n${index}`, value: index / 3 })),
    );

    expect(parseStrictJson(text)).toStrictEqual(JSON.parse(text));
  });

  it('reads a long text in many steps, with the same result', () => {
    const long = JSON.stringify(Array.from({ length: 20_000 }, (_, index) => ({ a: [index, 'x'], b: {} })));
    const steps = strictJsonInSteps(long);
    let count = 0;
    let step = steps.next();
    while (step.done !== true) {
      count += 1;
      step = steps.next();
    }

    expect(count).toBeGreaterThan(long.length / 65_536);
    expect(step.value).toEqual(JSON.parse(long));
  });

  it('says in steps what it says in one go of a long text that is wrong near its end', () => {
    const long = `{"list":${JSON.stringify(Array.from({ length: 20_000 }, () => ({ a: 1 })))},"list":1}`;
    const inSteps = (): unknown => {
      const steps = strictJsonInSteps(long);
      for (;;) {
        const step = steps.next();
        if (step.done === true) return step.value;
      }
    };

    expect(inSteps).toThrow(refusal(long).message);
  });
});
