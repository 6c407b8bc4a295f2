import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createZones } from '../../runtime/schedules/zones.ts';
import { parseCron } from './cron.ts';
import { DAY_MS, UTC, type Zone } from './zone.ts';

const zones = createZones();
const berlin = zones('Europe/Berlin');

function due(pattern: string, zone: Zone, from: string, count: number): string[] {
  const cron = parseCron(pattern);
  const found: string[] = [];
  let at: number | undefined = Date.parse(from);
  for (let n = 0; n < count && at !== undefined; n += 1) {
    at = cron.next(zone, at);
    if (at !== undefined) found.push(new Date(at).toISOString().slice(0, 16));
  }
  return found;
}

describe('a pattern with fixed hours', () => {
  it('that names a time the clock leaves out fires at the next instant that exists (D-1)', () => {
    expect(due('30 2 * * *', berlin, '2026-03-28T00:00Z', 3)).toEqual([
      '2026-03-28T01:30',
      '2026-03-29T01:00',
      '2026-03-30T00:30',
    ]);
    // Both of them are left out, and fire together with 03:00, once.
    expect(due('0,30 2,3 * * *', berlin, '2026-03-28T22:00Z', 3)).toEqual([
      '2026-03-29T01:00',
      '2026-03-29T01:30',
      '2026-03-30T00:00',
    ]);
  });

  it('that names a time the clock shows twice fires at the first (D-1)', () => {
    expect(due('30 2 * * *', berlin, '2026-10-24T12:00Z', 2)).toEqual([
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ]);
    expect(due('*/30 2 * * *', berlin, '2026-10-24T12:00Z', 3)).toEqual([
      '2026-10-25T00:00',
      '2026-10-25T00:30',
      '2026-10-26T01:00',
    ]);
    expect(due('30 1,2,3 * * *', berlin, '2026-10-24T12:00Z', 4)).toEqual([
      '2026-10-24T23:30',
      '2026-10-25T00:30',
      '2026-10-25T02:30',
      '2026-10-26T00:30',
    ]);
  });

  it('does not fire again when it is asked in the middle of the repeated hour (D-1)', () => {
    expect(due('30 2 * * *', berlin, '2026-10-25T01:10Z', 1)).toEqual(['2026-10-26T01:30']);
  });

  it('follows half an hour of daylight saving, and a day that a country left out', () => {
    const howe = zones('Australia/Lord_Howe');
    expect(due('15 2 * * *', howe, '2026-10-02T00:00Z', 3)).toEqual([
      '2026-10-02T15:45',
      '2026-10-03T15:30',
      '2026-10-04T15:15',
    ]);
    // Samoa had no 30 December 2011.
    expect(due('0 12 30 12 *', zones('Pacific/Apia'), '2011-01-01T00:00Z', 1)).toEqual(['2011-12-30T10:00']);
  });
});

describe('a pattern with a wildcard or step in its hours', () => {
  it('keeps its real interval through a change of the clock (D-2)', () => {
    expect(due('30 * * * *', berlin, '2026-03-29T00:00Z', 3)).toEqual([
      '2026-03-29T00:30',
      '2026-03-29T01:30',
      '2026-03-29T02:30',
    ]);
    expect(due('30 * * * *', berlin, '2026-10-24T23:00Z', 4)).toEqual([
      '2026-10-24T23:30',
      '2026-10-25T00:30',
      '2026-10-25T01:30',
      '2026-10-25T02:30',
    ]);
    expect(due('*/20 * * * *', berlin, '2026-10-25T00:30Z', 4)).toEqual([
      '2026-10-25T00:40',
      '2026-10-25T01:00',
      '2026-10-25T01:20',
      '2026-10-25T01:40',
    ]);
  });

  it('fires whenever the clock shows a matching time (D-2)', () => {
    expect(due('0 */2 * * *', berlin, '2026-10-24T22:30Z', 3)).toEqual([
      '2026-10-25T00:00',
      '2026-10-25T01:00',
      '2026-10-25T03:00',
    ]);
    expect(due('0 */2 * * *', berlin, '2026-03-28T22:30Z', 3)).toEqual([
      '2026-03-28T23:00',
      '2026-03-29T02:00',
      '2026-03-29T04:00',
    ]);
  });
});

