import type { Database } from '../file/driver.ts';

/**
 * Rows that wait behind another one of their lane are parked: due at the end of time, so that looking for what is due does not
 * walk over all of them again and again. Removing the row before them, or making it dead, releases the next.
 */
export const PARKED = 8_640_000_000_000_000;

/** Releases the first live row of the lane, if it is parked. */
export function prepareReleaseLane(db: Database): (lane: string) => void {
  const release = db.prepare(
    `UPDATE outbox SET next_at = due_at WHERE next_at = ${PARKED}
       AND rowid = (SELECT min(rowid) FROM outbox WHERE lane = ? AND next_at IS NOT NULL)`,
  );
  return (lane) => {
    release.run(lane);
  };
}
