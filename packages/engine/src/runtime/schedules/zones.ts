import { HostError } from '@weft/protocol';
import type { Zones } from '../../core/schedules/due-times.ts';
import type { Zone } from '../../core/schedules/zone.ts';
import { createBoundedCache } from '../collections/bounded-cache.ts';

const KEPT_ZONES = 100;
const LONGEST_NAME = 64;

/** Time zones by the data of the platform, which an update of Node brings. */
export function createZones(): Zones {
  const kept = createBoundedCache<string, Zone>(KEPT_ZONES);
  return (name) => {
    const known = kept.get(name);
    if (known !== undefined) return known;
    const zone = openZone(name);
    kept.set(name, zone);
    return zone;
  };
}

function openZone(name: string): Zone {
  const format = formatOf(name);
  return {
    offsetAt(instant) {
      const second = Math.floor(instant / 1_000) * 1_000;
      const parts: Record<string, number> = {};
      for (const { type, value } of format.formatToParts(second)) parts[type] = Number(value);
      const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second: seconds = 0 } = parts;
      return Date.UTC(year, month - 1, day, hour, minute, seconds) - second;
    },
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  try {
    if (timeZone.length > LONGEST_NAME) throw new RangeError('too long');
    return new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch (cause) {
    const message =
      'timeZone is not a time zone that this host knows. Give an IANA name such as "Europe/Berlin".';
    throw new HostError('validation_error', message, { field: 'timeZone' }, { cause });
  }
}
