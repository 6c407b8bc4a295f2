const DAY_MS = 86_400_000;

/** Days of UTC, counted since 1970-01-01. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** As `2026-11-18`. */
export function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** Undefined for what is no day. */
export function dayFrom(text: string): number | undefined {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(at) && dayText(dayOf(at)) === text ? dayOf(at) : undefined;
}
