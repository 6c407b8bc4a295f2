import { describe, expect, it } from 'vitest';
import { createStreamPace } from './stream-pace.ts';

describe('the pace of streams', () => {
  it.each([
    [1, 25, 50],
    [50, 25, 50],
    [200, 175, 200],
    [5_000, 225, 250],
  ])('with %i of them is a hand-over after %i to %i ms, at common moments', (count, least, most) => {
    const pace = createStreamPace();
    for (let index = 0; index < count; index++) pace.opened();

    for (let now = 1_000; now < 1_050; now += 3) {
      const wait = pace.waitMs(now);
      expect(wait).toBeGreaterThanOrEqual(least);
      expect(wait).toBeLessThanOrEqual(most);
      expect((now + wait) % 25).toBe(0);
    }
  });

  it('is quick again when streams have ended', () => {
    const pace = createStreamPace();
    for (let index = 0; index < 200; index++) pace.opened();
    for (let index = 0; index < 199; index++) pace.closed();

    expect(pace.waitMs(0)).toBe(50);
  });
});
