import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideFiring, type EndOf, startTime } from './decide-firing.ts';
import { type DueTimes, dueTimesOf } from './due-times.ts';
import { newSchedule, paused, resumed, withStarted } from './lifecycle.ts';
import { MOST_OPEN, MOST_QUEUED, OVERLAP_POLICIES, type Schedule, type ScheduleSpec } from './schedule.ts';
import { UTC, type Zone } from './zone.ts';

const MINUTE = 60_000;
const START = Date.parse('2026-06-01T00:00Z');
const SPEC: ScheduleSpec = {
  workflowId: 'report',
  inputs: {},
  timing: { everyMs: MINUTE, anchor: START },
  overlap: 'skip',
  jitterMs: 0,
  catchUpMs: 60 * MINUTE,
  pauseOnFailure: false,
};
const RUNNING: EndOf = () => undefined;
const ENDED: EndOf = () => 'ended';

function made(spec: Partial<ScheduleSpec> = {}, zone: Zone = UTC): { schedule: Schedule; times: DueTimes } {
  const whole = { ...SPEC, ...spec };
  const times = dueTimesOf(whole.timing, whole, () => zone);
  const identity = { name: 'nightly', uid: 'u1', createdAt: START, createdBy: 'ada' };
  return { schedule: newSchedule(whole, identity, times), times };
}

interface Played {
  readonly schedule: Schedule;
  readonly started: readonly number[];
  readonly cancelled: readonly string[];
  readonly wakeAt: number | undefined;
}

/** Decides until there is nothing left to do at this time, as the runtime does. */
function play(schedule: Schedule, times: DueTimes, now: number, endOf: EndOf): Played {
  const started: number[] = [];
  const cancelled: string[] = [];
  let current = schedule;
  for (let step = 0; step < 10_000; step += 1) {
    const decision = decideFiring(current, times, now, endOf);
    current = decision.schedule;
    if (decision.kind === 'wait') return { schedule: current, started, cancelled, wakeAt: decision.wakeAt };
    if (decision.kind === 'record') cancelled.push(...decision.cancel);
    else {
      started.push(decision.dueAt);
      const run = { runId: `run-${decision.dueAt}`, end: undefined };
      current = withStarted(current, decision.dueAt, run, { at: now });
    }
  }
  throw new Error('it never comes to rest');
}

const minutes = (...numbers: number[]) => numbers.map((n) => START + n * MINUTE);
const reasons = ({ firings }: Schedule) => firings.map(({ outcome, reason }) => reason ?? outcome);

