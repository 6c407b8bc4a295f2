import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Listed, RunCounts, RunFilter, RunPage, RunRow, RunStatus } from '@weft/engine';
import { statusOf } from '../../status-number.ts';
import type { Connection } from '../file/connection.ts';
import type { Statement } from '../file/driver.ts';
import { withoutNameless } from './nameless-rows.ts';
import { RUN_COLUMNS, type RunReader, type StoredRun } from './read-run.ts';
import { type Place, type RunWalk, type WalkedRun, walkFor } from './run-walks.ts';

/** Looked at per turn of the event loop: a filter that matches little in a million runs must not stop the others. */
const SCAN_STEP = 1_000;

export interface RunLists {
  list(tenant: string, filter: RunFilter, page: RunPage): Promise<Listed<RunRow>>;
  count(tenant: string, filter: RunFilter, bucketMs: number, most: number): Promise<RunCounts>;
}

/** What is still wanted of a page. */
interface Wanted {
  readonly rows: number;
  readonly bytes: number;
}

interface CountedRow {
  readonly bucket: number;
  readonly status: number;
  readonly count: number;
}

export function prepareRunLists(connection: Connection, runs: RunReader): RunLists {
  const { db, strings } = connection;
  const statements = new Map<string, Statement<unknown>>();

  function prepared<Row>(sql: string): Statement<Row> {
    const known = statements.get(sql) ?? db.prepare<Row>(sql);
    statements.set(sql, known);
    return known as Statement<Row>;
  }

  /** The last run of a step that begins at the place; undefined at the end of the walk. */
  function endOf({ text, from }: RunWalk, place: Place): WalkedRun | undefined {
    const last = `${text} LIMIT 1 OFFSET ${SCAN_STEP - 1}`;
    return prepared<WalkedRun>(
      `SELECT runs.rid, runs.id, runs.created_at FROM (${last}) AS step CROSS JOIN runs ON runs.rid = step.rid`,
    ).get(...from(place));
  }

  /** The matching runs of one step, and where the next step begins; undefined at the end of the list. */
  function step(
    walk: RunWalk,
    place: Place,
    wanted: Wanted,
  ): { found: StoredRun[]; next: Place | undefined } {
    const found: StoredRun[] = [];
    let bytes = 0;
    const matching = prepared<StoredRun>(
      `SELECT ${RUN_COLUMNS} FROM (${walk.text} LIMIT ${SCAN_STEP}) AS step CROSS JOIN runs ON runs.rid = step.rid
       WHERE TRUE ${walk.conditions} ORDER BY ${walk.order} LIMIT ?`,
    );
    // One by one: records may be large, and no more of them are read than the page may hold.
    for (const row of matching.iterate(...walk.from(place), ...walk.values, wanted.rows)) {
      found.push(row);
      bytes += bytesOf(row);
      if (bytes > wanted.bytes) break;
    }
    const end = endOf(walk, place);
    return { found, next: end && walk.placeAt(end) };
  }

  async function list(tenant: string, filter: RunFilter, page: RunPage): Promise<Listed<RunRow>> {
    const walk = walkFor(strings, tenant, filter, page.cursor);
    const { maxBytes = Number.POSITIVE_INFINITY } = page;
    const found: StoredRun[] = [];
    let bytes = 0;
    // One more than the page holds shows whether there is a next one.
    const isFull = (): boolean => found.length > page.limit || (found.length > 1 && bytes > maxBytes);
    for (let place = walk?.start; walk && place && !isFull(); ) {
      const result = step(walk, place, { rows: page.limit + 1 - found.length, bytes: maxBytes - bytes });
      for (const row of result.found) {
        found.push(row);
        bytes += bytesOf(row);
      }
      const last = result.found.at(-1);
      // A step that was cut short by its bytes continues where it was cut.
      place = bytes > maxBytes && last !== undefined ? walk.placeAt(last) : result.next;
      if (place && !isFull()) await nextTurn();
    }
    const rows = isFull() ? found.slice(0, -1) : found;
    const last = rows.at(-1);
    const isMore = rows.length < found.length && walk !== undefined && last !== undefined;
    return {
      rows: withoutNameless(connection, rows).map((stored) => runs.rowFrom(stored)),
      ...(isMore && { nextCursor: walk.encode(walk.placeAt(last)) }),
    };
  }

  async function count(
    tenant: string,
    filter: RunFilter,
    bucketMs: number,
    most: number,
  ): Promise<RunCounts> {
    const walk = walkFor(strings, tenant, filter);
    const counts = createCounts(bucketMs);
    let place = walk?.start;
    for (let seen = SCAN_STEP; walk && place; seen += SCAN_STEP) {
      const found = prepared<CountedRow>(
        `SELECT runs.created_at / ${bucketMs} AS bucket, status, count(*) AS count
         FROM (${walk.text} LIMIT ${SCAN_STEP}) AS step CROSS JOIN runs ON runs.rid = step.rid
         WHERE TRUE ${walk.conditions} GROUP BY 1, 2`,
      ).all(...walk.from(place), ...walk.values);
      for (const row of found) counts.add(row);
      const end = endOf(walk, place);
      if (end !== undefined && seen >= most) return { counts: counts.all(), countedSince: end.created_at };
      place = end && walk.placeAt(end);
      if (place) await nextTurn();
    }
    return { counts: counts.all() };
  }

  return { list, count };
}

function createCounts(bucketMs: number): { add(row: CountedRow): void; all(): RunCounts['counts'] } {
  const counts = new Map<string, { at: number; status: RunStatus; count: number }>();
  return {
    add({ bucket, status, count }) {
      const key = `${bucket} ${status}`;
      const known = counts.get(key);
      if (known !== undefined) known.count += count;
      else counts.set(key, { at: bucket * bucketMs, status: statusOf(status), count });
    },
    all: () => [...counts.values()],
  };
}

function bytesOf({ more }: StoredRun): number {
  return more?.length ?? 0;
}
