/** Durations and times as people read them. Everything comes in as data, the zone too, so that tests need no clock. */

const UNITS = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  { name: 's', ms: 1_000 },
] as const;

/** `0 ms`, `840 ms`, `1.2 s`, `3 min`, `2 h 5 min`, `3 d 4 h`. */
export function durationText(ms: number): string {
  if (!Number.isFinite(ms)) return '–';
  const length = Math.max(0, Math.round(ms));
  if (length < 1_000) return `${length} ms`;
  if (length < 10_000) return `${(Math.floor(length / 100) / 10).toFixed(1)} s`;
  const index = UNITS.findIndex((unit) => length >= unit.ms);
  const large = UNITS[index];
  const small = UNITS[index + 1];
  if (large === undefined) return `${length} ms`;
  const count = Math.floor(length / large.ms);
  const rest = small === undefined ? 0 : Math.floor((length % large.ms) / small.ms);
  return rest === 0 || small === undefined
    ? `${count} ${large.name}`
    : `${count} ${large.name} ${rest} ${small.name}`;
}

/** `just now`, `12 s ago`, `in 3 min`. */
export function agoText(at: number, now: number): string {
  const distance = now - at;
  if (Math.abs(distance) < 2_000) return 'just now';
  const length =
    Math.abs(distance) < 60_000 ? Math.round(Math.abs(distance) / 1_000) * 1_000 : Math.abs(distance);
  const text = length < 60_000 ? `${length / 1_000} s` : largest(length);
  return distance > 0 ? `${text} ago` : `in ${text}`;
}

function largest(ms: number): string {
  const unit = UNITS.find((each) => ms >= each.ms);
  return unit === undefined ? '0 s' : `${Math.floor(ms / unit.ms)} ${unit.name}`;
}

/** `18 Nov 2026, 07:55:27.120 UTC`: always with its zone. */
export function timeText(at: number, timeZone?: string): string {
  if (Number.isNaN(at)) return '–';
  return new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
    ...(timeZone !== undefined && { timeZone }),
  }).format(at);
}

/** `18 Nov`. */
export function dayText(at: number, timeZone?: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    ...(timeZone !== undefined && { timeZone }),
  }).format(at);
}

/** The time of day alone, to the millisecond, for rows that stand under a date. */
export function clockText(at: number, timeZone?: string): string {
  if (Number.isNaN(at)) return '–';
  return new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
    ...(timeZone !== undefined && { timeZone }),
  }).format(at);
}
