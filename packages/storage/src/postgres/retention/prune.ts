import { nowSql } from '../connections/now.ts';
import type { Pool } from '../connections/pool.ts';

/** Removed per statement, so that no lock is held for long and others get their turn. */
const STEP = 1_000;
const DAY_MS = 86_400_000;

const expired = (table: string, time: string) => `
  DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ${table} WHERE ${time} <= ${nowSql(1)} LIMIT ${STEP} FOR UPDATE SKIP LOCKED))
  RETURNING 1`;

/** A process that starts is a new holder. One that is long past its deadline holds nothing, whether its row is there or not. */
const FORGET_HOLDERS = `DELETE FROM holders WHERE deadline < ${nowSql(1)} - ${DAY_MS}`;

/** Of a run that has ended nothing is left to be done. */
const TASKS_OF_ENDED = `DELETE FROM tasks
  WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = tasks.run AND status < 6) RETURNING 1`;

/** Removes expired idempotency records, documents and tombstones, and what is left of tasks; answers how many. */
export function preparePrune(pool: Pool, clock: (() => number) | undefined): () => Promise<number> {
  async function removeFrom(table: string, time: string): Promise<number> {
    let removed = 0;
    for (;;) {
      const rows = await pool.use((connection) =>
        connection.query(expired(table, time), [clock?.() ?? null]),
      );
      removed += rows.length;
      if (rows.length < STEP) return removed;
    }
  }

  return async () => {
    await pool.use((connection) => connection.query(FORGET_HOLDERS, [clock?.() ?? null]));
    const tasks = await pool.use((connection) => connection.query(TASKS_OF_ENDED));
    return (
      tasks.length +
      (await removeFrom('idempotency', 'expires_at')) +
      (await removeFrom('documents', 'expires_at')) +
      (await removeFrom('tombstones', 'until'))
    );
  };
}
