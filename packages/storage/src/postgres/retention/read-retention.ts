import type { Listed, Page } from '@weft/engine';
import { decodeCursor, isRunId } from '../runs/codec.ts';
import { pageFrom } from '../runs/list-runs.ts';
import { nowSql } from '../connections/now.ts';
import type { Pool } from '../connections/pool.ts';
import { readRows } from '../runs/read-rows.ts';
import type { Scalar } from '../runs/rows.ts';
import type { ExpiredRun, Tombstone } from '../commits/units.ts';

export interface RetentionReader {
  readTombstone(runId: string, tenant: string): Promise<Tombstone | undefined>;
  listExpired(tenant: string | undefined, before: number, page: Page): Promise<Listed<ExpiredRun>>;
}

const TOMBSTONE = `SELECT purged_at AS "purgedAt", until FROM tombstones
  WHERE run = $1::uuid AND tenant = $2::text AND until > ${nowSql(3)}`;

interface ExpiredRow extends ExpiredRun {
  readonly ord: number;
}

export function prepareRetentionReader(pool: Pool, clock: (() => number) | undefined): RetentionReader {
  return {
    async readTombstone(runId, tenant) {
      if (!isRunId(runId)) return undefined;
      const [row] = await readRows<Tombstone>(pool, TOMBSTONE, [runId, tenant, clock?.() ?? null]);
      return row && { ...row };
    },
    async listExpired(tenant, before, page) {
      const { text, values } = expiredQuery(tenant, before, page);
      const found = await readRows<ExpiredRow>(pool, text, values);
      return pageFrom(
        found,
        page.limit,
        ({ ord: _ord, ...row }) => row,
        ({ endedAt, ord }) => [endedAt, ord],
      );
    },
  };
}

/** By the time of the end; what is read has ended, so its place in the list never changes. */
function expiredQuery(
  tenant: string | undefined,
  before: number,
  page: Page,
): { text: string; values: Scalar[] } {
  const ended = 'coalesce(ended_at, created_at)';
  const values: Scalar[] = [before, page.limit + 1];
  const conditions = [`status >= 6 AND ${ended} < $1::bigint AND created_at < $1::bigint`];
  if (tenant !== undefined) conditions.push(`tenant = $${values.push(tenant)}::text`);
  if (page.cursor !== undefined) {
    const [endedAt, ord] = decodeCursor(page.cursor, ['number', 'number']);
    conditions.push(`(${ended}, ord) > ($${values.push(endedAt)}::bigint, $${values.push(ord)}::bigint)`);
  }
  const text = `SELECT id AS "runId", tenant, ${ended} AS "endedAt", next_seq AS events, ord FROM runs
    WHERE ${conditions.join(' AND ')} ORDER BY ${ended}, ord LIMIT $2::int`;
  return { text, values };
}
