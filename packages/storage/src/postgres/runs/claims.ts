import type { ClaimBounds, Claimed, ClaimResult, DueRun, HolderRow } from '@weft/engine';
import { claimObstacle } from '@weft/engine/store-rules';
import { isRunId } from './codec.ts';
import { statusOf } from '../../status-number.ts';
import { SCHEMA_VERSION } from '../connections/migrations.ts';
import { nowSql } from '../connections/now.ts';
import { together } from '../connections/connection.ts';
import type { Pool } from '../connections/pool.ts';
import { arrayText } from './rows.ts';

export interface Claims {
  heartbeat(holder: string, ttlMs: number, about?: string): Promise<void>;
  holders(): Promise<HolderRow[]>;
  claim(runId: string, holder: string): Promise<ClaimResult>;
  claimDue(holder: string, limit: number, bounds?: ClaimBounds): Promise<DueRun[]>;
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

const EXPIRE_HOLDER = `UPDATE holders SET deadline = least(deadline, ${nowSql(2)}) WHERE name = $1::text`;

const LOOK = `SELECT status, epoch, holder,
  EXISTS (SELECT 1 FROM holders WHERE name = runs.holder AND deadline > ${nowSql(2)}) AS is_alive
  FROM runs WHERE id = $1::uuid`;

/** Counts how often in a row a run has lost its holder without getting any further. */
const LOSE_HOLDER = `
  lost_times = CASE WHEN holder IS NULL THEN lost_times WHEN lost_seq = next_seq THEN lost_times + 1 ELSE 1 END,
  lost_seq = CASE WHEN holder IS NULL THEN lost_seq ELSE next_seq END`;

/** Of claimable runs, those that may be claimed: a quarantined one only for the sake of a cancel. */
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

/** About what a run takes as text; known without reading it. */
const BYTES = `octet_length(record) + coalesce((SELECT octet_length(state) FROM checkpoints WHERE run = runs.id), 0)`;

const FREE = 'status < 6 AND holder IS NULL AND due_at IS NOT NULL';
const FREE_DUE = `${FREE} AND due_at <= ${nowSql(1)} AND ${CLAIMABLE}`;
const LEFT_BEHIND = `status < 6 AND holder IS NOT NULL AND holder IN (SELECT holder FROM lost) AND due_at <= ${nowSql(1)}
  AND ${CLAIMABLE}`;

/** Everything that is due, unless it is more than may be taken: then nothing. */
const CLAIM_ALL_DUE = `
  WITH ${lostHolders(nowSql(1))},
  found AS (
    (SELECT tenant, ${BYTES} AS bytes FROM runs WHERE ${FREE_DUE}
     ORDER BY due_at LIMIT $2::int + 1)
    UNION ALL
    (SELECT tenant, ${BYTES} FROM runs WHERE ${LEFT_BEHIND} ORDER BY due_at LIMIT $2::int + 1)
  ),
  fits AS MATERIALIZED (
    SELECT count(*) <= $2::int AND coalesce(sum(bytes), 0) <= $4::bigint
      AND coalesce(bool_and(tenant <> ALL ($5::text[])), true) AS yes FROM found
  ),
  free AS (
    SELECT id, due_at FROM runs
    WHERE (SELECT yes FROM fits) AND ${FREE_DUE}
    ORDER BY due_at LIMIT $2::int FOR NO KEY UPDATE SKIP LOCKED
  ),
  left_behind AS (
    SELECT id, due_at FROM runs WHERE (SELECT yes FROM fits) AND ${LEFT_BEHIND}
    ORDER BY due_at LIMIT $2::int FOR NO KEY UPDATE SKIP LOCKED
  ),
  chosen AS (SELECT id, due_at FROM (TABLE free UNION ALL TABLE left_behind) AS both_kinds ORDER BY due_at LIMIT $2::int)
  UPDATE runs SET ${LOSE_HOLDER}, holder = $3::text, epoch = epoch + 1 FROM chosen WHERE runs.id = chosen.id
  RETURNING runs.id, runs.epoch, runs.tenant, ${BYTES} AS bytes, chosen.due_at AS place`;

const IS_ANY_DUE = `
  WITH ${lostHolders(nowSql(1))}
  SELECT EXISTS (SELECT 1 FROM runs WHERE ${FREE_DUE})
    OR EXISTS (SELECT 1 FROM runs WHERE ${LEFT_BEHIND}) AS yes`;

/** What processes left behind that are gone becomes free, some at a time: among free runs tenants take turns. */
const FREE_LEFT_BEHIND = `
  WITH ${lostHolders(nowSql(1))},
  batch AS (SELECT id FROM runs WHERE ${LEFT_BEHIND} LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED)
  UPDATE runs SET ${LOSE_HOLDER}, holder = NULL FROM batch WHERE runs.id = batch.id`;

/**
 * One of each tenant, then a second of each, until a bound is reached. Tenants are found by skipping from one to the next in the
 * index of free runs: as many steps as there are tenants, however many runs they have waiting.
 */
const CLAIM_IN_TURN = `
  WITH RECURSIVE tenants (tenant) AS (
    (SELECT tenant FROM runs WHERE ${FREE} ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT tenant FROM runs WHERE ${FREE} AND runs.tenant > tenants.tenant ORDER BY tenant LIMIT 1)
    FROM tenants WHERE tenants.tenant IS NOT NULL
  ),
  turns AS MATERIALIZED (
    SELECT tenant, row_number() OVER (ORDER BY tenant <= $6::text, tenant) AS turn FROM tenants
    WHERE tenant IS NOT NULL AND tenant <> ALL ($5::text[])
      AND EXISTS (SELECT 1 FROM runs WHERE ${FREE_DUE} AND runs.tenant = tenants.tenant)
    ORDER BY turn LIMIT $2::int
  ),
  found AS (
    SELECT turn, own.* FROM turns CROSS JOIN LATERAL (
      SELECT id, due_at, ${BYTES} AS bytes FROM runs
      WHERE ${FREE_DUE} AND runs.tenant = turns.tenant
      ORDER BY due_at LIMIT ($2::int + (SELECT count(*) FROM turns) - 1) / greatest((SELECT count(*) FROM turns), 1)
      FOR NO KEY UPDATE SKIP LOCKED) AS own
  ),
  ordered AS (
    SELECT id, bytes, row_number() OVER (ORDER BY round, turn) AS place
    FROM (SELECT *, row_number() OVER (PARTITION BY turn ORDER BY due_at) AS round FROM found) AS rounds
  ),
  chosen AS (
    SELECT id, place, bytes FROM (SELECT *, sum(bytes) OVER (ORDER BY place) AS up_to FROM ordered) AS sums
    WHERE place <= $2::int AND (place = 1 OR up_to <= $4::bigint)
  )
  UPDATE runs SET ${LOSE_HOLDER}, holder = $3::text, epoch = epoch + 1 FROM chosen WHERE runs.id = chosen.id
  RETURNING runs.id, runs.epoch, runs.tenant, chosen.bytes, chosen.place`;

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

interface Due {
  readonly id: string;
  readonly epoch: number;
  readonly tenant: string;
  readonly bytes: number;
  readonly place: number;
}

function inOrder(rows: readonly Due[]): DueRun[] {
  return [...rows]
    .sort((a, b) => a.place - b.place)
    .map(({ id, epoch, tenant, bytes }) => ({ runId: id, epoch, tenant, bytes }));
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
      // Looks, then claims the run only as it was seen; the next look sees a faster holder.
      for (;;) {
        const result = await pool.use(async (connection): Promise<ClaimResult | undefined> => {
          const [run] = await connection.query<Target>(LOOK, [runId, now()]);
          if (!run) return { state: 'missing' };
          const current = run.is_alive ? (run.holder ?? undefined) : undefined;
          const obstacle = claimObstacle({ status: statusOf(run.status) }, current);
          if (obstacle) return obstacle;
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
    async claimDue(holder, limit, { maxBytes = Number.MAX_SAFE_INTEGER, after = '', except = [] } = {}) {
      return await pool.use(async (connection) => {
        const bounds = [now(), limit, holder, maxBytes, arrayText(except)];
        const all = connection.query<Due>(CLAIM_ALL_DUE, bounds);
        const left = connection.query<{ yes: boolean }>(IS_ANY_DUE, [now()]);
        await together<unknown>([all, left]);
        if ((await all).length > 0 || (await left)[0]?.yes !== true) return inOrder(await all);
        const freed = connection.query(FREE_LEFT_BEHIND, [now()]);
        const inTurn = connection.query<Due>(CLAIM_IN_TURN, [...bounds, after]);
        await together<unknown>([freed, inTurn]);
        return inOrder(await inTurn);
      });
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
        await connection.query(EXPIRE_HOLDER, [holder, now()]);
      });
    },
  };
}
