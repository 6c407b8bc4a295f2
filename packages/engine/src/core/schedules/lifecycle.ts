import type { DueTimes } from './due-times.ts';
import { type Firing, type PauseReason, type Schedule, type ScheduleSpec, withFiring } from './schedule.ts';

/** How the record of a schedule changes when it is made, paused and resumed, and when a run was started for it. */

export function newSchedule(
  spec: ScheduleSpec,
  identity: Pick<Schedule, 'name' | 'uid' | 'createdAt' | 'createdBy' | 'ownedBy'>,
  times: DueTimes,
): Schedule {
  const next = times.after(identity.createdAt);
  return {
    ...spec,
    ...identity,
    ...(next !== undefined && { next }),
    open: [],
    queue: [],
    firings: [],
    counts: { started: 0, queued: 0, skipped: 0, 'dead-lettered': 0 },
  };
}

export function paused(schedule: Schedule, at: number, reason: PauseReason, by?: string): Schedule {
  if (schedule.paused !== undefined) return schedule;
  return { ...schedule, paused: { at, reason, ...(by !== undefined && { by }) } };
}

/** What was due during the pause is skipped, in one entry; what waited in the queue is started. */
export function resumed(schedule: Schedule, times: DueTimes, now: number): Schedule {
  const { paused: pause, next, ...rest } = schedule;
  if (pause === undefined) return schedule;
  if (next === undefined || next > now) return { ...rest, ...(next !== undefined && { next }) };
  const following = times.after(now);
  const skipped: Firing = { dueAt: next, until: now, at: now, outcome: 'skipped', reason: 'paused' };
  return withFiring({ ...rest, last: now, ...(following !== undefined && { next: following }) }, skipped);
}

/** What is known of a run by the time it is written. */
export interface StartedRun {
  readonly runId: string;
  readonly end: 'failed' | 'ended' | undefined;
}

/** `reason`: why it was started although it was not due. */
export function withStarted(
  schedule: Schedule,
  dueAt: number,
  { runId, end }: StartedRun,
  { at, reason }: { readonly at: number; readonly reason?: string },
): Schedule {
  const firing: Firing = { dueAt, at, outcome: 'started', runId, ...(reason !== undefined && { reason }) };
  const fired = withFiring(schedule, firing);
  if (end === undefined) return { ...fired, open: [...fired.open, { runId, dueAt }] };
  return end === 'failed' && fired.pauseOnFailure ? paused(fired, at, 'run_failed') : fired;
}
