import { usageError } from '../exit-code.ts';

const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** `10m`, `2h`, `3d` ago, or an ISO time; as an ISO time. */
export function parseMoment(flag: string, text: string, now: number): string {
  const span = parseSpan(text);
  if (span !== undefined) return new Date(now - span).toISOString();
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) {
    throw usageError(`--${flag} takes a time such as 10m, 2h, 3d or 2026-01-31T09:00:00Z, not "${text}".`);
  }
  return new Date(at).toISOString();
}

/** `10m`, `2h`, `30d` from now, or an ISO time; as an ISO time. */
export function parseExpiry(flag: string, text: string, now: number): string {
  const span = parseSpan(text);
  return span === undefined ? parseMoment(flag, text, now) : new Date(now + span).toISOString();
}

/** A length of time, as milliseconds. */
export function parseDuration(flag: string, text: string): number {
  const span = parseSpan(text);
  if (span !== undefined) return span;
  throw usageError(`--${flag} takes a time such as 30s, 10m, 2h or 1d, not "${text}".`);
}

/** Milliseconds of `10m`, `2h`, `30d`; undefined for anything else. */
export function parseSpan(text: string): number | undefined {
  const match = /^(\d+)([smhdw])$/.exec(text);
  if (match === null) return undefined;
  return Number(match[1]) * (UNITS[match[2] ?? ''] ?? 0);
}
