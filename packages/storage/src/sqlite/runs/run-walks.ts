import { HostError } from '@weft/protocol';
import type { RunFilter } from '@weft/engine';
import { sourceTag } from '@weft/engine/store-rules';
import { idRange } from '../../id-prefix.ts';
import { statusNumber } from '../../status-number.ts';
import type { SqlValue } from '../file/driver.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { StringTable } from './string-table.ts';

/** Where a walk stands: everything before it has been looked at. The values by which its index is sorted. */
export type Place = readonly SqlValue[];

/** What every walk tells of a run. */
export interface WalkedRun {
  readonly rid: number;
  readonly id: Uint8Array;
  readonly created_at: number;
}

/**
 * A way through the runs of a tenant by the index that has the fewest of them: by id, by error code, by tag, or by time. The rest of the
 * filter is looked at run by run.
 */
export interface RunWalk {
  /** Rids in the order of the index. */
  readonly text: string;
  /** The same order, of `step`. */
  readonly order: string;
  readonly start: Place;
  /** Parameters of `text`. */
  readonly from: (place: Place) => readonly SqlValue[];
  readonly placeAt: (run: WalkedRun) => Place;
  readonly encode: (place: Place) => string;
  /** What is still to be asked of each run. */
  readonly conditions: string;
  readonly values: readonly SqlValue[];
}

interface Words {
  readonly tenant: number;
  readonly workflow: number | undefined;
  readonly error: SqlValue | undefined;
}

const NO_WORD = 0;

/** Undefined when no run can match: the dictionary does not have the word. */
export function walkFor(
  strings: Pick<StringTable, 'find'>,
  tenant: string,
  filter: RunFilter,
  cursor?: string,
): RunWalk | undefined {
  const { workflowId, errorCode } = filter;
  const found = strings.find(tenant);
  const workflow = workflowId === undefined ? undefined : strings.find(workflowId);
  const error = errorCode === undefined ? undefined : (strings.find(errorCode) ?? errorCode);
  const words: Words = { tenant: found ?? NO_WORD, workflow, error };
  // Made in any case: it also says what is wrong with the cursor.
  const walk =
    filter.idPrefix === undefined
      ? walkByTime(words, filter, cursor)
      : walkById(words, filter, filter.idPrefix, cursor);
  return found === undefined || (workflowId !== undefined && workflow === undefined) ? undefined : walk;
}

function walkByTime(words: Words, filter: RunFilter, cursor: string | undefined): RunWalk {
  const { since = Number.MIN_SAFE_INTEGER } = filter;
  const [table, narrowed, by] = narrowest(words, filter);
  const start = startOf(cursor, filter.until);
  return {
    text: `SELECT created_at, rid FROM ${table} WHERE tenant = ? ${narrowed} AND (created_at, rid) < (?, ?) AND created_at >= ?
      ORDER BY created_at DESC, rid DESC`,
    order: 'step.created_at DESC, step.rid DESC',
    start,
    from: (place) => [words.tenant, ...by, ...place, since],
    placeAt: ({ created_at, rid }) => [created_at, rid],
    encode: (place) => encodeCursor(place.map(Number)),
    ...conditionsOf([
      ...always(words, filter),
      // One of them is what is walked, unless that is the error.
      ...tagsOf(filter)
        .slice(words.error === undefined ? 1 : 0)
        .map(tagged),
    ]),
  };
}

function narrowest({ error }: Words, filter: RunFilter): [table: string, narrowed: string, by: SqlValue[]] {
  if (error !== undefined) return ['runs INDEXED BY runs_failed', 'AND error = ?', [error]];
  const [tag] = tagsOf(filter);
  return tag === undefined ? ['runs', '', []] : ['run_tags', 'AND tag = ?', [tag]];
}

function walkById(words: Words, filter: RunFilter, idPrefix: string, cursor: string | undefined): RunWalk {
  const { from, to } = idRange(idPrefix);
  const first = Buffer.from(from, 'hex');
  // One byte more than the greatest id: behind it, and before all others.
  const behind = Buffer.from(`${to}00`, 'hex');
  const { since, until } = filter;
  return {
    text: 'SELECT id, rid FROM runs INDEXED BY runs_by_id WHERE tenant = ? AND id < ? AND id >= ? ORDER BY id DESC',
    order: 'step.id DESC',
    start: [cursor === undefined ? behind : idFrom(cursor, behind)],
    from: (place) => [words.tenant, ...place, first],
    placeAt: ({ id }) => [id],
    encode: ([id]) => Buffer.from(id as Uint8Array).toString('base64url'),
    ...conditionsOf([
      ...always(words, filter),
      ...(words.error === undefined ? [] : [['error = ?', words.error] as const]),
      ...tagsOf(filter).map(tagged),
      ...(since === undefined ? [] : [['runs.created_at >= ?', since] as const]),
      ...(until === undefined ? [] : [['runs.created_at < ?', until] as const]),
    ]),
  };
}

type Condition = readonly [text: string, value?: SqlValue];

function always({ workflow }: Words, { status, quarantined }: RunFilter): Condition[] {
  return [
    ...(quarantined ? [['quarantined IS NOT NULL AND status < 6'] as const] : []),
    ...(status === undefined ? [] : [[`status IN (${status.map(statusNumber).join(',')})`] as const]),
    ...(workflow === undefined ? [] : [['workflow = ?', workflow] as const]),
  ];
}

/** Tags that a run must have: what started it is one of them, and the rarer. */
function tagsOf({ source, tag }: RunFilter): string[] {
  return [...(source === undefined ? [] : [sourceTag(source)]), ...(tag === undefined ? [] : [tag])];
}

function tagged(tag: string): Condition {
  const same = 't.tenant = runs.tenant AND t.created_at = runs.created_at AND t.rid = runs.rid';
  return [`EXISTS (SELECT 1 FROM run_tags AS t WHERE t.tag = ? AND ${same})`, tag];
}

function conditionsOf(all: readonly Condition[]): Pick<RunWalk, 'conditions' | 'values'> {
  return {
    conditions: all.map(([text]) => `AND ${text}`).join(' '),
    values: all.flatMap(([, value]) => (value === undefined ? [] : [value])),
  };
}

/** `until` is exclusive, and no run has a rid below 1; so the place before it is one where rids begin. */
function startOf(cursor: string | undefined, until = Number.MAX_SAFE_INTEGER): Place {
  const [createdAt = until, rid = 0] = cursor === undefined ? [] : decodeCursor(cursor, 2);
  return createdAt < until ? [createdAt, rid] : [until, 0];
}

function idFrom(cursor: string, behind: Buffer): Buffer {
  const id = Buffer.from(cursor, 'base64url');
  if (id.length === behind.length - 1) return Buffer.compare(id, behind) < 0 ? id : behind;
  throw new HostError('validation_error', 'cursor is not one this host gave; start again without it.', {
    field: 'cursor',
  });
}
