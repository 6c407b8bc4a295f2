import type { DueDocument, DueDocuments } from '@weft/engine';
import { together } from '../connections/connection.ts';
import { nowSql } from '../connections/now.ts';
import type { Pool } from '../connections/pool.ts';
import { type DocumentRow, documentFrom } from './documents.ts';

interface DueRow extends Omit<DocumentRow, 'ord'> {
  readonly tenant: string;
  readonly scope: string;
  readonly place: number;
}

const TIMED = 'collection = $2::text AND due_at IS NOT NULL';
const DUE = `${TIMED} AND due_at <= ${nowSql(1)} AND (expires_at IS NULL OR expires_at > ${nowSql(1)})`;
const KEY = 'tenant, collection, scope, id';
const LEASE = `UPDATE documents SET due_at = ${nowSql(1)} + $4::bigint FROM chosen
  WHERE (documents.tenant, documents.collection, documents.scope, documents.id)
    = (chosen.tenant, chosen.collection, chosen.scope, chosen.id)
  RETURNING documents.tenant, documents.scope, documents.id, body, at, expires_at, batch, chosen.place`;

/** Everything that is due, unless it is more than may be taken: then nothing. */
const CLAIM_ALL = `
  WITH fits AS MATERIALIZED (
    SELECT count(*) <= $3::int AS yes FROM (SELECT 1 FROM documents WHERE ${DUE} ORDER BY due_at LIMIT $3::int + 1) AS due
  ),
  chosen AS (
    SELECT ${KEY}, due_at AS place FROM documents WHERE (SELECT yes FROM fits) AND ${DUE}
    ORDER BY due_at LIMIT $3::int FOR NO KEY UPDATE SKIP LOCKED
  ) ${LEASE}`;

/**
 * One of each tenant, then a second of each. Tenants are found by skipping from one to the next in the index: as many steps as
 * there are tenants with timed documents, and only when more is due than can be taken.
 */
const CLAIM_IN_TURN = `
  WITH RECURSIVE tenants (tenant) AS (
    (SELECT tenant FROM documents WHERE ${TIMED} ORDER BY tenant LIMIT 1)
    UNION ALL
    SELECT (SELECT tenant FROM documents WHERE ${TIMED} AND documents.tenant > tenants.tenant ORDER BY tenant LIMIT 1)
    FROM tenants WHERE tenants.tenant IS NOT NULL
  ),
  turns AS MATERIALIZED (
    SELECT tenant FROM tenants WHERE tenant IS NOT NULL
      AND EXISTS (SELECT 1 FROM documents WHERE ${DUE} AND documents.tenant = tenants.tenant)
    LIMIT $3::int
  ),
  found AS (
    SELECT own.* FROM turns CROSS JOIN LATERAL (
      SELECT ${KEY}, due_at FROM documents WHERE ${DUE} AND documents.tenant = turns.tenant
      ORDER BY due_at LIMIT ($3::int + (SELECT count(*) FROM turns) - 1) / greatest((SELECT count(*) FROM turns), 1)
      FOR NO KEY UPDATE SKIP LOCKED) AS own
  ),
  ordered AS (
    SELECT ${KEY}, row_number() OVER (ORDER BY round, due_at) AS place
    FROM (SELECT *, row_number() OVER (PARTITION BY tenant ORDER BY due_at) AS round FROM found) AS rounds
  ),
  chosen AS (SELECT * FROM ordered WHERE place <= $3::int) ${LEASE}`;

const MOMENT = `SELECT ${nowSql(1)} AS now,
  (SELECT due_at FROM documents WHERE ${TIMED} ORDER BY due_at LIMIT 1) AS next_at`;

interface Moment {
  readonly now: number;
  readonly next_at: number | null;
}

/** A lease moves the due time; any write sets it again. What two processes find at the same time, only one of them gets. */
export function prepareClaimDueDocuments(
  pool: Pool,
  clock: (() => number) | undefined,
): (collection: string, limit: number, leaseMs: number) => Promise<DueDocuments> {
  return (collection, limit, leaseMs) =>
    pool.use(async (connection) => {
      const at = clock?.() ?? null;
      const all = connection.query<DueRow>(CLAIM_ALL, [at, collection, limit, leaseMs]);
      const moment = connection.query<Moment>(MOMENT, [at, collection]);
      await together<unknown>([all, moment]);
      const rows = await all;
      const [{ now, next_at: nextAt } = { now: 0, next_at: null }] = await moment;
      if (rows.length > 0 || nextAt === null || nextAt > now) return dueFrom(rows, now, nextAt);
      const inTurn = connection.query<DueRow>(CLAIM_IN_TURN, [at, collection, limit, leaseMs]);
      const after = connection.query<Moment>(MOMENT, [at, collection]);
      await together<unknown>([inTurn, after]);
      return dueFrom(await inTurn, now, (await after)[0]?.next_at ?? null);
    });
}

function dueFrom(rows: readonly DueRow[], now: number, nextAt: number | null): DueDocuments {
  const inOrder = [...rows].sort((a, b) => a.place - b.place);
  return {
    now,
    rows: inOrder.map((row): DueDocument => ({ ...documentFrom(row), tenant: row.tenant, scope: row.scope })),
    ...(nextAt !== null && { nextAt }),
  };
}
