import { performance } from 'node:perf_hooks';
import type { Steps } from '../core/steps.ts';
import { createFairQueue } from './fair-queue.ts';

/** As long as other requests may wait for one piece of long work, commits and collections of garbage coming on top. */
const TURN_MS = 5;

/** One line for the whole process, as it has one event loop: of several long works each turn goes to one, and tenants alternate. */
const line = createFairQueue<() => void>();

/** Time that works have taken at their beginning, in the present turn of the event loop. */
let begunMs = 0;

/**
 * Drives a tenant's long work so that everybody else gets a turn every few milliseconds. What is short is done at once, unless
 * much has begun in this turn already.
 */
export async function inTurns<Result>(
  tenant: string,
  steps: Steps<Result>,
  monotonic: () => number = () => performance.now(),
): Promise<Result> {
  if (begunMs >= TURN_MS) await nextTurn(tenant);
  const from = monotonic();
  let step = goOn(steps, from + TURN_MS, monotonic);
  hasBegun(monotonic() - from);
  while (step.done !== true) {
    await nextTurn(tenant);
    step = goOn(steps, monotonic() + TURN_MS, monotonic);
  }
  return step.value;
}

/** Until it is done, or its time is up. */
function goOn<Result>(
  steps: Steps<Result>,
  endsAt: number,
  monotonic: () => number,
): IteratorResult<undefined, Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true || monotonic() >= endsAt) return step;
  }
}

function hasBegun(ms: number): void {
  if (begunMs === 0) setImmediate(() => (begunMs = 0));
  begunMs += ms;
}

/** Resolves in a turn of the event loop that no other long work has, when it is the tenant's. */
export function nextTurn(tenant: string): Promise<void> {
  return new Promise((resolve) => {
    line.push(resolve, tenant);
    if (line.waiting() === 1) setImmediate(giveTurn);
  });
}

function giveTurn(): void {
  const next = line.take();
  next?.leave();
  // Asked for before the work goes on: it may ask for another turn at once.
  if (line.waiting() > 0) setImmediate(giveTurn);
  next?.item();
}
