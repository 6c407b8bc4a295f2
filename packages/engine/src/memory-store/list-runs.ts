import { HostError } from '@weft/protocol';
import type { Listed, RunFilter, RunPage } from '../ports/store.ts';
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
  throw new HostError('validation_error', 'cursor is not one this host gave; start again without it.', {
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
    (filter.quarantined === undefined || isQuarantined(run)) &&
    (filter.status === undefined || filter.status.includes(head.status)) &&
    (filter.workflowId === undefined || record.workflowId === filter.workflowId) &&
    (filter.tag === undefined || record.tags.includes(filter.tag)) &&
    (filter.source === undefined || listedTags(record).includes(sourceTag(filter.source))) &&
    (filter.since === undefined || record.createdAt >= filter.since) &&
    (filter.until === undefined || record.createdAt < filter.until)
  );
}
