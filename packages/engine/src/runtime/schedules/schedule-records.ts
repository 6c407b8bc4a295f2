import { HostError } from '@weft/protocol';
import { startTime } from '../../core/schedules/decide-firing.ts';
import { type DueTimes, dueTimesOf, type Zones } from '../../core/schedules/due-times.ts';
import type { Schedule } from '../../core/schedules/schedule.ts';
import type { DocumentWrite, StoredDocument } from '../../ports/store.ts';
import { schedulePlace } from './schedule-place.ts';

/** A schedule as it was read, with the version that the next write replaces. */
export interface ReadSchedule {
  readonly schedule: Schedule;
  readonly version: string;
}

export function readSchedule({ body, version }: StoredDocument): ReadSchedule {
  return { schedule: JSON.parse(body) as Schedule, version };
}

/** `dueAt`: when it must be looked at next; absent = only when something wakes it. */
export function scheduleWrite(
  tenant: string,
  schedule: Schedule,
  {
    at,
    dueAt,
    replaces,
  }: { readonly at: number; readonly dueAt?: number | undefined; readonly replaces?: string },
): DocumentWrite {
  return {
    ...schedulePlace(tenant, schedule.name),
    body: JSON.stringify(schedule),
    // Lists are by it, and stay in the order of creation.
    at: Math.min(schedule.createdAt, at),
    ...(dueAt !== undefined && { dueAt }),
    ...(replaces === undefined ? { onlyNew: true } : { replaces }),
  };
}

/** When the record must be looked at: at once for what waits, or for its next due time. */
export function dueAtOf(schedule: Schedule): number | undefined {
  const { next, queue, backfill, paused } = schedule;
  if (paused !== undefined) return undefined;
  if (queue.length > 0 || backfill !== undefined) return 0;
  return next === undefined ? undefined : startTime(schedule, next);
}

export function timesOf(schedule: Pick<Schedule, 'timing' | 'start' | 'end'>, zones: Zones): DueTimes {
  return dueTimesOf(schedule.timing, schedule, zones);
}

export function scheduleMissing(): HostError {
  return new HostError('not_found', 'No schedule has this name.', { field: 'name' });
}
