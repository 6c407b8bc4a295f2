import type { Refusal, WriteResult, WriteUnit } from '@weft/engine';
import { type Connection, rollback } from './connection.ts';
import { SQLITE_FULL, sqliteCode } from './driver.ts';
import { prepareUnitWriter } from './write-unit.ts';

/** For tests: called just before and just after the group becomes durable; one that throws makes the outcome unknown. */
export interface SqliteFaults {
  beforeCommit?: (() => void) | undefined;
  afterCommit?: (() => void) | undefined;
}

/**
 * A group is one transaction. Its fate:
 *
 * 1. Every unit is checked, then written or refused; COMMIT makes the written ones durable together.
 * 2. SQLite has no room, at any point: everything is rolled back and every unit refused as `store_full`.
 * 3. SQLite fails otherwise, or COMMIT itself fails: every unit is `unknown`, a refused one too, because what it was refused
 *    for may be lost with the group.
 * 4. Anything else is a mistake of the caller, such as a run id that is none: rolled back and thrown.
 */
export function prepareCommit(
  connection: Connection,
  faults: SqliteFaults,
): (units: readonly WriteUnit[]) => WriteResult[] {
  const { db, words } = connection;
  const writeUnit = prepareUnitWriter(connection);
  const begin = db.prepare('BEGIN IMMEDIATE');
  const makeDurable = db.prepare('COMMIT');

  function failed(units: readonly WriteUnit[], cause: unknown): WriteResult[] {
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

  return (units) => {
    if (units.length === 0) return [];
    let results: WriteResult[];
    try {
      results = write(units);
    } catch (error) {
      if (sqliteCode(error) !== undefined) return failed(units, error);
      rollback(connection);
      throw error;
    }
    try {
      faults.beforeCommit?.();
      makeDurable.get();
      words.settle();
      faults.afterCommit?.();
    } catch (error) {
      return failed(units, error);
    }
    return results;
  };
}

const COMMITTED: WriteResult = { state: 'committed' };

function resultOf(refusal: Refusal | undefined): WriteResult {
  return refusal ? { state: 'refused', ...refusal } : COMMITTED;
}
