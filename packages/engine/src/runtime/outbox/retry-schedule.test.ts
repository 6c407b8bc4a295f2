import { expect, it } from 'vitest';
import { MAX_ATTEMPTS, waitAfter } from './retry-schedule.ts';

const HOUR = 60 * 60 * 1_000;

it('allows eight attempts over about six hours, each wait longer than the one before', () => {
  const waits = Array.from({ length: MAX_ATTEMPTS - 1 }, (_, index) => waitAfter(index + 1, 0.5) ?? 0);

  expect(MAX_ATTEMPTS).toBe(8);
  expect(waits.toSorted((a, b) => a - b)).toEqual(waits);
  const total = waits.reduce((sum, wait) => sum + wait, 0);
  expect(total).toBeGreaterThan(5 * HOUR);
  expect(total).toBeLessThan(6 * HOUR);
});

it('ends after the last attempt', () => {
  expect(waitAfter(MAX_ATTEMPTS, 0.5)).toBeUndefined();
  expect(waitAfter(MAX_ATTEMPTS + 5, 0.5)).toBeUndefined();
});

it('spreads a wait by a fifth to either side', () => {
  expect([waitAfter(1, 0), waitAfter(1, 0.5), waitAfter(1, 1)]).toEqual([4_000, 5_000, 6_000]);
});
