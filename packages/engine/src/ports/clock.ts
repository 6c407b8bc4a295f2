import { performance } from 'node:perf_hooks';

/** Where the runtime gets its time from. Tests bring their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never go back: what a holder measures its own deadline with. */
  monotonic(): number;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** setTimeout cannot wait longer than this; a waiter that wakes early reads the clock and waits again. */
export const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** Resolves after `ms`, or at once when the signal is aborted. Does not keep the process alive. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(ms, LONGEST_TIMEOUT_MS));
    timer.unref();
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** As `pause`, but keeps the process alive until the time is up: for what must be finished before it may end. */
export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Lets everything else that is ready go first. */
export function yieldTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
