import { sha256Hex } from '../../crypto/hash.ts';
import type { DueTimes } from './due-times.ts';
import { type Firing, MOST_OPEN, MOST_QUEUED, type Schedule, withFiring } from './schedule.ts';

/**
 * What a schedule does next, as a function of its record and the time. Each decision deals with one due time and is written before
 * the next is made, so that the next process continues after it.
 *
 * D-3. Every due time is dealt with once: it starts a run, or waits in the queue, or is skipped or dead-lettered with a reason.
 * D-4. The next due time follows from the specification and the one before, never from the time of the decision.
 * D-5. Oldest first: what waits in the queue, then what a backfill asked for, then what is due.
 * D-6. Unless its policy is to allow it, no run is started while one of the schedule is open.
 */
export type Decision =
  | { readonly kind: 'wait'; readonly schedule: Schedule; readonly wakeAt?: number }
  /** The record has changed and nothing else is to be done; there may be more to decide. */
  | { readonly kind: 'record'; readonly schedule: Schedule; readonly cancel: readonly string[] }
  /** A run is to be started; `schedule` is what it becomes apart from that. */
  | {
      readonly kind: 'start';
      readonly schedule: Schedule;
      readonly dueAt: number;
      /** Asked for by a person, so that it is not late. */
      readonly isBackfill?: true;
    };

/** How a run ended; undefined while it has not. */
export type EndOf = (runId: string) => 'failed' | 'ended' | undefined;

/** A run that ends makes its schedule due. Should that be lost, it is looked at again after so long. */
const LOOK_AGAIN_MS = 30_000;

export function decideFiring(given: Schedule, times: DueTimes, now: number, endOf: EndOf): Decision {
  const schedule = withoutEnded(given, endOf, now);
  if (schedule.paused !== undefined) return { kind: 'wait', schedule };
  return fromQueue(schedule) ?? fromBackfill(schedule, times) ?? fromDue(schedule, times, now);
}

/** Runs that have ended are no longer open; one that has failed may be the reason to pause. */
function withoutEnded(schedule: Schedule, endOf: EndOf, now: number): Schedule {
  const ends = schedule.open.map(({ runId }) => endOf(runId));
  if (ends.every((end) => end === undefined)) return schedule;
  const open = schedule.open.filter((_, index) => ends[index] === undefined);
  const isPaused = schedule.pauseOnFailure && schedule.paused === undefined && ends.includes('failed');
  return { ...schedule, open, ...(isPaused && { paused: { at: now, reason: 'run_failed' } }) };
}

function mayStart({ overlap, open }: Schedule): boolean {
  return overlap === 'allow' ? open.length < MOST_OPEN : open.length === 0;
}

function fromQueue(schedule: Schedule): Decision | undefined {
  const [dueAt, ...queue] = schedule.queue;
  if (dueAt === undefined || !mayStart(schedule)) return undefined;
  return { kind: 'start', schedule: { ...schedule, queue }, dueAt };
}

/** A backfill waits for open runs and skips nothing: it was asked for. */
function fromBackfill(schedule: Schedule, times: DueTimes): Decision | undefined {
  const { backfill, ...rest } = schedule;
  if (backfill === undefined || !mayStart(schedule)) return undefined;
  const following = times.after(backfill.next);
  const isMore = following !== undefined && following <= backfill.until;
  const left: Schedule = isMore ? { ...rest, backfill: { ...backfill, next: following } } : rest;
  return { kind: 'start', schedule: left, dueAt: backfill.next, isBackfill: true };
}

function fromDue(schedule: Schedule, times: DueTimes, now: number): Decision {
  const corrected = withCurrentZone(schedule, times);
  const { next } = corrected;
  if (next === undefined || startTime(corrected, next) > now) return waiting(corrected, now);
  const oldest = now - corrected.catchUpMs;
  if (next < oldest) return skipMissed(corrected, times, oldest, now);
  const following = { ...withoutNext(corrected), last: next, ...nextField(times.after(next)) };
  return withOverlap(following, next, now);
}

