import type { ClaimBounds, Claimed, ClaimResult, DueRun, HolderRow } from '@weft/engine';
import { claimObstacle } from '@weft/engine/store-rules';
import { runIdBytes, runIdText } from '../runs/codec.ts';
import { statusOf } from '../../status-number.ts';
import { type Connection, inTransaction } from '../file/connection.ts';
import { withoutNameless } from '../runs/nameless-rows.ts';
import { CLAIMABLE } from '../runs/suspicions.ts';

export interface Claims {
  claim(runId: string, holder: string): ClaimResult;
  claimDue(holder: string, limit: number, bounds?: ClaimBounds): DueRun[];
  nextDueAt(): number | undefined;
  heldBy(holder: string): Claimed[];
  releaseAll(holder: string): void;
  holders(): HolderRow[];
}

interface Due {
  readonly rid: number;
  readonly id: Uint8Array;
  readonly epoch: number;
  readonly due_at: number;
  readonly tenant: number;
  readonly bytes: number;
}

/** Sizes of texts stand in the head of a row: none is read for them. */
const DUE_COLUMNS = `rid, id, epoch, due_at, tenant, coalesce(octet_length(more), 0) +
  coalesce((SELECT octet_length(state) FROM checkpoints WHERE checkpoints.rid = runs.rid), 0) AS bytes`;

/** Free runs, by the index that has them by tenant: any other would have to look at all of them. */
const RUNS_IN_TURN =
  'runs INDEXED BY runs_in_turn WHERE status < 6 AND holder IS NULL AND due_at IS NOT NULL';

/** Counts how often in a row a run has lost its holder without getting any further. */
const LOSE_HOLDER = `
  lost_times = CASE WHEN holder IS NULL THEN lost_times WHEN lost_seq = next_seq THEN lost_times + 1 ELSE 1 END,
  lost_seq = CASE WHEN holder IS NULL THEN lost_seq ELSE next_seq END`;

