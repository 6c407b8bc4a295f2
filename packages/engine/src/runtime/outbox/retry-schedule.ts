const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Waits between the attempts of one delivery: eight attempts over somewhat less than six hours. */
const WAITS_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, 2 * HOUR, 3 * HOUR];

/** How far a wait may lie from its nominal length, so that receivers that fell together are not called together. */
const JITTER = 0.2;

export const MAX_ATTEMPTS = WAITS_MS.length + 1;

/** How long to wait after this attempt (counted from 1) has failed; undefined when it was the last. `chance` is from 0 to 1. */
export function waitAfter(attempt: number, chance: number): number | undefined {
  const nominal = WAITS_MS[Math.max(attempt, 1) - 1];
  return nominal === undefined ? undefined : Math.round(nominal * (1 - JITTER + 2 * JITTER * chance));
}
