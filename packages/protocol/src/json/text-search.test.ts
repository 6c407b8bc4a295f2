import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countOf, indexOf, lastIndexOf } from './text-search.ts';

describe('a search for text', () => {
  it('finds what JavaScript finds, whatever repeats itself', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'a', 'b', 'é'), maxLength: 200 });
    const needle = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 4 }),
      fc.string({ unit: fc.constant('a'), minLength: 33, maxLength: 60 }),
      fc
        .tuple(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 3 }), fc.nat(20))
        .map(([part, times]) => part.repeat(times)),
    );

    fc.assert(
      fc.property(text, needle, text, fc.nat(250), (before, wanted, after, from) => {
        const whole = before + wanted + after;

        expect(indexOf(whole, wanted, from)).toBe(whole.indexOf(wanted, from));
        expect(lastIndexOf(whole, wanted, from)).toBe(whole.lastIndexOf(wanted, from));
        if (wanted !== '') expect(countOf(whole, wanted)).toBe(whole.split(wanted).length - 1);
      }),
      { numRuns: 2000 },
    );
  });

  it('ends where text and needle are made to fit almost everywhere', () => {
    const text = 'a'.repeat(1_000_000);
    const needle = `${'a'.repeat(100_000)}b${'a'.repeat(100_000)}`;

    expect(indexOf(text, needle)).toBe(-1);
    expect(lastIndexOf(text, needle)).toBe(-1);
    expect(countOf(text, needle)).toBe(0);
  });
});
