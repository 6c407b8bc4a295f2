import type { Claimed, ClaimResult, HolderRow } from '@weft/engine';
import { FIRST_TERMINAL, isRunId } from './codec.ts';
import { SCHEMA_VERSION } from './migrations.ts';
import { nowSql } from './now.ts';
import type { Pool } from './pool.ts';

export interface Claims {
  heartbeat(holder: string, ttlMs: number, about?: string): Promise<void>;
  holders(): Promise<HolderRow[]>;
  claim(runId: string, holder: string): Promise<ClaimResult>;
  claimDue(holder: string, limit: number): Promise<Claimed[]>;
  nextDueAt(): Promise<number | undefined>;
  countQuarantined(): Promise<number>;
  heldBy(holder: string): Promise<readonly Claimed[]>;
  releaseAll(holder: string): Promise<void>;
}

const HEARTBEAT = `INSERT INTO holders (name, deadline, about, schema)
  VALUES ($1::text, ${nowSql(2)} + $3::bigint, $4::text, ${SCHEMA_VERSION})
  ON CONFLICT (name) DO UPDATE SET deadline = excluded.deadline, about = coalesce(excluded.about, holders.about)`;

const HOLDERS = `SELECT * FROM (
    SELECT name, deadline, about, deadline > ${nowSql(1)} AS is_alive,
      (SELECT count(*) FROM runs WHERE status < 6 AND holder IS NOT NULL AND holder = holders.name)::int AS runs
    FROM holders) AS known
  WHERE is_alive OR runs > 0 ORDER BY name`;

const LEAVE = `UPDATE holders SET deadline = least(deadline, ${nowSql(2)}) WHERE name = $1::text`;

const LOOK = `SELECT status, epoch, holder,
  EXISTS (SELECT 1 FROM holders WHERE name = runs.holder AND deadline > ${nowSql(2)}) AS is_alive
  FROM runs WHERE id = $1::uuid`;

/** Counts how often in a row a run has lost its holder without getting any further. */
const LOSE_HOLDER = `
  lost_times = CASE WHEN holder IS NULL THEN lost_times WHEN lost_seq = next_seq THEN lost_times + 1 ELSE 1 END,
  lost_seq = CASE WHEN holder IS NULL THEN lost_seq ELSE next_seq END`;

/** Of runs to be taken up, those that may be: a quarantined one only for the sake of a cancel. */
const CLAIMABLE = `(quarantined IS NULL OR EXISTS (
  SELECT 1 FROM commands WHERE run = runs.id AND verdict IS NULL AND kind = 'cancel'))`;

const TAKE = `UPDATE runs SET ${LOSE_HOLDER}, holder = $1::text, epoch = epoch + 1
  WHERE id = $2::uuid AND epoch = $3::int AND holder IS NOT DISTINCT FROM $4::text AND status < 6 RETURNING epoch`;

/**
 * Holders of open runs that gave no sign in time, or never. Found by skipping from one holder to the next in the index of held
 * runs: as many steps as there are processes, however many runs they hold.
 */
const lostHolders = (now: string) => `
  RECURSIVE standing (holder) AS (
    (SELECT holder FROM runs WHERE status < 6 AND holder IS NOT NULL ORDER BY holder LIMIT 1)
    UNION ALL
    SELECT (SELECT holder FROM runs WHERE status < 6 AND holder IS NOT NULL AND holder > standing.holder
            ORDER BY holder LIMIT 1)
    FROM standing WHERE standing.holder IS NOT NULL
  ),
  lost (holder) AS MATERIALIZED (
    SELECT holder FROM standing WHERE holder IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM holders WHERE name = standing.holder AND deadline > ${now})
  )`;

const CLAIM_DUE = `
  WITH ${lostHolders(nowSql(1))},
  free AS (
    SELECT id, due_at FROM runs WHERE status < 6 AND holder IS NULL AND due_at <= ${nowSql(1)} AND ${CLAIMABLE}
    ORDER BY due_at LIMIT $2::int FOR NO KEY UPDATE SKIP LOCKED
  ),
  left_behind AS (
    SELECT id, due_at FROM runs
    WHERE status < 6 AND holder IS NOT NULL AND holder IN (SELECT holder FROM lost) AND due_at <= ${nowSql(1)}
      AND ${CLAIMABLE}
    ORDER BY due_at LIMIT $2::int FOR NO KEY UPDATE SKIP LOCKED
  ),
  chosen AS (SELECT id, due_at FROM (TABLE free UNION ALL TABLE left_behind) AS both_kinds ORDER BY due_at LIMIT $2::int)
  UPDATE runs SET ${LOSE_HOLDER}, holder = $3::text, epoch = epoch + 1 FROM chosen WHERE runs.id = chosen.id
  RETURNING runs.id, runs.epoch, chosen.due_at`;

