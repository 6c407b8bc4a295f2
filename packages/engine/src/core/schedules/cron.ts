import { Cron } from 'croner';
import { HostError } from '@weft/protocol';
import { changeWithin, DAY_MS, instantOf, type WallTime, type Zone } from './zone.ts';

/**
 * Five-field cron patterns. The library finds the next time that a pattern names, on a wall clock that is never set; what a zone
 * makes of that time is decided here:
 *
 * D-1. A pattern with fixed hours names wall-clock times, each of which fires once: one that occurs twice at its first
 *       occurrence, one that does not occur at the next instant that does.
 * D-2. A pattern with a wildcard or a step in its hours names a rhythm: it fires whenever the clock shows a matching time, twice
 *       if that occurs twice, and not at all if it does not occur.
 */
export interface CronPattern {
  /** The first due time after an instant; undefined when there is none any more. */
  next(zone: Zone, after: number): number | undefined;
}

const FIELDS = 5;
const LONGEST = 256;
/** `?` would stand for the time at which the pattern is read. */
const READABLE = /^[\dA-Za-z*,/#+\- ]+$/;
/** Changes of the clock, or days without one, that are looked at on the way to the next match. */
const MOST_STEPS = 1_000;

/** Throws HostError when it is no pattern, or names no time at all. */
export function parseCron(text: string): CronPattern {
  const fields = text.trim().split(/\s+/);
  const spelled = fields.join(' ');
  if (text.length <= LONGEST && fields.length === FIELDS && !READABLE.test(spelled)) {
    throw invalid('a field has letters, digits, and the signs * , - / # +');
  }
  if (text.length > LONGEST || fields.length !== FIELDS) {
    throw invalid('it needs five fields: minute, hour, day of month, month, day of week');
  }
  const nextWall = readPattern(spelled);
  const [, hours = ''] = fields;
  const isFixed = !hours.includes('*') && !hours.includes('/');
  const next = isFixed ? nextFixed : nextMatching;
  return { next: (zone, after) => next(nextWall, zone, after) };
}

type NextWall = (after: WallTime) => WallTime | undefined;

function readPattern(spelled: string): NextWall {
  let pattern: Cron;
  try {
    pattern = new Cron(spelled, { timezone: 'UTC', mode: '5-part', paused: true });
  } catch (error) {
    throw invalid(error instanceof Error ? error.message.replace(/^CronPattern: /, '') : 'it cannot be read');
  }
  return (after) => pattern.nextRun(new Date(after))?.getTime();
}

function invalid(why: string): HostError {
  return new HostError('validation_error', `cron is not a pattern of this host: ${why}.`, { field: 'cron' });
}

/** D-1. Wall-clock times and their first instants are in the same order, so the first one that is later is the next. */
function nextFixed(nextWall: NextWall, zone: Zone, after: number): number | undefined {
  let wall = nextWall(after + zone.offsetAt(after));
  for (let step = 0; wall !== undefined && step < MOST_STEPS; step += 1) {
    const instant = instantOf(zone, wall);
    if (instant > after) return instant;
    wall = nextWall(wall);
  }
  return undefined;
}

/** D-2. Between two changes of the clock a match is found by subtraction; a change is looked for a day at a time, near a match. */
function nextMatching(nextWall: NextWall, zone: Zone, after: number): number | undefined {
  let from = after;
  let offset = zone.offsetAt(from);
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const wall = nextWall(from + offset);
    if (wall === undefined) return undefined;
    const match = wall - offset;
    const change = changeWithin(zone, from, Math.min(match, from + DAY_MS), offset);
    if (change !== undefined) {
      from = change - 1;
      offset = zone.offsetAt(change);
    } else if (match <= from + DAY_MS) {
      return match;
    } else {
      from = match - DAY_MS;
      offset = zone.offsetAt(from);
    }
  }
  return undefined;
}
