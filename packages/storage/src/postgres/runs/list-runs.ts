import type { Listed, RunFilter, RunPage, RunRow, Store } from '@weft/engine';
import { sourceTag } from '@weft/engine/store-rules';
import { decodeCursor, encodeCursor } from './codec.ts';
import { idRange } from '../../id-prefix.ts';
import { statusNumber, statusOf } from '../../status-number.ts';
import type { Pool } from '../connections/pool.ts';
import { readRows } from './read-rows.ts';
import { RUN_COLUMNS, runFrom, type StoredRun } from './read-run.ts';
import { arrayText, type Scalar } from './rows.ts';

type ListRuns = (tenant: string, filter: RunFilter, page: RunPage) => Promise<Listed<RunRow>>;

/** Newest first by creation, and of the same millisecond what was written last; by id where that is asked for. */
export function prepareListRuns(pool: Pool, clock: (() => number) | undefined): ListRuns {
  return async (tenant, filter, page) => {
    const { text, values } = queryOf(tenant, filter, page);
    const found = await readRows<FoundRun>(pool, text, [clock?.() ?? null, ...values]);
    const placeOf = filter.idPrefix === undefined ? timeOf : idOf;
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

function timeOf({ created_at, ord }: StoredRun): readonly number[] {
  return [created_at, ord];
}

function idOf({ id }: StoredRun): readonly string[] {
  return [id];
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

type Next = (value: Scalar) => string;

/** What an index finds, as far as the filter has it. */
function foundBy(tenant: string, filter: RunFilter, next: Next): { tag: string; conditions: string[] } {
  const conditions = [`runs.tenant = ${next(tenant)}::text`];
  const walked = filter.source === undefined ? filter.tag : sourceTag(filter.source);
  const tag = walked === undefined ? '' : tagged(next(walked));
  if (filter.source !== undefined && filter.tag !== undefined) conditions.push(hasTag(next(filter.tag)));
  if (filter.workflowId !== undefined) conditions.push(`workflow = ${next(filter.workflowId)}::text`);
  if (filter.errorCode !== undefined) conditions.push(`error = ${next(filter.errorCode)}::text`);
  if (filter.idPrefix !== undefined) {
    const { from, to } = idRange(filter.idPrefix);
    conditions.push(`runs.id BETWEEN ${next(from)}::uuid AND ${next(to)}::uuid`);
  }
  if (filter.since !== undefined) conditions.push(`runs.created_at >= ${next(filter.since)}::bigint`);
  if (filter.until !== undefined) conditions.push(`runs.created_at < ${next(filter.until)}::bigint`);
  return { tag, conditions };
}

/** What is asked of each run. */
function askedOf(filter: RunFilter, next: Next): string[] {
  const conditions: string[] = [];
  if (filter.status) {
    conditions.push(`status = ANY (${next(arrayText(filter.status.map(statusNumber)))}::smallint[])`);
  }
  if (filter.quarantined) conditions.push('quarantined IS NOT NULL AND status < 6');
  return conditions;
}

/** The text depends only on which filters are set, so that each combination is prepared once. */
function queryOf(tenant: string, filter: RunFilter, page: RunPage): { text: string; values: Scalar[] } {
  const values: Scalar[] = [];
  const next = (value: Scalar) => `$${values.push(value) + 1}`;
  const { tag, conditions } = foundBy(tenant, filter, next);
  conditions.push(...askedOf(filter, next));
  const isById = filter.idPrefix !== undefined;
  const order = isById ? 'runs.id DESC' : 'runs.created_at DESC, runs.ord DESC';
  if (page.cursor !== undefined) conditions.push(after(page.cursor, isById, next));
  const text = `
    SELECT * FROM (
      SELECT ${RUN_COLUMNS}, count(*) OVER ()::int AS found, row_number() OVER newest AS line,
        sum(octet_length(record)) OVER newest AS up_to
      FROM (SELECT runs.* FROM runs ${tag} WHERE ${conditions.join(' AND ')}
            ORDER BY ${order} LIMIT ${next(page.limit + 1)}::int) AS runs
      WINDOW newest AS (ORDER BY ${order})
    ) AS measured
    WHERE line = 1 OR up_to <= ${next(page.maxBytes ?? Number.MAX_SAFE_INTEGER)}::bigint ORDER BY line`;
  return { text, values };
}

function hasTag(tag: string): string {
  return `EXISTS (SELECT 1 FROM run_tags AS other
    WHERE other.run = runs.id AND other.tenant = runs.tenant AND other.tag = ${tag}::text)`;
}

function after(cursor: string, isById: boolean, next: Next): string {
  if (isById) {
    const [id] = decodeCursor(cursor, ['run']);
    return `runs.id < ${next(id)}::uuid`;
  }
  const [createdAt, ord] = decodeCursor(cursor, ['number', 'number']);
  return `(runs.created_at, runs.ord) < (${next(createdAt)}::bigint, ${next(ord)}::bigint)`;
}

function tagged(tag: string): string {
  return `JOIN run_tags ON run_tags.run = runs.id AND run_tags.tenant = runs.tenant AND run_tags.tag = ${tag}::text`;
}

interface CountedRow {
  /** Null in the one row of a count that found nothing. */
  readonly bucket: number | null;
  readonly status: number;
  readonly count: number;
  readonly since: number | null;
}

export function prepareCountRuns(pool: Pool): Store['countRuns'] {
  return async (tenant, filter, bucketMs, most) => {
    const values: Scalar[] = [];
    const next = (value: Scalar) => `$${values.push(value)}`;
    const { tag, conditions } = foundBy(tenant, filter, next);
    const looked = `SELECT runs.created_at, status, quarantined FROM runs ${tag} WHERE ${conditions.join(' AND ')}
      ORDER BY runs.created_at DESC, runs.ord DESC LIMIT ${next(most)}::int + 1`;
    const text = `
      WITH looked AS MATERIALIZED (${looked}),
      cut AS (SELECT CASE WHEN count(*) > ${next(most)}::int THEN min(created_at) END AS since FROM looked)
      SELECT bucket, status, count, since FROM cut LEFT JOIN (
        SELECT created_at / ${next(bucketMs)}::bigint AS bucket, status, count(*)::int AS count FROM looked
        WHERE ${['TRUE', ...askedOf(filter, next)].join(' AND ')} GROUP BY 1, 2) AS counted ON TRUE`;
    const rows = await readRows<CountedRow>(pool, text, values);
    const since = rows[0]?.since ?? undefined;
    return {
      counts: rows.flatMap(({ bucket, status, count }) =>
        bucket === null ? [] : [{ at: bucket * bucketMs, status: statusOf(status), count }],
      ),
      ...(since !== undefined && { countedSince: since }),
    };
  };
}
