import { assert, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromNanoUsd, MOST_NANO_USD, picoPerToken, toNanoUsd, usdText } from './money.ts';
import { costOf } from './prices.ts';

describe('an amount of money', () => {
  it('is the same nanodollars after it was a JSON number of dollars', () => {
    assert(
      property(integer({ min: 0, max: MOST_NANO_USD }), (nano) => {
        const sent = JSON.stringify(fromNanoUsd(nano));

        expect(toNanoUsd(JSON.parse(sent) as number)).toBe(nano);
      }),
    );
  });

  it('is written as exact decimal text', () => {
    expect([0n, 1n, 1_500_000_000n, 10_000_000_000n, 123_456_789_012_345_678_901n].map(usdText)).toEqual([
      '0',
      '0.000000001',
      '1.5',
      '10',
      '123456789012.345678901',
    ]);
  });

  it.each([
    ['2.5', 2_500_000],
    ['0', 0],
    ['0.000001', 1],
    ['1000000', 1e12],
    ['1000000.1', undefined],
    ['0.0000001', undefined],
    ['-1', undefined],
    ['1e3', undefined],
    ['', undefined],
    ['٣', undefined],
  ])('of %j dollars a million tokens is %j picodollars a token', (text, pico) => {
    expect(picoPerToken(text)).toBe(pico);
  });

  it('costs what the tokens cost together, to the nearest nanodollar', () => {
    const tokens = integer({ min: 0, max: 1e7 });
    const price = integer({ min: 0, max: 1e9 });
    assert(
      property(tokens, tokens, price, price, (input, output, each, other) => {
        const usage = { promptTokens: input, completionTokens: output, totalTokens: input + output };

        const nano = costOf(usage, { input: each, output: other });

        const exact = BigInt(input) * BigInt(each) + BigInt(output) * BigInt(other);
        if (input + output === 0) return expect(nano).toBeUndefined();
        const off = BigInt(nano ?? -1) * 1_000n - exact;
        expect(off >= -500n && off <= 500n).toBe(true);
      }),
    );
  });
});