const NEXT_DUE = `
  WITH ${lostHolders(nowSql(1))}
  SELECT least(
    (SELECT due_at FROM runs WHERE status < 6 AND holder IS NULL AND due_at IS NOT NULL AND ${CLAIMABLE}
     ORDER BY due_at LIMIT 1),
    (SELECT min(next.due_at) FROM lost CROSS JOIN LATERAL (
       SELECT due_at FROM runs
       WHERE status < 6 AND holder IS NOT NULL AND runs.holder = lost.holder AND due_at IS NOT NULL AND ${CLAIMABLE}
       ORDER BY due_at LIMIT 1) AS next)
  ) AS due_at`;

const HELD_BY =
  'SELECT id AS "runId", epoch FROM runs WHERE status < 6 AND holder IS NOT NULL AND holder = $1::text';

const QUARANTINED = 'SELECT count(*)::int AS runs FROM runs WHERE quarantined IS NOT NULL AND status < 6';

/** In the order in which groups lock runs, so that the two never wait for each other. */
const RELEASE_ALL = `
  WITH held AS (SELECT id FROM runs WHERE status < 6 AND holder = $1::text AND holder IS NOT NULL
                ORDER BY id FOR NO KEY UPDATE)
  UPDATE runs SET holder = NULL FROM held WHERE runs.id = held.id`;

interface Target {
  readonly status: number;
  readonly epoch: number;
  readonly holder: string | null;
  readonly is_alive: boolean;
}

interface Standing {
  readonly name: string;
  readonly deadline: number;
  readonly about: string | null;
  readonly is_alive: boolean;
  readonly runs: number;
}

/** A run is free when no holder stands on it, or one past its deadline by the database's clock. Every claim raises its epoch. */
export function prepareClaims(pool: Pool, clock: (() => number) | undefined): Claims {
  const now = () => clock?.() ?? null;

  return {
    async heartbeat(holder, ttlMs, about) {
      await pool.use((connection) => connection.query(HEARTBEAT, [holder, now(), ttlMs, about ?? null]));
    },
    async holders() {
      const rows = await pool.use((connection) => connection.query<Standing>(HOLDERS, [now()]));
      return rows.map(({ name, deadline, is_alive: isAlive, runs, about }) => ({
        name,
        deadline,
        isAlive,
        runs,
        ...(about !== null && { about }),
      }));
    },
    async claim(runId, holder) {
      if (!isRunId(runId)) return { state: 'missing' };
      // Looks, then takes the run only as it was seen; whoever was faster is seen by the next look.
      for (;;) {
        const result = await pool.use(async (connection): Promise<ClaimResult | undefined> => {
          const [run] = await connection.query<Target>(LOOK, [runId, now()]);
          if (!run) return { state: 'missing' };
          if (run.status >= FIRST_TERMINAL) return { state: 'terminal' };
          if (run.holder !== null && run.is_alive) return { state: 'held', holder: run.holder };
          const taken = await connection.query<{ epoch: number }>(TAKE, [
            holder,
            runId,
            run.epoch,
            run.holder,
          ]);
          return taken[0] && { state: 'claimed', epoch: taken[0].epoch };
        });
        if (result) return result;
      }
    },
    async claimDue(holder, limit) {
      const rows = await pool.use((connection) =>
        connection.query<{ id: string; epoch: number; due_at: number }>(CLAIM_DUE, [now(), limit, holder]),
      );
      return [...rows].sort((a, b) => a.due_at - b.due_at).map(({ id, epoch }) => ({ runId: id, epoch }));
    },
    async nextDueAt() {
      const [row] = await pool.use((connection) =>
        connection.query<{ due_at: number | null }>(NEXT_DUE, [now()]),
      );
      return row?.due_at ?? undefined;
    },
    async countQuarantined() {
      const [row] = await pool.use((connection) => connection.query<{ runs: number }>(QUARANTINED));
      return row?.runs ?? 0;
    },
    async heldBy(holder) {
      return await pool.use((connection) => connection.query<Claimed>(HELD_BY, [holder]));
    },
    async releaseAll(holder) {
      await pool.use(async (connection) => {
        await connection.query(RELEASE_ALL, [holder]);
        await connection.query(LEAVE, [holder, now()]);
      });
    },
  };
}