/** A run is free when no holder stands on it, or one whose claims no longer count. Every claim raises the run's epoch. */
export function prepareClaims(connection: Connection): Claims {
  const { db, holders, clock, knownRuns, strings } = connection;
  const findRun = db.prepare<{ rid: number; status: number; holder: number | null; epoch: number }>(
    'SELECT rid, status, holder, epoch FROM runs WHERE id = ?',
  );
  const take = db.prepare(`UPDATE runs SET ${LOSE_HOLDER}, holder = ?, epoch = epoch + 1 WHERE rid = ?`);
  const findHeld = db.prepare<{ id: Uint8Array; epoch: number }>(
    'SELECT id, epoch FROM runs WHERE status < 6 AND holder = ?',
  );
  const findDue = db.prepare<Due>(
    `SELECT ${DUE_COLUMNS} FROM runs WHERE status < 6 AND holder IS ? AND due_at <= ? AND ${CLAIMABLE}
     ORDER BY due_at LIMIT ?`,
  );
  const findNextTenant = db.prepare<{ tenant: number }>(
    `SELECT tenant FROM ${RUNS_IN_TURN} AND tenant > ? ORDER BY tenant LIMIT 1`,
  );
  const findDueOf = db.prepare<Due>(
    `SELECT ${DUE_COLUMNS} FROM ${RUNS_IN_TURN} AND tenant = ? AND due_at <= ? AND ${CLAIMABLE}
     ORDER BY due_at LIMIT 1 OFFSET ?`,
  );
  const findNext = db.prepare<{ due_at: number }>(
    `SELECT due_at FROM runs WHERE status < 6 AND holder IS ? AND due_at IS NOT NULL AND ${CLAIMABLE}
     ORDER BY due_at LIMIT 1`,
  );
  const release = db.prepare('UPDATE runs SET holder = NULL WHERE status < 6 AND holder = ?');
  const lose = db.prepare(`UPDATE runs SET ${LOSE_HOLDER}, holder = NULL WHERE status < 6 AND holder = ?`);
  const countHeld = db.prepare<{ runs: number }>(
    'SELECT count(*) AS runs FROM runs WHERE status < 6 AND holder = ?',
  );

  /** What stands in the holder column of free runs. */
  function freeHolders(): (number | null)[] {
    return [null, ...holders.expired(clock())];
  }

  /** Tenants with free runs, in the order of their turns. */
  function* tenantsFrom(after: number): Generator<number, void, undefined> {
    for (let tenant = findNextTenant.get(after)?.tenant; tenant; tenant = findNextTenant.get(tenant)?.tenant)
      yield tenant;
    for (let tenant = findNextTenant.get(0)?.tenant; tenant; tenant = findNextTenant.get(tenant)?.tenant) {
      if (tenant > after) return;
      yield tenant;
    }
  }

  /** When there are more than can be taken: one of each tenant, then a second of each, until a bound is reached. */
  function dueInTurn(limit: number, { maxBytes, after, except }: Required<ClaimBounds>): Due[] {
    const now = clock();
    for (const expired of holders.expired(now)) if (lose.run(expired).changes > 0) knownRuns.clear();
    const excepted = new Set(except.map((tenant) => strings.find(tenant)));
    let waiting: { readonly tenant: number; taken: number }[] = [];
    for (const tenant of tenantsFrom(strings.find(after) ?? 0)) {
      if (waiting.length === limit) break;
      if (!excepted.has(tenant) && findDueOf.get(tenant, now, 0) !== undefined)
        waiting.push({ tenant, taken: 0 });
    }
    const due: Due[] = [];
    let bytes = 0;
    while (waiting.length > 0) {
      waiting = waiting.filter((lane) => {
        const next = due.length < limit ? findDueOf.get(lane.tenant, now, lane.taken) : undefined;
        if (next === undefined || (due.length > 0 && bytes + next.bytes > maxBytes)) return false;
        due.push(next);
        bytes += next.bytes;
        lane.taken += 1;
        return true;
      });
    }
    return due;
  }

  return {
    claim(runId, holder) {
      const id = runIdBytes(runId);
      const run = id && findRun.get(id);
      if (!run) return { state: 'missing' };
      const current = run.holder === null ? undefined : holders.alive(run.holder, clock());
      const obstacle = claimObstacle({ status: statusOf(run.status) }, current);
      if (obstacle) return obstacle;
      inTransaction(connection, () => take.run(holders.numberOf(holder), run.rid));
      knownRuns.forget(runId);
      return { state: 'claimed', epoch: run.epoch + 1 };
    },
    claimDue(holder, limit, { maxBytes = Number.POSITIVE_INFINITY, after = '', except = [] } = {}) {
      const found = withoutNameless(
        connection,
        freeHolders().flatMap((free) => findDue.all(free, clock(), limit + 1)),
      );
      if (found.length === 0) return [];
      const bytes = found.reduce((sum, run) => sum + run.bytes, 0);
      const isCrowded = found.length > limit || bytes > maxBytes || except.length > 0;
      const number = holders.numberOf(holder);
      const due = inTransaction(connection, () => {
        const chosen = isCrowded
          ? withoutNameless(connection, dueInTurn(limit, { maxBytes, after, except }))
          : found.sort((a, b) => a.due_at - b.due_at);
        for (const { rid } of chosen) take.run(number, rid);
        return chosen;
      });
      return due.map(({ id, epoch, tenant, bytes }) => {
        const runId = runIdText(id);
        knownRuns.forget(runId);
        // A run without a known tenant is damaged, which its reader reports.
        return { runId, epoch: epoch + 1, tenant: strings.read(tenant) ?? '', bytes };
      });
    },
    nextDueAt() {
      const times = freeHolders().flatMap((free) => findNext.get(free)?.due_at ?? []);
      return times.length === 0 ? undefined : Math.min(...times);
    },
    heldBy: (holder) =>
      withoutNameless(connection, findHeld.all(holders.numberOf(holder))).map(({ id, epoch }) => ({
        runId: runIdText(id),
        epoch,
      })),
    releaseAll(holder) {
      inTransaction(connection, () => release.run(holders.numberOf(holder)));
      knownRuns.clear();
      holders.expire(holder, clock());
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
