import { describe, expect, it } from 'vitest';
import { median, percentile, round } from './measure.ts';

describe('measures', () => {
  it('takes the middle of an odd number of values and the mean of the two middles of an even one', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });

  it('interpolates a percentile between its neighbours', () => {
    const values = Array.from({ length: 101 }, (_, index) => index);

    expect(percentile(values, 0.99)).toBe(99);
    expect(percentile([0, 10], 0.25)).toBe(2.5);
  });

  it('has no value for nothing', () => {
    expect(median([])).toBeNaN();
  });

  it('rounds to the digits asked for', () => {
    expect(round(1.2345, 2)).toBe(1.23);
  });
});
