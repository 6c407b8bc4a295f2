import type { Claimed, ClaimResult, HolderRow } from '@weft/engine';
import { FIRST_TERMINAL, runIdBytes, runIdText } from './codec.ts';
import { type Connection, inTransaction } from './connection.ts';
import { CLAIMABLE } from './suspicions.ts';

export interface Claims {
  claim(runId: string, holder: string): ClaimResult;
  claimDue(holder: string, limit: number): Claimed[];
  nextDueAt(): number | undefined;
  heldBy(holder: string): Claimed[];
  releaseAll(holder: string): void;
  holders(): HolderRow[];
}

/** Counts how often in a row a run has lost its holder without getting any further. */
const LOSE_HOLDER = `
  lost_times = CASE WHEN holder IS NULL THEN lost_times WHEN lost_seq = next_seq THEN lost_times + 1 ELSE 1 END,
  lost_seq = CASE WHEN holder IS NULL THEN lost_seq ELSE next_seq END`;

/** A run is free when no holder stands on it, or one whose claims no longer count. Every claim raises the run's epoch. */
export function prepareClaims(connection: Connection): Claims {
  const { db, holders, clock, knownRuns } = connection;
  const findRun = db.prepare<{ rid: number; status: number; holder: number | null; epoch: number }>(
    'SELECT rid, status, holder, epoch FROM runs WHERE id = ?',
  );
  const take = db.prepare(`UPDATE runs SET ${LOSE_HOLDER}, holder = ?, epoch = epoch + 1 WHERE rid = ?`);
  const findHeld = db.prepare<{ id: Uint8Array; epoch: number }>(
    'SELECT id, epoch FROM runs WHERE status < 6 AND holder = ?',
  );
  const findDue = db.prepare<{ rid: number; id: Uint8Array; epoch: number; due_at: number }>(
    `SELECT rid, id, epoch, due_at FROM runs WHERE status < 6 AND holder IS ? AND due_at <= ? AND ${CLAIMABLE}
     ORDER BY due_at LIMIT ?`,
  );
  const findNext = db.prepare<{ due_at: number }>(
    `SELECT due_at FROM runs WHERE status < 6 AND holder IS ? AND due_at IS NOT NULL AND ${CLAIMABLE}
     ORDER BY due_at LIMIT 1`,
  );
  const release = db.prepare('UPDATE runs SET holder = NULL WHERE status < 6 AND holder = ?');

  const countHeld = db.prepare<{ runs: number }>(
    'SELECT count(*) AS runs FROM runs WHERE status < 6 AND holder = ?',
  );

  /** What stands in the holder column of free runs. */
  function freeHolders(): (number | null)[] {
    return [null, ...holders.expired(clock())];
  }

  return {
    claim(runId, holder) {
      const id = runIdBytes(runId);
      const run = id && findRun.get(id);
      if (!run) return { state: 'missing' };
      if (run.status >= FIRST_TERMINAL) return { state: 'terminal' };
      const current = run.holder === null ? undefined : holders.alive(run.holder, clock());
      if (current !== undefined) return { state: 'held', holder: current };
      inTransaction(connection, () => take.run(holders.numberOf(holder), run.rid));
      knownRuns.forget(runId);
      return { state: 'claimed', epoch: run.epoch + 1 };
    },
    claimDue(holder, limit) {
      const due = freeHolders()
        .flatMap((free) => findDue.all(free, clock(), limit))
        .sort((a, b) => a.due_at - b.due_at)
        .slice(0, limit);
      if (due.length === 0) return [];
      const number = holders.numberOf(holder);
      inTransaction(connection, () => due.forEach(({ rid }) => take.run(number, rid)));
      return due.map(({ id, epoch }) => {
        const runId = runIdText(id);
        knownRuns.forget(runId);
        return { runId, epoch: epoch + 1 };
      });
    },
    nextDueAt() {
      const times = freeHolders().flatMap((free) => findNext.get(free)?.due_at ?? []);
      return times.length === 0 ? undefined : Math.min(...times);
    },
    heldBy: (holder) =>
      findHeld.all(holders.numberOf(holder)).map(({ id, epoch }) => ({ runId: runIdText(id), epoch })),
    releaseAll(holder) {
      inTransaction(connection, () => release.run(holders.numberOf(holder)));
      knownRuns.clear();
      holders.leave(holder, clock());
    },
    holders() {
      const now = clock();
      return holders
        .all()
        .map((holder) => ({
          ...holder,
          isAlive: now < holder.deadline,
          runs: countHeld.get(holders.numberOf(holder.name))?.runs ?? 0,
        }))
        .filter(({ isAlive, runs }) => isAlive || runs > 0)
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    },
  };
}

/** The file has one owner. What an earlier one held is free as soon as a new one opens it: recovery does not wait. */
export function freeAllClaims(connection: Connection): void {
  inTransaction(connection, () =>
    connection.db.exec(
      `UPDATE runs SET ${LOSE_HOLDER}, holder = NULL WHERE status < 6 AND holder IS NOT NULL`,
    ),
  );
}
