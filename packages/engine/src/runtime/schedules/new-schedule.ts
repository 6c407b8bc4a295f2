import { HostError } from '@weft/protocol';
import { type DueTimes, dueTimesOf, type Timing, type Zones } from '../../core/schedules/due-times.ts';
import type { ScheduleSpec } from '../../core/schedules/schedule.ts';
import type { NewSchedule } from '../../host/host.ts';
import type { HostLimits } from '../../host/limits.ts';

/** What a schedule must hold to before it is kept. Each check throws a HostError that names the field and the way out. */
export interface CheckedSchedule {
  readonly spec: ScheduleSpec;
  readonly times: DueTimes;
}

type Limits = Pick<HostLimits, 'minScheduleIntervalMs' | 'maxCatchUpMs' | 'scheduleHorizonMs'>;

const LONGEST_JITTER_MS = 24 * 60 * 60 * 1_000;
const DAY_MS = 24 * 60 * 60 * 1_000;

export function checkSchedule(
  request: Omit<NewSchedule, 'name'>,
  now: number,
  { limits, zones }: { readonly limits: Limits; readonly zones: Zones },
): CheckedSchedule {
  const { workflowId, inputs, overlap, jitterMs, catchUpMs, start, end, pauseOnFailure } = request;
  const timing = timingOf(request, now, limits);
  checkAtMost('catchUpMs', catchUpMs, limits.maxCatchUpMs);
  checkAtMost(
    'jitterMs',
    jitterMs,
    'everyMs' in timing ? Math.min(timing.everyMs, LONGEST_JITTER_MS) : LONGEST_JITTER_MS,
  );
  if (start !== undefined && end !== undefined && end < start) {
    throw invalid('end', 'end is before start. Give a later end, or an earlier start.');
  }
  if (end !== undefined && end <= now)
    throw invalid('end', 'end has passed; the schedule would never be due.');
  const bounds = { ...(start !== undefined && { start }), ...(end !== undefined && { end }) };
  const times = dueTimesOf(timing, bounds, zones);
  checkFirst(times.after(now), now, { timing, limits, isBounded: end !== undefined });
  const spec = { workflowId, inputs, timing, overlap, jitterMs, catchUpMs, pauseOnFailure, ...bounds };
  return { spec, times };
}

function timingOf(
  { everyMs, cron, timeZone, start }: Omit<NewSchedule, 'name'>,
  now: number,
  { minScheduleIntervalMs: least }: Limits,
): Timing {
  if ((everyMs === undefined) === (cron === undefined)) {
    throw invalid('cron', 'A schedule has either everyMs or cron, and one of them.');
  }
  if (cron !== undefined) return { cron, timeZone: timeZone ?? 'UTC' };
  if (timeZone !== undefined) throw invalid('timeZone', 'timeZone belongs to cron; an interval has none.');
  if (everyMs === undefined || everyMs < least) {
    throw new HostError('validation_error', `everyMs is ${everyMs}; the shortest interval is ${least} ms.`, {
      field: 'everyMs',
      limit: least,
      observed: everyMs ?? 0,
    });
  }
  return { everyMs, anchor: start ?? now };
}

function checkFirst(
  first: number | undefined,
  now: number,
  {
    timing,
    limits,
    isBounded,
  }: { readonly timing: Timing; readonly limits: Limits; readonly isBounded: boolean },
): void {
  const field = 'cron' in timing ? 'cron' : 'everyMs';
  if (first === undefined) {
    const why = isBounded ? 'is not due before end' : 'is never due: no calendar has such a day';
    throw invalid(field, `${field} ${why}. Correct it.`);
  }
  if (first - now <= limits.scheduleHorizonMs) return;
  const maxFutureHorizon = horizonOf(limits);
  throw new HostError(
    'schedule_horizon_exceeded',
    `${field}: the schedule would first be due later than this host looks ahead (${maxFutureHorizon}). Give an earlier time.`,
    { field, maxFutureHorizon },
  );
}

/** As discovery spells it. */
export function horizonOf({ scheduleHorizonMs }: Pick<Limits, 'scheduleHorizonMs'>): string {
  return `P${Math.floor(scheduleHorizonMs / DAY_MS)}D`;
}

function checkAtMost(field: string, observed: number, limit: number): void {
  if (observed <= limit) return;
  throw new HostError('validation_error', `${field} is ${observed}; at most ${limit} is allowed.`, {
    field,
    limit,
    observed,
  });
}

function invalid(field: string, message: string): HostError {
  return new HostError('validation_error', message, { field });
}
