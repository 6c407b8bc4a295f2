import { HostError } from '@weft/protocol';
import { type DueTimes, upcoming } from '../../core/schedules/due-times.ts';
import type { Schedule } from '../../core/schedules/schedule.ts';
import type { BackfillRange } from '../../host/host.ts';

/** Due times of one backfill. */
const MOST_BACKFILLED = 1_000;

/** The schedule with a range of the past to fill, and how many due times that is. Throws HostError that names the field. */
export function withBackfill(
  schedule: Schedule,
  times: DueTimes,
  { from, to }: BackfillRange,
  now: number,
): { readonly schedule: Schedule; readonly dueTimes: number } {
  if (to < from) throw invalid('to', 'to is before from.');
  if (to > now) throw invalid('to', 'to is in the future; a backfill is about due times of the past.');
  if (schedule.backfill !== undefined) {
    throw new HostError('conflict', 'A backfill of this schedule is running. Wait until it has ended.');
  }
  const due = upcoming(times, from - 1, MOST_BACKFILLED + 1).filter((time) => time <= to);
  const [first] = due;
  if (first === undefined) throw invalid('from', 'The schedule has no due time in this range.');
  if (due.length > MOST_BACKFILLED) {
    const message = `The range holds more than ${MOST_BACKFILLED} due times. Fill it in parts.`;
    throw new HostError('validation_error', message, {
      field: 'from',
      limit: MOST_BACKFILLED,
      observed: due.length,
    });
  }
  return { schedule: { ...schedule, backfill: { next: first, until: to } }, dueTimes: due.length };
}

function invalid(field: string, message: string): HostError {
  return new HostError('validation_error', message, { field });
}
