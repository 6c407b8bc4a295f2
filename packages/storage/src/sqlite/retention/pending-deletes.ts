import { setImmediate as nextTurn } from 'node:timers/promises';
import { FIRST_TERMINAL } from '../../status-number.ts';
import { type Connection, inTransaction } from '../file/connection.ts';

/**
 * What is left of a long run that was purged. Deleting a million events takes a second, and every other write would wait; so the
 * purge itself moves the run's row aside, to no tenant and a random id, and its events are deleted a few thousand at a time.
 *
 * The row stays to the last: it keeps the number from being given to another run, which would find the events under it, and it
 * shows the next owner of the file that there is something to delete.
 */
export interface PendingDeletes {
  /** Deletes what is pending, in between other work; concurrent calls share one pass. False when there was nothing. */
  clear(): Promise<boolean>;
  stop(): void;
}

/** Of runs that are not there any more; no tenant has this number. */
export const NO_TENANT = -1;

/** Events that one transaction takes away: some milliseconds. Runs with no more than these need no pending delete. */
export const REMOVED_AT_ONCE = 5_000;

/**
 * Moves a run's row aside, with nothing left in it that a client gave. It counts as ended: an imported run may not have,
 * and without its mark it would look claimable. Inside the group's transaction.
 */
export function prepareMoveAside({ db }: Connection): (rid: number) => void {
  const moveAside = db.prepare(
    `UPDATE runs SET id = randomblob(16), tenant = ${NO_TENANT}, status = ${FIRST_TERMINAL}, principal = NULL, scope = NULL,
       more = NULL, node = NULL, error = NULL, holder = NULL, due_at = NULL, wake_at = NULL WHERE rid = ?`,
  );
  return (rid) => void moveAside.run(rid);
}

export function preparePendingDeletes(connection: Connection): PendingDeletes {
  const { db } = connection;
  const findRow = db.prepare<{ rid: number }>(`SELECT rid FROM runs WHERE tenant = ${NO_TENANT} LIMIT 1`);
  const removeSome = db.prepare(
    `DELETE FROM events WHERE rid = ?1 AND seq < (SELECT min(seq) FROM events WHERE rid = ?1) + ${REMOVED_AT_ONCE}`,
  );
  const removeRow = db.prepare('DELETE FROM runs WHERE rid = ?');
  let clearing: Promise<boolean> | undefined;
  let isStopped = false;

  /** False when there was nothing left to do. */
  function removeNext(): boolean {
    const row = findRow.get();
    if (row === undefined) return false;
    inTransaction(connection, () => {
      if (removeSome.run(row.rid).changes < REMOVED_AT_ONCE) removeRow.run(row.rid);
    });
    return true;
  }

  async function clearAll(): Promise<boolean> {
    let isCleared = false;
    while (!isStopped && removeNext()) {
      isCleared = true;
      await nextTurn();
    }
    return isCleared;
  }

  return {
    clear() {
      clearing ??= clearAll().finally(() => {
        clearing = undefined;
      });
      return clearing;
    },
    stop() {
      isStopped = true;
    },
  };
}
