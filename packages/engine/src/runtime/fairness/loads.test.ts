import { describe, expect, it } from 'vitest';
import { createLoads, isOverShare } from './loads.ts';

describe('what tenants take up', () => {
  it('is counted for all and for each, and those that have nothing left are forgotten', () => {
    const loads = createLoads();
    loads.add('a', 2, 10);
    loads.add('b', 1, 5);
    expect([{ ...loads.all() }, loads.of('a'), loads.of('b')]).toEqual([
      { units: 3, bytes: 15, tenants: 2 },
      { units: 2, bytes: 10 },
      { units: 1, bytes: 5 },
    ]);

    loads.add('a', -2, -10);

    expect([loads.all(), loads.of('a')]).toEqual([
      { units: 1, bytes: 5, tenants: 1 },
      { units: 0, bytes: 0 },
    ]);
  });

  it('makes only those wait that take up their part, once all together are over the limit', () => {
    expect(isOverShare(100, 100, 1, 100)).toBe(false);
    expect(isOverShare(101, 101, 1, 100)).toBe(true);
    expect(isOverShare(101, 0, 1, 100)).toBe(false);
    expect(isOverShare(101, 49, 2, 100)).toBe(false);
    expect(isOverShare(120, 50, 2, 100)).toBe(true);
  });
});
