import { performance } from 'node:perf_hooks';
// The platform's own: this queue serves the whole process, and must not stop with a clock that a test has replaced.
import { setImmediate } from 'node:timers';
import type { Json } from '@weft/protocol';
import type { CooperativeTask } from '../../core/json/cooperative-task.ts';
import { stringifyCooperatively } from '../../core/json/large-json.ts';
import { createFairQueue, type Ticket } from './fair-queue.ts';

/**
 * Long work, shared out over the turns of the event loop: a few milliseconds of it in each, and tenants alternate.
 *
 * In one turn of the event loop long tasks take `TURN_MS` together, and the last of them as long as its piece lasts.
 * A task that finds the turn spent waits in its tenant's lane. A short task runs at once while there is room.
 * Lanes alternate by time, in rounds: a tenant that has taken its share of a round rests until the others have had
 *      theirs, or have nothing left to do. Many short tasks of one do not wait for each long task of another.
 */
const TURN_MS = 2;
/** What a tenant may take of a round. */
const SHARE_MS = TURN_MS / 2;

interface Waiting {
  readonly tenant: string;
  readonly resume: () => void;
  /** Takes a whole turn: how long it will be is not known. */
  readonly isWhole: boolean;
}

/** One line for the whole process, as it has one event loop. A lane's only place is held by who rests. */
const line = createFairQueue<Waiting>({ laneQuota: () => 1 });
/** Time that long works have taken in the present turn. */
let spentMs = 0;
/** The same in the present round, by tenant. */
const taken = new Map<string, number>();
const resting: Ticket<Waiting>[] = [];
let isServing = false;
const now = (): number => performance.now();

/** Drives a tenant's long work so that other requests get a turn every few milliseconds. */
export async function runCooperatively<Result>(
  tenant: string,
  steps: CooperativeTask<Result>,
  monotonic: () => number = now,
): Promise<Result> {
  if (spentMs >= TURN_MS) await wait(tenant, false);
  for (;;) {
    const from = monotonic();
    const step = runUntil(steps, from + Math.min(TURN_MS - spentMs, SHARE_MS), monotonic);
    spend(tenant, monotonic() - from);
    if (step.done === true) return step.value;
    await wait(tenant, false);
  }
}

/** JSON of an answer that may be large: written in turns with other requests. */
export function jsonText(tenant: string, value: unknown): Promise<string> {
  return runCooperatively(tenant, stringifyCooperatively(value as Json));
}

/** Until it is done, or its time is up. */
function runUntil<Result>(
  steps: CooperativeTask<Result>,
  endsAt: number,
  monotonic: () => number,
): IteratorResult<undefined, Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true || monotonic() >= endsAt) return step;
  }
}

/** Resolves in a turn of the event loop that no other long work has, when it is the tenant's. */
export function nextTurn(tenant: string): Promise<void> {
  return wait(tenant, true);
}

/**
 * Does one short piece of work that may turn out long, such as reading what someone else has made large. In a turn that is
 * spent it waits for another one.
 */
export function inTurn<Result>(tenant: string, work: () => Promise<Result>): Promise<Result> {
  return spentMs < TURN_MS ? timed(tenant, work) : wait(tenant, false).then(() => timed(tenant, work));
}

function timed<Result>(tenant: string, work: () => Promise<Result>): Promise<Result> {
  const from = now();
  const result = work();
  spend(tenant, now() - from);
  return result;
}

function spend(tenant: string, ms: number): void {
  spentMs += ms;
  taken.set(tenant, (taken.get(tenant) ?? 0) + ms);
  serveLater();
}

function wait(tenant: string, isWhole: boolean): Promise<void> {
  return new Promise((resume) => {
    line.push({ tenant, resume, isWhole }, tenant);
    serveLater();
  });
}

function serveLater(): void {
  if (isServing) return;
  isServing = true;
  setImmediate(() => void serve());
}

/** A new turn: as many of those who wait as have room in it. */
async function serve(): Promise<void> {
  spentMs = 0;
  for (let next = take(); next !== undefined; next = spentMs < TURN_MS ? take() : undefined) {
    const { tenant, resume, isWhole } = next.item;
    resume();
    if (isWhole) spend(tenant, TURN_MS);
    // Until the resumed task waits again and its time is counted.
    else for (let tick = 0; tick < TICKS; tick += 1) await Promise.resolve();
    if ((taken.get(tenant) ?? 0) < SHARE_MS) next.leave();
    else resting.push(next);
  }
  if (line.waiting() === 0) beginRound();
  isServing = false;
  if (line.waiting() > 0 || spentMs > 0) serveLater();
}

function take(): Ticket<Waiting> | undefined {
  const next = line.take();
  if (next !== undefined || resting.length === 0) return next;
  beginRound();
  return line.take();
}

function beginRound(): void {
  for (const ticket of resting.splice(0)) ticket.leave();
  taken.clear();
}

/** Between a wait and the work behind it there are a few promises at most. */
const TICKS = 4;
