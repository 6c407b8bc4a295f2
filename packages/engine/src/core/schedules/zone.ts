/** A time zone as data: what a clock on the wall shows there. Zone data changes, so it comes in from outside. */
export interface Zone {
  /** Milliseconds that a clock on the wall is ahead of UTC at an instant. */
  offsetAt(instant: number): number;
}

/** A wall-clock time, spelled as the milliseconds at which a clock in UTC would show it. */
export type WallTime = number;

export const UTC: Zone = { offsetAt: () => 0 };

/** No zone is ever a day ahead of, or behind, where it was. */
export const DAY_MS = 24 * 60 * 60 * 1_000;

/** When a wall-clock time first occurs; one that is left out by a change of the clock, when the clock has passed it. */
export function instantOf(zone: Zone, wall: WallTime): number {
  const before = zone.offsetAt(wall - DAY_MS);
  const after = zone.offsetAt(wall + DAY_MS);
  const instants = [wall - before, wall - after].filter(
    (instant) => instant + zone.offsetAt(instant) === wall,
  );
  if (instants.length > 0) return Math.min(...instants);
  return changeWithin(zone, wall - after, wall - before) ?? wall - after;
}

/** The first instant after `from`, up to `to`, at which the clock on the wall is set; undefined when it shows the same at both. */
export function changeWithin(
  zone: Zone,
  from: number,
  to: number,
  offset = zone.offsetAt(from),
): number | undefined {
  if (zone.offsetAt(to) === offset) return undefined;
  let [same, other] = [from, to];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (zone.offsetAt(middle) === offset) same = middle;
    else other = middle;
  }
  return other;
}
