import type { Refusal, WriteResult, WriteUnit } from '@weft/engine';
import { batchBytes } from '../runs/codec.ts';
import { type Connection, rollback } from '../file/connection.ts';
import { SQLITE_FULL, sqliteCode } from '../file/driver.ts';
import type { HighWaterMark } from '../file/high-water-mark.ts';
import { prepareProgress } from '../file/progress.ts';
import { prepareUnitWriter } from './write-unit.ts';

/** For tests: commanded just before and just after the group becomes durable; one that throws makes the outcome unknown. */
export interface SqliteFaults {
  beforeCommit?: (() => void) | undefined;
  afterCommit?: (() => void) | undefined;
  /** Called before each attempt to take what was deleted out of the write-ahead log. */
  beforeScrub?: (() => void) | undefined;
}

export type Commit = (units: readonly WriteUnit[]) => WriteResult[];

/** When so many units in a row fail alone, it is not them. */
const MOST_FAILURES = 3;

/**
 * A group is one transaction. Its fate:
 *
 * 1. Every unit is checked, then written or refused; COMMIT makes the written ones durable together.
 * 2. SQLite has no room, at any point: everything is rolled back and every unit refused as `store_full`.
 * 3. A unit cannot be written: everything is rolled back, and each unit gets a transaction of its own. The one that fails again,
 *    while the file takes others, is `failed`; nothing of it was written.
 * 4. COMMIT itself fails, or the file takes nothing at all: every unit is `unknown`, a refused one too, because what it was
 *    refused for may be lost with the group.
 */
export function prepareCommit(connection: Connection, mark: HighWaterMark, faults: SqliteFaults): Commit {
  const { db, strings } = connection;
  const writeUnit = prepareUnitWriter(connection);
  const begin = db.prepare('BEGIN IMMEDIATE');
  const makeDurable = db.prepare('COMMIT');
  const progress = prepareProgress(connection, mark);

  function notWritten(units: readonly WriteUnit[], cause: unknown): WriteResult[] {
    rollback(connection);
    const isFull = sqliteCode(cause) === SQLITE_FULL;
    return units.map(() =>
      isFull ? { state: 'refused', reason: 'store_full' } : { state: 'unknown', cause },
    );
  }

  function write(units: readonly WriteUnit[]): WriteResult[] {
    begin.get();
    return units.map((unit) => resultOf(writeUnit(unit)));
  }

  function commitWritten(units: readonly WriteUnit[], results: WriteResult[]): WriteResult[] {
    try {
      const last = units.findLast((_, index) => results[index] === COMMITTED);
      const reached = last && progress.next(batchBytes(last.batchId));
      faults.beforeCommit?.();
      makeDurable.get();
      strings.settle();
      if (reached) progress.reached(reached);
      faults.afterCommit?.();
      return results;
    } catch (error) {
      return notWritten(units, error);
    }
  }

  function commitAlone(unit: WriteUnit): WriteResult {
    try {
      return commitWritten([unit], write([unit]))[0] ?? COMMITTED;
    } catch (cause) {
      if (sqliteCode(cause) === SQLITE_FULL) return notWritten([unit], cause)[0] ?? COMMITTED;
      rollback(connection);
      return { state: 'failed', cause };
    }
  }

  function commitEach(units: readonly WriteUnit[]): WriteResult[] {
    const results: WriteResult[] = [];
    let failures = 0;
    for (const unit of units) {
      const result: WriteResult =
        failures < MOST_FAILURES ? commitAlone(unit) : { state: 'unknown', cause: causeOf(results) };
      results.push(result);
      failures = result.state === 'failed' ? failures + 1 : 0;
    }
    const takesOthers = results.some(({ state }) => state === 'committed') || isWritable();
    return takesOthers ? results : results.map(asUnknown);
  }

  /** Whether the file takes anything at all. */
  function isWritable(): boolean {
    try {
      begin.get();
      progress.touch();
      makeDurable.get();
      return true;
    } catch {
      rollback(connection);
      return false;
    }
  }

  return (units) => {
    if (units.length === 0) return [];
    let results: WriteResult[];
    try {
      results = write(units);
    } catch (error) {
      const isFull = sqliteCode(error) === SQLITE_FULL;
      const answers = notWritten(units, error);
      return isFull ? answers : commitEach(units);
    }
    return commitWritten(units, results);
  };
}

const COMMITTED: WriteResult = { state: 'committed' };

function resultOf(refusal: Refusal | undefined): WriteResult {
  return refusal ? { state: 'refused', ...refusal } : COMMITTED;
}

function asUnknown(result: WriteResult): WriteResult {
  return result.state === 'failed' ? { state: 'unknown', cause: result.cause } : result;
}

function causeOf(results: readonly WriteResult[]): unknown {
  const last = results.at(-1);
  return last !== undefined && 'cause' in last ? last.cause : undefined;
}
