import type { Json } from '@weft/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { finish } from '../json/cooperative-task.ts';
import { canonicalText } from '../json/canonical-text.ts';
import { isSameValue } from './same-value.ts';

const small = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(null, true, false, 0, -0, 1, '', 'a', undefined),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), tie('value'), { maxKeys: 3 }),
  ),
})).value;

/** Lists hold no undefined in JSON. */
const clean = (value: unknown): Json => {
  if (Array.isArray(value)) return value.map((each) => clean(each ?? null));
  if (typeof value !== 'object' || value === null) return (value ?? null) as Json;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, each === undefined ? undefined : clean(each)]),
  ) as Json;
};

describe('two values are the same', () => {
  it('exactly when their canonical texts are', () => {
    fc.assert(
      fc.property(small, small, (one, other) => {
        const [a, b] = [clean(one), clean(other)];

        expect(finish(isSameValue(a, b))).toBe(canonicalText(a) === canonicalText(b));
        expect(finish(isSameValue(a, structuredClone(a)))).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('whatever the order of their names, and large ones are compared in steps', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => ({ a: index, b: { c: [index] } }));
    const turned = many.map(({ a, b }) => ({ b, a }));
    let steps = 0;
    for (const _ of isSameValue(many, turned)) steps += 1;

    expect(steps).toBeGreaterThan(10);
    expect(finish(isSameValue(many, turned))).toBe(true);
    expect(finish(isSameValue(many, [...turned.slice(1), { a: -1, b: { c: [0] } }]))).toBe(false);
  });
});
