import { describe, expect, it } from 'vitest';
import { driftOf } from './soak.ts';

function seriesOf(value: (second: number) => number) {
  const points = Array.from({ length: 601 }, (_, second) => [second, value(second)] as const);
  return { title: 't', unit: 'MiB', points };
}

describe('the drift of memory', () => {
  it('does not count what a process needs to warm up', () => {
    const drift = driftOf(seriesOf((second) => Math.min(200, 100 + second)));

    expect(drift).toEqual({ early: 200, late: 200, perMinute: 0 });
  });

  it('finds a leak, in MiB per minute', () => {
    const { early, late, perMinute } = driftOf(seriesOf((second) => 100 + second / 10));

    expect(late).toBeGreaterThan(early);
    expect(perMinute).toBeCloseTo(6);
  });
});
