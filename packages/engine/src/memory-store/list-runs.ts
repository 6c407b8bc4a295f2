import { HostError } from '@weft/protocol';
import type { Listed, RunCounts, RunFilter, RunPage } from '../ports/store.ts';
import { listedTags, sourceTag } from '../ports/store-rules.ts';
import { isQuarantined, type MemoryData, type MemoryRun } from './data.ts';

export type Position = readonly [createdAt: number, order: number];

/** Newest first. A cursor names the last row given, so rows that arrive meanwhile move nothing. */
export function listRuns(
  data: MemoryData,
  tenant: string,
  filter: RunFilter,
  page: RunPage,
): Listed<MemoryRun> {
  if (filter.idPrefix !== undefined) return listById(data, tenant, filter, page);
  const after = page.cursor === undefined ? undefined : decodeCursor(page.cursor);
  const matching = [...data.runs.values()]
    .filter(
      (run) =>
        run.record.tenant === tenant && matches(run, filter) && (!after || isOlder(positionOf(run), after)),
    )
    .sort((a, b) => (isOlder(positionOf(a), positionOf(b)) ? 1 : -1));
  const limit = Math.min(page.limit, countWithin(matching, page.maxBytes ?? Number.POSITIVE_INFINITY));
  return takePage(matching, limit, (run) => encodeCursor(positionOf(run)));
}

/** Ids begin with their time of creation, so the greatest first is nearly the newest first. */
function listById(data: MemoryData, tenant: string, filter: RunFilter, page: RunPage): Listed<MemoryRun> {
  const after = page.cursor === undefined ? undefined : decodeIdCursor(page.cursor);
  const matching = [...data.runs.values()]
    .filter(
      (run) => run.record.tenant === tenant && matches(run, filter) && (!after || run.record.runId < after),
    )
    .sort((a, b) => (a.record.runId < b.record.runId ? 1 : -1));
  const limit = Math.min(page.limit, countWithin(matching, page.maxBytes ?? Number.POSITIVE_INFINITY));
  return takePage(matching, limit, (run) => encodeCursor([run.record.runId]));
}

export function countRuns(
  data: MemoryData,
  tenant: string,
  filter: RunFilter,
  bucketMs: number,
  most: number,
): RunCounts {
  const { status: _status, quarantined: _quarantined, ...indexed } = filter;
  const looked = [...data.runs.values()]
    .filter((run) => run.record.tenant === tenant && matches(run, indexed))
    .sort((a, b) => (isOlder(positionOf(a), positionOf(b)) ? 1 : -1));
  const counts = new Map<string, RunCounts['counts'][number]>();
  for (const { record, head } of looked.slice(0, most).filter((run) => matches(run, filter))) {
    const at = Math.floor(record.createdAt / bucketMs) * bucketMs;
    const key = `${at} ${head.status}`;
    counts.set(key, { at, status: head.status, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  const last = looked[most - 1];
  const isCut = looked.length > most && last !== undefined;
  return { counts: [...counts.values()], ...(isCut && { countedSince: last.record.createdAt }) };
}

function countWithin(runs: readonly MemoryRun[], maxBytes: number): number {
  let bytes = 0;
  const over = runs.findIndex(({ record }, index) => {
    bytes += JSON.stringify(record).length;
    return index > 0 && bytes > maxBytes;
  });
  return over < 0 ? runs.length : over;
}

export function takePage<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (row: Row) => string,
): Listed<Row> {
  const given = rows.slice(0, limit);
  const last = given.at(-1);
  return last !== undefined && rows.length > limit
    ? { rows: given, nextCursor: cursorOf(last) }
    : { rows: given };
}

export function encodeCursor(position: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

export function decodeCursor(cursor: string): Position {
  const position = parseOrUndefined(Buffer.from(cursor, 'base64url').toString());
  if (Array.isArray(position) && Number.isSafeInteger(position[0]) && Number.isSafeInteger(position[1])) {
    return [position[0], position[1]];
  }
  throw wrongCursor();
}

function decodeIdCursor(cursor: string): string {
  const place = parseOrUndefined(Buffer.from(cursor, 'base64url').toString());
  if (Array.isArray(place) && typeof place[0] === 'string') return place[0];
  throw wrongCursor();
}

function wrongCursor(): HostError {
  return new HostError('validation_error', 'cursor is not one this host gave; start again without it.', {
    field: 'cursor',
  });
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function positionOf(run: MemoryRun): Position {
  return [run.record.createdAt, run.order];
}

export function isOlder(a: Position, b: Position): boolean {
  return a[0] === b[0] ? a[1] < b[1] : a[0] < b[0];
}

function matches(run: MemoryRun, filter: RunFilter): boolean {
  const { record, head } = run;
  return (
    wasCreatedWithin(record, filter) &&
    (filter.quarantined === undefined || isQuarantined(run)) &&
    (filter.status === undefined || filter.status.includes(head.status)) &&
    (filter.workflowId === undefined || record.workflowId === filter.workflowId) &&
    (filter.tag === undefined || record.tags.includes(filter.tag)) &&
    (filter.source === undefined || listedTags(record).includes(sourceTag(filter.source))) &&
    (filter.errorCode === undefined || head.errorCode === filter.errorCode) &&
    (filter.idPrefix === undefined || record.runId.replaceAll('-', '').startsWith(filter.idPrefix))
  );
}

function wasCreatedWithin({ createdAt }: MemoryRun['record'], { since, until }: RunFilter): boolean {
  return (since === undefined || createdAt >= since) && (until === undefined || createdAt < until);
}
