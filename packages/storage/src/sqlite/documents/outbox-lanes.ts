import type { NewOutboxRow } from '@weft/engine';
import type { Database } from '../file/driver.ts';

/**
 * Rows that wait behind another one of their lane are parked: due at the end of time, so that looking for what is due does not
 * walk over all of them again and again. Removing the row before them, or making it dead, releases the next.
 */
export const PARKED = 8_640_000_000_000_000;

/** Writes a row of a run; what is there under the same id stays. */
export function prepareEnqueue(db: Database): (rid: number, row: NewOutboxRow) => void {
  const insert = db.prepare(
    `INSERT OR IGNORE INTO outbox (id, rid, topic, lane, due_at, next_at, attempts, body)
     VALUES (?1, ?2, ?3, ?4, ?5, CASE WHEN EXISTS (SELECT 1 FROM outbox WHERE lane = ?4 AND next_at IS NOT NULL)
       THEN ${PARKED} ELSE ?5 END, 0, ?6)`,
  );
  return (rid, { id, topic, lane, dueAt, body }) => {
    insert.get(id, rid, topic, lane ?? null, dueAt, JSON.stringify(body));
  };
}

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
