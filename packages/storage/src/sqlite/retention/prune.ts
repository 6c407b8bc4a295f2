import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Connection, inTransaction } from '../file/connection.ts';
import type { Statement } from '../file/driver.ts';

/** Removed per turn of the event loop, so that pruning a day's records does not block other work. */
const PRUNE_STEP = 500;

/** Of a run that has ended nothing is left to be done. */
const TASKS_OF_ENDED =
  'DELETE FROM tasks WHERE rid NOT IN (SELECT rid FROM runs WHERE rid IN (SELECT rid FROM tasks) AND status < 6)';

/** Removes expired idempotency records, documents and tombstones in small transactions, and what is left of tasks; answers how many. */
export function preparePrune(connection: Connection): () => Promise<number> {
  const removals = [
    ['idempotency', 'ord', 'expires_at'],
    ['documents', 'ord', 'expires_at'],
    ['tombstones', 'id', 'until'],
  ].map(([table, key, end]) =>
    connection.db.prepare(
      `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE ${end} <= ? LIMIT ?)`,
    ),
  );

  async function removeAll(remove: Statement<unknown>): Promise<number> {
    let removed = 0;
    for (;;) {
      const { changes } = inTransaction(connection, () => remove.run(connection.clock(), PRUNE_STEP));
      removed += changes;
      if (changes < PRUNE_STEP) return removed;
      await nextTurn();
    }
  }

  const removeTasks = connection.db.prepare(TASKS_OF_ENDED);

  return async () => {
    let removed: number = inTransaction(connection, () => removeTasks.run().changes);
    for (const remove of removals) removed += await removeAll(remove);
    return removed;
  };
}