describe('a schedule', () => {
  it('is due when its specification says so, however late it is looked at (D-4)', () => {
    const { schedule, times } = made({ overlap: 'allow' });

    const late = play(schedule, times, START + 3.7 * MINUTE, RUNNING);

    expect(late.started).toEqual(minutes(1, 2, 3));
    expect(late.wakeAt).toBe(START + 4 * MINUTE);
  });

  it('does nothing before its time', () => {
    const { schedule, times } = made();

    expect(play(schedule, times, START + MINUTE - 1, RUNNING)).toMatchObject({
      started: [],
      wakeAt: START + MINUTE,
    });
  });

  it('catches up what lies within its window, oldest first, and skips what does not in one entry (D-3, D-5)', () => {
    const { schedule, times } = made({ catchUpMs: 2 * MINUTE, overlap: 'allow' });

    const { started, schedule: after } = play(schedule, times, START + 1_000 * MINUTE, RUNNING);

    expect(started).toEqual(minutes(998, 999, 1_000));
    expect(after.firings[0]).toMatchObject({
      dueAt: START + MINUTE,
      outcome: 'skipped',
      reason: 'outside_catch_up_window',
    });
    expect(after.counts).toMatchObject({ started: 3, skipped: 1 });
  });

  it('keeps to its start and its end', () => {
    const { schedule, times } = made({
      start: START + 5 * MINUTE,
      end: START + 7 * MINUTE,
      overlap: 'allow',
    });

    const over = play(schedule, times, START + 20 * MINUTE, RUNNING);

    expect(over.started).toEqual(minutes(5, 6, 7));
    expect(over.schedule.next).toBeUndefined();
    expect(over.wakeAt).toBeUndefined();
  });

  it('puts a start off by its jitter, the same in every process', () => {
    const { schedule, times } = made({ jitterMs: 30_000, overlap: 'allow' });
    const dues = minutes(1, 2, 3, 4, 5);
    const delays = dues.map((due) => startTime(schedule, due) - due);

    expect(new Set(delays).size).toBeGreaterThan(1);
    expect(delays.every((delay) => delay >= 0 && delay <= 30_000)).toBe(true);
    const [first = 0] = delays;
    expect(play(schedule, times, START + MINUTE + first - 1, RUNNING).started).toEqual([]);
    expect(play(schedule, times, START + MINUTE + first, RUNNING).started).toEqual(minutes(1));
  });

  it('takes new zone data from the next due time on (D-4)', () => {
    const timing = { cron: '0 9 * * *', timeZone: 'Atlantis/Capital' };
    const hour = 60 * MINUTE;
    const { schedule } = made({ timing, catchUpMs: 2 * hour, overlap: 'allow' });
    const later = dueTimesOf(timing, {}, () => ({ offsetAt: () => -hour }));
    const earlier = dueTimesOf(timing, {}, () => ({ offsetAt: () => hour }));
    const nine = START + 9 * hour;
    expect(schedule.next).toBe(nine);

    expect(play(schedule, later, nine, RUNNING)).toMatchObject({ started: [], wakeAt: nine + hour });
    expect(play(schedule, later, nine + hour, RUNNING).started).toEqual([nine + hour]);
    // Noticed at the old time, and caught up.
    expect(play(schedule, earlier, nine, RUNNING).started).toEqual([nine - hour]);
  });
});

describe('while a run is open', () => {
  const begun = (overlap: ScheduleSpec['overlap'], more: Partial<ScheduleSpec> = {}) => {
    const { schedule, times } = made({ overlap, ...more });
    return { ...play(schedule, times, START + MINUTE, RUNNING), times };
  };

  it('skip leaves the due time out, and says why (D-6)', () => {
    const { schedule, times } = begun('skip');

    const next = play(schedule, times, START + 2 * MINUTE, RUNNING);

    expect(next.started).toEqual([]);
    expect(reasons(next.schedule)).toEqual(['started', 'overlap']);
    expect(play(next.schedule, times, START + 3 * MINUTE, ENDED).started).toEqual(minutes(3));
  });

  it('queue-one keeps one due time, the oldest (D-5, D-6)', () => {
    const { schedule, times } = begun('queue-one');

    const later = play(schedule, times, START + 4 * MINUTE, RUNNING);

    expect(later.started).toEqual([]);
    expect(reasons(later.schedule)).toEqual(['started', 'queued', 'queue_full', 'queue_full']);
    expect(play(later.schedule, times, START + 4 * MINUTE, ENDED).started).toEqual(minutes(2));
  });

  it('queue-all keeps them all, up to a bound, and starts one after the other (D-5, D-6)', () => {
    const { schedule, times } = begun('queue-all', { catchUpMs: 1_000 * MINUTE });

    const later = play(schedule, times, START + (MOST_QUEUED + 3) * MINUTE, RUNNING);

    expect(later.schedule.queue).toHaveLength(MOST_QUEUED);
    expect(reasons(later.schedule).at(-1)).toBe('queue_full');
    const one = decideFiring(later.schedule, times, START + 200 * MINUTE, ENDED);
    expect(one).toMatchObject({ kind: 'start', dueAt: START + 2 * MINUTE });
  });

  it('cancel-other cancels the open one, and starts the newest when that has ended (D-6)', () => {
    const { schedule, times } = begun('cancel-other');

    const later = play(schedule, times, START + 3 * MINUTE, RUNNING);

    expect(later.cancelled).toEqual([`run-${START + MINUTE}`, `run-${START + MINUTE}`]);
    expect(later.started).toEqual([]);
    expect(reasons(later.schedule)).toEqual(['started', 'superseded', 'queued']);
    expect(play(later.schedule, times, START + 3 * MINUTE, ENDED).started).toEqual(minutes(3));
  });

  it('allow starts as many as may be open', () => {
    const { schedule, times } = begun('allow', { catchUpMs: 1_000 * MINUTE });

    const later = play(schedule, times, START + (MOST_OPEN + 5) * MINUTE, RUNNING);

    expect(later.schedule.open).toHaveLength(MOST_OPEN);
    expect(reasons(later.schedule).at(-1)).toBe('open_runs_limit');
  });

  it('is looked at again after a while, should its end be missed', () => {
    const { schedule, times } = begun('queue-all');
    const { wakeAt } = play(schedule, times, START + 2 * MINUTE, RUNNING);

    expect(wakeAt).toBe(START + 2 * MINUTE + 30_000);
  });
});