describe('any pattern', () => {
  it('of 29 February fires in leap years, also over the turn of a century', () => {
    expect(due('0 0 29 2 *', UTC, '2026-01-01T00:00Z', 2)).toEqual(['2028-02-29T00:00', '2032-02-29T00:00']);
    expect(due('0 0 29 2 *', UTC, '2097-01-01T00:00Z', 1)).toEqual(['2104-02-29T00:00']);
  });

  it('that names no day of any year is never due', () => {
    for (const never of ['0 0 30 2 *', '0 0 31 4,6,9,11 *', '0 0 31 2 *']) {
      expect(parseCron(never).next(UTC, Date.parse('2026-01-01'))).toBeUndefined();
    }
  });

  it.each([
    ['', 'five fields'],
    ['* * * *', 'five fields'],
    ['* * * * * *', 'five fields'],
    ['@daily', 'five fields'],
    ['? * * * *', 'letters, digits'],
    ['61 * * * *', 'not a pattern'],
    ['0 25 * * *', 'not a pattern'],
    ['0 0 * * xyz', 'not a pattern'],
    ['*/0 * * * *', 'not a pattern'],
    ['a'.repeat(300), 'five fields'],
  ])('%j is refused by name', (text, why) => {
    expect(() => parseCron(text)).toThrow(expect.objectContaining({ details: { field: 'cron' } }));
    expect(() => parseCron(text)).toThrow(why);
  });

  it('gives what a look at every minute gives, in every zone (D-1, D-2)', () => {
    const minute = fc.constantFrom('0', '30', '*/15', '*', '5,50');
    const hour = fc.constantFrom('*', '*/2', '*/3', '2', '1,2,3', '0-4', '3');
    const day = fc.constantFrom('* * *', '*/2 * *', '* * 0', '29 * *', '* 3,10 *');
    const zone = fc.constantFrom(
      'Europe/Berlin',
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
      'UTC',
    );
    // Days around which clocks are set, and others.
    const start = fc
      .tuple(
        fc.constantFrom(
          '2026-03-07',
          '2026-03-28',
          '2026-04-04',
          '2026-10-03',
          '2026-10-24',
          '2026-10-31',
          '2026-06-01',
        ),
        fc.nat(1_440),
      )
      .map(([date, minutes]) => Date.parse(date) + minutes * 60_000);

    const looked = new Map<string, Zone>();
    const lookedAt = (name: string): Zone => {
      const known = looked.get(name) ?? remembering(zones(name));
      looked.set(name, known);
      return known;
    };
    fc.assert(
      fc.property(minute, hour, day, zone, start, (minutes, hours, days, name, after) => {
        const pattern = `${minutes} ${hours} ${days}`;
        const expected = byLooking(pattern, lookedAt(name), after);
        const found = parseCron(pattern).next(zones(name), after);

        if (expected !== undefined) expect(found, pattern).toBe(expected);
        else expect(found ?? Number.POSITIVE_INFINITY).toBeGreaterThan(after + 3 * DAY_MS);
      }),
      { numRuns: 150 },
    );
  }, 60_000);
});

/** Offsets change on full minutes, and the same minutes are looked at again and again. */
function remembering(zone: Zone): Zone {
  const known = new Map<number, number>();
  return {
    offsetAt(instant) {
      const minute = Math.floor(instant / 60_000);
      const offset = known.get(minute) ?? zone.offsetAt(instant);
      known.set(minute, offset);
      return offset;
    },
  };
}

/** The definition, spelled out: the first of three days' minutes that the pattern means. */
function byLooking(pattern: string, zone: Zone, after: number): number | undefined {
  const [minutes = '', hours = '', dom = '', months = '', dow = ''] = pattern.split(' ');
  const matches = (wall: number): boolean => {
    const at = new Date(wall);
    return (
      isNamed(minutes, at.getUTCMinutes(), 0) &&
      isNamed(hours, at.getUTCHours(), 0) &&
      isNamed(dom, at.getUTCDate(), 1) &&
      isNamed(months, at.getUTCMonth() + 1, 1) &&
      isNamed(dow, at.getUTCDay(), 0)
    );
  };
  const isRhythm = hours.includes('*');
  const first = Math.floor(after / 60_000) * 60_000 + 60_000;
  let seen = after + zone.offsetAt(after);
  // How far the clock had come before it was set back.
  for (let at = after - DAY_MS; at <= after; at += 60_000) seen = Math.max(seen, at + zone.offsetAt(at));
  for (let at = first; at < after + 3 * DAY_MS; at += 60_000) {
    const wall = at + zone.offsetAt(at);
    if (isRhythm && matches(wall)) return at;
    // Everything that the clock passes for the first time in this minute, what it leaves out with it.
    for (
      let passed = Math.floor(seen / 60_000) * 60_000 + 60_000;
      !isRhythm && passed <= wall;
      passed += 60_000
    ) {
      if (matches(passed)) return at;
    }
    seen = Math.max(seen, wall);
  }
  return undefined;
}

function isNamed(field: string, value: number, lowest: number): boolean {
  return field.split(',').some((part) => {
    const [range = '', step] = part.split('/');
    const [from, to] = range === '*' ? [lowest, 99] : range.split('-').map(Number);
    const isIn = value >= (from ?? 0) && value <= (to ?? (step === undefined ? (from ?? 0) : 99));
    return isIn && (value - (from ?? 0)) % Number(step ?? 1) === 0;
  });
}
