import { performance } from 'node:perf_hooks';
import type { Steps } from '../core/steps.ts';
import { yieldTurn } from './clock.ts';

/** As long as other requests may wait for one piece of long work, commits and collections of garbage coming on top. */
const TURN_MS = 5;

/** One line for the whole process, as it has one event loop: of several long works each turn goes to one. */
let line: Promise<void> = Promise.resolve();

/** Drives long work so that everybody else gets a turn every few milliseconds. What is short is done at once. */
export async function inTurns<Result>(
  steps: Steps<Result>,
  monotonic: () => number = () => performance.now(),
): Promise<Result> {
  let endsAt = monotonic() + TURN_MS;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (monotonic() < endsAt) continue;
    line = line.then(yieldTurn);
    await line;
    endsAt = monotonic() + TURN_MS;
  }
}