describe('a pause', () => {
  it('starts nothing, and resuming skips what it missed in one entry (D-3)', () => {
    const { schedule, times } = made();
    const held = paused(schedule, START, 'operator', 'ada');
    expect(play(held, times, START + 5 * MINUTE, RUNNING)).toMatchObject({ started: [], wakeAt: undefined });

    const again = resumed(held, times, START + 5.5 * MINUTE);

    expect(reasons(again)).toEqual(['paused']);
    expect(play(again, times, START + 6 * MINUTE, RUNNING).started).toEqual(minutes(6));
  });

  it('follows a run that failed, where that was asked for', () => {
    const { schedule, times } = made({ pauseOnFailure: true });
    const begun = play(schedule, times, START + MINUTE, RUNNING);

    const later = play(begun.schedule, times, START + 2 * MINUTE, () => 'failed');

    expect(later.started).toEqual([]);
    expect(later.schedule.paused).toMatchObject({ reason: 'run_failed' });
    expect(play(begun.schedule, times, START + 2 * MINUTE, ENDED).started).toEqual(minutes(2));
  });
});

describe('a backfill', () => {
  it('starts the due times of a range that was asked for, and waits instead of skipping (D-5)', () => {
    const { schedule, times } = made();
    const asked = { ...schedule, backfill: { next: START - 3 * MINUTE, until: START - MINUTE } };

    let current: Schedule = asked;
    const started: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const played = play(current, times, START + MINUTE / 2, round === 0 ? RUNNING : ENDED);
      started.push(...played.started);
      current = played.schedule;
    }

    // An interval has no due times before its anchor, so those of the pattern are what the range holds.
    expect(started[0]).toBe(START - 3 * MINUTE);
    expect(current.backfill).toBeUndefined();
  });
});

describe('whatever happens', () => {
  it('every due time is dealt with once, and no two runs are open unless that is allowed (D-3, D-6)', () => {
    const steps = fc.array(
      fc.record({ after: fc.integer({ min: 0, max: 5 * MINUTE }), ends: fc.boolean() }),
      { minLength: 1, maxLength: 40 },
    );
    fc.assert(
      fc.property(fc.constantFrom(...OVERLAP_POLICIES), steps, (overlap, moves) => {
        const { schedule, times } = made({ overlap, catchUpMs: 10_000 * MINUTE });
        let current = schedule;
        let now = START;
        const started: number[] = [];
        for (const { after, ends } of moves) {
          now += after;
          // Ended once, as the fold of a run would have it: what is started in this very step is open.
          const before = new Set(current.open.map(({ runId }) => runId));
          const played = play(current, times, now, (runId) =>
            ends && before.has(runId) ? 'ended' : undefined,
          );
          current = played.schedule;
          started.push(...played.started);
          if (overlap !== 'allow') expect(current.open.length).toBeLessThanOrEqual(1);
        }

        expect(new Set(started).size).toBe(started.length);
        expect([...started].sort((a, b) => a - b)).toEqual(started);
        const { counts, queue } = current;
        const dealt = counts.started + counts.skipped + queue.length;
        expect(dealt).toBe(Math.floor((now - START) / MINUTE));
      }),
      { numRuns: 200 },
    );
  });
});
