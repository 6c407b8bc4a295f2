import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Listed, RunFilter, RunPage, RunRow } from '@weft/engine';
import { sourceTag } from '@weft/engine/store-rules';
import { statusNumber } from '../../status-number.ts';
import type { Connection } from '../file/connection.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { SqlValue, Statement } from '../file/driver.ts';
import { RUN_COLUMNS, type RunReader, type StoredRun } from './read-run.ts';

/** Looked at per turn of the event loop: a filter that matches little in a million runs must not stop the others. */
const SCAN_STEP = 1_000;

/** Where a scan stands: everything newer (by creation time, then rid) has been looked at. */
interface Place {
  readonly createdAt: number;
  readonly rid: number;
}

interface Query {
  readonly tenant: number;
  /** Only when filtered by it; then the list of tagged runs is walked instead of that of all. */
  readonly tag: string | undefined;
  readonly since: number;
  readonly conditions: string;
  readonly values: readonly SqlValue[];
}

type ListRuns = (tenant: string, filter: RunFilter, page: RunPage) => Promise<Listed<RunRow>>;

/** What is still wanted of a page. */
interface Wanted {
  readonly rows: number;
  readonly bytes: number;
}

export function prepareListRuns({ db, strings }: Connection, runs: RunReader): ListRuns {
  const statements = new Map<string, Statement<StoredRun>>();
  const stepEnds = {
    all: db.prepare<{ created_at: number; rid: number }>(`${walk('runs')} LIMIT 1 OFFSET ${SCAN_STEP - 1}`),
    tagged: db.prepare<{ created_at: number; rid: number }>(
      `${walk('run_tags')} LIMIT 1 OFFSET ${SCAN_STEP - 1}`,
    ),
  };

  function statementFor({ tag, conditions }: Query): Statement<StoredRun> {
    const source = tag === undefined ? walk('runs') : walk('run_tags');
    const sql = `
      SELECT ${RUN_COLUMNS} FROM (${source} LIMIT ${SCAN_STEP}) AS step CROSS JOIN runs ON runs.rid = step.rid
      WHERE TRUE ${conditions} ORDER BY step.created_at DESC, step.rid DESC LIMIT ?`;
    const known = statements.get(sql) ?? db.prepare<StoredRun>(sql);
    statements.set(sql, known);
    return known;
  }

  /** The matching runs of one step, and where the next step begins; undefined at the end of the list. */
  function step(query: Query, place: Place, wanted: Wanted): { found: StoredRun[]; next: Place | undefined } {
    const from = [
      query.tenant,
      ...(query.tag === undefined ? [] : [query.tag]),
      place.createdAt,
      place.rid,
      query.since,
    ];
    const found: StoredRun[] = [];
    let bytes = 0;
    // One by one: records may be large, and no more of them are read than the page may hold.
    for (const row of statementFor(query).iterate(...from, ...query.values, wanted.rows)) {
      found.push(row);
      bytes += bytesOf(row);
      if (bytes > wanted.bytes) break;
    }
    const end = (query.tag === undefined ? stepEnds.all : stepEnds.tagged).get(...from);
    return { found, next: end && { createdAt: end.created_at, rid: end.rid } };
  }

  return async (tenant, filter, page) => {
    const start = placeOf(page.cursor, filter.until);
    const query = queryOf(strings.find(tenant), filter, (word) => strings.find(word));
    const { maxBytes = Number.POSITIVE_INFINITY } = page;
    const found: StoredRun[] = [];
    let bytes = 0;
    // One more than the page holds shows whether there is a next one.
    const isFull = (): boolean => found.length > page.limit || (found.length > 1 && bytes > maxBytes);
    for (let place: Place | undefined = query && start; query && place && !isFull(); ) {
      const result = step(query, place, { rows: page.limit + 1 - found.length, bytes: maxBytes - bytes });
      for (const row of result.found) {
        found.push(row);
        bytes += bytesOf(row);
      }
      const last = result.found.at(-1);
      // A step that was cut short by its bytes continues where it was cut.
      place = bytes > maxBytes && last !== undefined ? placeAt(last) : result.next;
      if (place && !isFull()) await nextTurn();
    }
    const rows = isFull() ? found.slice(0, -1) : found;
    const last = rows.at(-1);
    const isMore = rows.length < found.length && last !== undefined;
    return {
      rows: rows.map((stored) => runs.rowFrom(stored)),
      ...(isMore && { nextCursor: encodeCursor([last.created_at, last.rid]) }),
    };
  };
}

function bytesOf({ more }: StoredRun): number {
  return more?.length ?? 0;
}

function placeAt({ created_at, rid }: StoredRun): Place {
  return { createdAt: created_at, rid };
}

function walk(table: 'runs' | 'run_tags'): string {
  const tag = table === 'run_tags' ? 'AND tag = ?' : '';
  return `SELECT created_at, rid FROM ${table} WHERE tenant = ? ${tag} AND (created_at, rid) < (?, ?) AND created_at >= ?
    ORDER BY created_at DESC, rid DESC`;
}

/** `until` is exclusive, and no run has a rid below 1; so the place before it is one where rids begin. */
function placeOf(cursor: string | undefined, until = Number.MAX_SAFE_INTEGER): Place {
  const [createdAt = until, rid = 0] = cursor === undefined ? [] : decodeCursor(cursor, 2);
  return createdAt < until ? { createdAt, rid } : { createdAt: until, rid: 0 };
}

const HAS_TAG = `EXISTS (SELECT 1 FROM run_tags
  WHERE run_tags.tenant = runs.tenant AND tag = ? AND run_tags.created_at = runs.created_at AND run_tags.rid = runs.rid)`;

function queryOf(
  tenant: number | undefined,
  filter: RunFilter,
  find: (word: string) => number | undefined,
): Query | undefined {
  const workflow = filter.workflowId === undefined ? undefined : find(filter.workflowId);
  if (tenant === undefined || (filter.workflowId !== undefined && workflow === undefined)) return undefined;
  const statuses = filter.status?.map(statusNumber);
  const alsoTagged = filter.source === undefined ? undefined : filter.tag;
  return {
    tenant,
    // Of two lists that could be walked, that of what started a run: the tag is then asked of each.
    tag: filter.source === undefined ? filter.tag : sourceTag(filter.source),
    since: filter.since ?? Number.MIN_SAFE_INTEGER,
    conditions:
      (filter.quarantined ? 'AND quarantined IS NOT NULL AND status < 6 ' : '') +
      (statuses ? `AND status IN (${statuses.join(',')}) ` : '') +
      (workflow === undefined ? '' : 'AND workflow = ? ') +
      (alsoTagged === undefined ? '' : `AND ${HAS_TAG}`),
    values: [
      ...(workflow === undefined ? [] : [workflow]),
      ...(alsoTagged === undefined ? [] : [alsoTagged]),
    ],
  };
}
