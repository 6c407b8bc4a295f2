import type { Listed, RunFilter, RunPage, RunRow } from '@weft/engine';
import { sourceTag } from '@weft/engine/store-rules';
import { decodeCursor, encodeCursor } from './codec.ts';
import { statusNumber } from '../../status-number.ts';
import type { Pool } from '../connections/pool.ts';
import { readRows } from './read-rows.ts';
import { RUN_COLUMNS, runFrom, type StoredRun } from './read-run.ts';
import { arrayText, type Scalar } from './rows.ts';

type ListRuns = (tenant: string, filter: RunFilter, page: RunPage) => Promise<Listed<RunRow>>;

/** Newest first by creation, and of the same millisecond what was written last. */
export function prepareListRuns(pool: Pool, clock: (() => number) | undefined): ListRuns {
  return async (tenant, filter, page) => {
    const { text, values } = queryOf(tenant, filter, page);
    const found = await readRows<FoundRun>(pool, text, [clock?.() ?? null, ...values]);
    const listed = pageFrom(found, page.limit, runFrom, placeOf);
    const last = found.at(-1);
    // Records beyond the bytes were found and not sent.
    const isCut = last !== undefined && last.found > found.length && found.length <= page.limit;
    return isCut ? { ...listed, nextCursor: encodeCursor(placeOf(last)) } : listed;
  };
}

interface FoundRun extends StoredRun {
  /** With those that were left out because of their bytes. */
  readonly found: number;
}

function placeOf({ created_at, ord }: StoredRun): readonly number[] {
  return [created_at, ord];
}

/** One more row than asked for shows whether there is a next page. */
export function pageFrom<Stored, Row>(
  found: readonly Stored[],
  limit: number,
  rowFrom: (stored: Stored) => Row,
  placeOf: (stored: Stored) => readonly (string | number)[],
): Listed<Row> {
  const stored = found.slice(0, limit);
  const last = stored.at(-1);
  const isMore = found.length > limit && last !== undefined;
  return { rows: stored.map(rowFrom), ...(isMore && { nextCursor: encodeCursor(placeOf(last)) }) };
}

/** The text depends only on which filters are set, so that each combination is prepared once. */
function queryOf(tenant: string, filter: RunFilter, page: RunPage): { text: string; values: Scalar[] } {
  const values: Scalar[] = [];
  const next = (value: Scalar) => `$${values.push(value) + 1}`;
  const conditions = [`runs.tenant = ${next(tenant)}::text`];
  const walked = filter.source === undefined ? filter.tag : sourceTag(filter.source);
  const tag = walked === undefined ? '' : tagged(next(walked));
  if (filter.source !== undefined && filter.tag !== undefined) conditions.push(hasTag(next(filter.tag)));
  if (filter.status) {
    conditions.push(`status = ANY (${next(arrayText(filter.status.map(statusNumber)))}::smallint[])`);
  }
  if (filter.quarantined) conditions.push('quarantined IS NOT NULL AND status < 6');
  if (filter.workflowId !== undefined) conditions.push(`workflow = ${next(filter.workflowId)}::text`);
  if (filter.since !== undefined) conditions.push(`runs.created_at >= ${next(filter.since)}::bigint`);
  if (filter.until !== undefined) conditions.push(`runs.created_at < ${next(filter.until)}::bigint`);
  if (page.cursor !== undefined) {
    const [createdAt, ord] = decodeCursor(page.cursor, ['number', 'number']);
    conditions.push(`(runs.created_at, runs.ord) < (${next(createdAt)}::bigint, ${next(ord)}::bigint)`);
  }
  const text = `
    SELECT * FROM (
      SELECT ${RUN_COLUMNS}, count(*) OVER ()::int AS found, row_number() OVER newest AS line,
        sum(octet_length(record)) OVER newest AS up_to
      FROM (SELECT runs.* FROM runs ${tag} WHERE ${conditions.join(' AND ')}
            ORDER BY runs.created_at DESC, runs.ord DESC LIMIT ${next(page.limit + 1)}::int) AS runs
      WINDOW newest AS (ORDER BY runs.created_at DESC, runs.ord DESC)
    ) AS measured
    WHERE line = 1 OR up_to <= ${next(page.maxBytes ?? Number.MAX_SAFE_INTEGER)}::bigint ORDER BY line`;
  return { text, values };
}

function hasTag(tag: string): string {
  return `EXISTS (SELECT 1 FROM run_tags AS other
    WHERE other.run = runs.id AND other.tenant = runs.tenant AND other.tag = ${tag}::text)`;
}

function tagged(tag: string): string {
  return `JOIN run_tags ON run_tags.run = runs.id AND run_tags.tenant = runs.tenant AND run_tags.tag = ${tag}::text`;
}
