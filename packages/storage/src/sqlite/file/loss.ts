import { statSync } from 'node:fs';
import { openDatabase } from './driver.ts';
import type { StoreLoss } from './errors.ts';
import type { FoundMark, Progress } from './high-water-mark.ts';
import { readProgress } from './progress.ts';

/**
 * What the database lacks of what its mark says was acknowledged; undefined when nothing is missing. Only reads: a connection that
 * may write folds what is left of the write-ahead log into the database when it is closed, and an operator who still has the rest of it
 * could not put it back.
 */
export function findLoss(path: string, acknowledged: FoundMark, isExpected: boolean): StoreLoss | undefined {
  // Where a database was before, a missing one is not a new one.
  const isMissing = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
  if (acknowledged === 'none') return isExpected && isMissing ? { reason: 'database_missing' } : undefined;
  if (acknowledged === 'unreadable') return { reason: 'mark_unreadable' };
  if (isMissing) return { reason: 'database_missing', acknowledgedAt: acknowledged.at };
  return lossBetween(acknowledged, progressOf(path));
}

export function lossBetween(acknowledged: Progress, reached: Progress): StoreLoss | undefined {
  if (reached.number > acknowledged.number) return undefined;
  const times = { acknowledgedAt: acknowledged.at, reachedAt: reached.at };
  if (reached.number < acknowledged.number)
    return { reason: 'commits_missing', missingCommits: acknowledged.number - reached.number, ...times };
  const isSame = Buffer.compare(reached.batch, acknowledged.batch) === 0;
  return isSame ? undefined : { reason: 'other_history', ...times };
}

function progressOf(path: string): Progress {
  const db = openDatabase(path, { busyTimeoutMs: 5_000, readOnly: true });
  try {
    return readProgress(db);
  } finally {
    db.close();
  }
}
