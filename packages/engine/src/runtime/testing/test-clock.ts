import type { Clock } from '../../ports/clock.ts';

/** A clock that moves only when it is advanced. */
export interface TestClock extends Clock {
  advance(ms: number): void;
}

export function testClock(start = Date.UTC(2030, 0, 1)): TestClock {
  let passed = 0;
  return {
    now: () => start + passed,
    monotonic: () => passed,
    advance(ms) {
      passed += ms;
    },
  };
}
