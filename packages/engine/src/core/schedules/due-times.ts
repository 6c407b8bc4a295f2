import { type CronPattern, parseCron } from './cron.ts';
import { UTC, type Zone } from './zone.ts';

/** When a schedule is due: at an interval from an anchor, or when a clock on the wall of a zone shows what a pattern names. */
export type Timing =
  | { readonly everyMs: number; readonly anchor: number }
  | { readonly cron: string; readonly timeZone: string };

export interface Bounds {
  /** No due time before it. */
  readonly start?: number | undefined;
  /** No due time after it. */
  readonly end?: number | undefined;
}

export interface DueTimes {
  /** The first one after an instant; undefined when there is none. */
  after(instant: number): number | undefined;
}

/** Gives a zone by its IANA name; throws HostError for one that is not known. */
export type Zones = (name: string) => Zone;

/** A function of the specification alone: whenever it is asked, and whatever was missed, the due times are the same. */
export function dueTimesOf(timing: Timing, { start, end }: Bounds, zones: Zones): DueTimes {
  const next = 'cron' in timing ? ofCron(parseCron(timing.cron), zones(timing.timeZone)) : ofInterval(timing);
  return {
    after(instant) {
      const due = next(start === undefined ? instant : Math.max(instant, start - 1));
      return due === undefined || (end !== undefined && due > end) ? undefined : due;
    },
  };
}

function ofCron(pattern: CronPattern, zone: Zone = UTC): DueTimes['after'] {
  return (instant) => pattern.next(zone, instant);
}

function ofInterval({
  everyMs,
  anchor,
}: {
  readonly everyMs: number;
  readonly anchor: number;
}): DueTimes['after'] {
  return (instant) =>
    instant < anchor ? anchor : anchor + (Math.floor((instant - anchor) / everyMs) + 1) * everyMs;
}

/** The first of them, in order. */
export function upcoming(times: DueTimes, after: number, count: number): number[] {
  const due: number[] = [];
  for (let next = times.after(after); next !== undefined && due.length < count; next = times.after(next)) {
    due.push(next);
  }
  return due;
}
