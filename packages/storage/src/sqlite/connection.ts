import type { WorkflowRow } from '@weft/engine';
import type { Database } from './driver.ts';
import type { Holders } from './holders.ts';
import type { Words } from './words.ts';

/** What every part of the adapter works with. */
export interface Connection {
  readonly db: Database;
  readonly words: Words;
  readonly holders: Holders;
  readonly clock: () => number;
  /** Current workflows read so far; emptied by every registration. Exact, because this process is the file's only owner. */
  readonly currentWorkflows: Map<string, WorkflowRow>;
}

/** Runs `write` as one transaction of its own; whatever it throws leaves nothing behind. */
export function inTransaction<Result>({ db, words }: Connection, write: () => Result): Result {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = write();
    db.exec('COMMIT');
    words.settle();
    return result;
  } catch (error) {
    rollback({ db, words });
    throw error;
  }
}

export function rollback({ db, words }: Pick<Connection, 'db' | 'words'>): void {
  words.rollback();
  if (db.isTransaction) db.exec('ROLLBACK');
}
