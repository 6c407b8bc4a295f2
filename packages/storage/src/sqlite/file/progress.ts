import type { Connection } from './connection.ts';
import type { Database } from './driver.ts';
import type { HighWaterMark, Progress } from './high-water-mark.ts';

/** Counts commits: in the database with each of them, and outside of it once it is durable. */
export interface ProgressCounter {
  /** Inside the transaction. */
  next(batch: Uint8Array): Progress;
  /** The transaction is durable. */
  reached(progress: Progress): void;
  /** A write that changes nothing. */
  touch(): void;
}

export function prepareProgress({ db, clock }: Connection, mark: HighWaterMark): ProgressCounter {
  const update = db.prepare('UPDATE progress SET number = ?, at = ?, batch = ?');
  const touch = db.prepare('UPDATE progress SET at = at');
  let { number } = readProgress(db);

  return {
    next(batch) {
      const progress = { number: number + 1, at: clock(), batch };
      update.get(progress.number, progress.at, batch);
      return progress;
    },
    reached(progress) {
      number = progress.number;
      mark.write(progress);
    },
    touch: () => void touch.get(),
  };
}

/** Before its first commit where there is none: the schema of an older program does not count. */
export function readProgress(db: Database): Progress {
  const isCounted = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'progress'").get() !== undefined;
  const row = isCounted ? db.prepare<Progress>('SELECT number, at, batch FROM progress').get() : undefined;
  return row ?? { number: 0, at: 0, batch: new Uint8Array(16) };
}
