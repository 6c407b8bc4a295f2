import type { WorkflowRow } from '@weft/engine';
import type { Database } from './driver.ts';
import type { Holders } from '../claims/holders.ts';
import type { KnownRuns } from '../runs/known-runs.ts';
import type { StringTable } from '../runs/string-table.ts';

/** What every part of the adapter works with. */
export interface Connection {
  readonly db: Database;
  readonly strings: StringTable;
  readonly holders: Holders;
  readonly clock: () => number;
  /** Current workflows read so far; emptied by every registration. Exact, because this process is the file's only owner. */
  readonly currentWorkflows: Map<string, WorkflowRow>;
  readonly knownRuns: KnownRuns;
  /** Reports damage that SQLite does not see; the store is not ready from then on. */
  readonly damaged: (error: Error) => void;
}

/** Runs `write` as one transaction of its own; whatever it throws leaves nothing behind. */
export function inTransaction<Result>(connection: Connection, write: () => Result): Result {
  const { db, strings } = connection;
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = write();
    db.exec('COMMIT');
    strings.settle();
    return result;
  } catch (error) {
    rollback(connection);
    throw error;
  }
}

export function rollback({ db, strings, knownRuns }: Connection): void {
  strings.rollback();
  knownRuns.clear();
  if (db.isTransaction) db.exec('ROLLBACK');
}