/** D-4. Where the data of the zone has changed since the next due time was computed, it is computed again from the one before. */
function withCurrentZone(schedule: Schedule, times: DueTimes): Schedule {
  const { next, last, createdAt } = schedule;
  if (next === undefined || times.after(next - 1) === next) return schedule;
  return { ...withoutNext(schedule), ...nextField(times.after(last ?? createdAt)) };
}

/** What lies further back than the window is one entry, however many due times it is: nothing is counted one by one. */
function skipMissed(schedule: Schedule, times: DueTimes, oldest: number, now: number): Decision {
  const { next = oldest } = schedule;
  const firing: Firing = {
    dueAt: next,
    until: oldest,
    at: now,
    outcome: 'skipped',
    reason: 'outside_catch_up_window',
  };
  const skipped = { ...withoutNext(schedule), last: oldest - 1, ...nextField(times.after(oldest - 1)) };
  return { kind: 'record', schedule: withFiring(skipped, firing), cancel: [] };
}

function withOverlap(schedule: Schedule, dueAt: number, now: number): Decision {
  const { overlap, open, queue } = schedule;
  if (mayStart(schedule) && queue.length === 0) return { kind: 'start', schedule, dueAt };
  const skip = (reason: string): Decision => ({
    kind: 'record',
    schedule: withFiring(schedule, { dueAt, at: now, outcome: 'skipped', reason }),
    cancel: [],
  });
  const queued = (kept: readonly number[], cancel: readonly string[] = []): Decision => ({
    kind: 'record',
    schedule: withFiring({ ...schedule, queue: [...kept, dueAt] }, { dueAt, at: now, outcome: 'queued' }),
    cancel,
  });
  switch (overlap) {
    case 'skip':
      return skip('overlap');
    case 'allow':
      return skip('open_runs_limit');
    case 'queue-one':
      return queue.length === 0 ? queued([]) : skip('queue_full');
    case 'queue-all':
      return queue.length < MOST_QUEUED ? queued(queue) : skip('queue_full');
    case 'cancel-other': {
      const superseded = queue.reduce<Schedule>(
        (kept, other) =>
          withFiring(kept, { dueAt: other, at: now, outcome: 'skipped', reason: 'superseded' }),
        { ...schedule, queue: [dueAt] },
      );
      const firing: Firing = { dueAt, at: now, outcome: 'queued' };
      return {
        kind: 'record',
        schedule: withFiring(superseded, firing),
        cancel: open.map(({ runId }) => runId),
      };
    }
  }
}

function waiting(schedule: Schedule, now: number): Decision {
  const { next, queue, backfill, open } = schedule;
  const isHeldUp = open.length > 0 && (queue.length > 0 || backfill !== undefined || schedule.pauseOnFailure);
  const times = [
    ...(next === undefined ? [] : [startTime(schedule, next)]),
    ...(isHeldUp ? [now + LOOK_AGAIN_MS] : []),
  ];
  return { kind: 'wait', schedule, ...(times.length > 0 && { wakeAt: Math.min(...times) }) };
}

/** A due time with its jitter, which is drawn from the two names and so the same in every process. */
export function startTime({ uid, jitterMs }: Pick<Schedule, 'uid' | 'jitterMs'>, dueAt: number): number {
  if (jitterMs === 0) return dueAt;
  const drawn = Number.parseInt(sha256Hex(`weft-jitter\n${uid}\n${dueAt}`).slice(0, 8), 16) / 2 ** 32;
  return dueAt + Math.floor(drawn * (jitterMs + 1));
}

function withoutNext({ next: _next, ...schedule }: Schedule): Schedule {
  return schedule;
}

function nextField(next: number | undefined): Pick<Schedule, 'next'> {
  return next === undefined ? {} : { next };
}
