import { DamagedRunError } from '@weft/engine';
import { checkpointSum, isWholeEvent } from '../../checksum.ts';
import { type RecordColumns, recordFrom, runIdText } from '../runs/codec.ts';
import type { Database } from './driver.ts';
import type { StoredEventRow } from '../runs/read-run.ts';
import { NO_TENANT } from '../retention/pending-deletes.ts';
import { openStringTable, type StringTable } from '../runs/string-table.ts';

/** Rows that are not what was written, one after the other; `seq` is undefined where it is no event. */
export interface DamagedRow {
  readonly runId: string;
  readonly what: 'event' | 'creation record' | 'checkpoint' | 'quarantine' | 'inbox';
  readonly seq?: number;
}

interface EventRow extends StoredEventRow {
  readonly id: Uint8Array;
  readonly created_at: number;
}

interface CheckpointRow {
  readonly id: Uint8Array;
  readonly seq: number;
  readonly fold_version: number;
  readonly state: string;
  readonly sum: number;
}

interface BrokenText {
  readonly id: Uint8Array;
  readonly what: 'quarantine' | 'inbox';
}

const RECORDS = `SELECT id, tenant, workflow, origin, principal, created_at, scope, more, sum FROM runs
  WHERE tenant <> ${NO_TENANT} ORDER BY rid`;

const EVENTS = `SELECT runs.id, runs.created_at, events.seq, type, at, events.node, cause, payload, overlay, events.sum, overlay_sum
  FROM events JOIN runs USING (rid) WHERE tenant <> ${NO_TENANT} ORDER BY events.rid, events.seq`;

const CHECKPOINTS = `SELECT runs.id, seq, fold_version, state, checkpoints.sum FROM checkpoints JOIN runs USING (rid)
  WHERE checkpoints.sum IS NOT NULL ORDER BY rid`;

/** What has no checksum must be JSON at least. */
const BROKEN_TEXTS = `
  SELECT id, 'quarantine' AS what FROM runs WHERE suspicion IS NOT NULL AND NOT json_valid(suspicion)
  UNION SELECT runs.id, 'inbox' FROM commands JOIN runs USING (rid)
    WHERE NOT json_valid(body) OR (verdict IS NOT NULL AND NOT json_valid(verdict))`;

/** The table of runs has quarantines from here on. */
const FIRST_VERSION_WITH_QUARANTINE = 7;

/** Reads every row that carries a checksum, and what else must be read to continue a run. */
export function* findDamagedRows(db: Database, version: number): Generator<DamagedRow> {
  const strings = openStringTable(db);
  for (const row of db.prepare<RecordColumns & { readonly id: Uint8Array }>(RECORDS).iterate()) {
    if (!isWholeRecord(row, strings)) yield { runId: runIdText(row.id), what: 'creation record' };
  }
  for (const row of db.prepare<EventRow>(EVENTS).iterate()) {
    if (!isWhole(row, strings)) yield { runId: runIdText(row.id), what: 'event', seq: row.seq };
  }
  for (const { id, seq, fold_version, state, sum } of db.prepare<CheckpointRow>(CHECKPOINTS).iterate()) {
    const runId = runIdText(id);
    if (checkpointSum(runId, seq, fold_version, state) !== sum) yield { runId, what: 'checkpoint' };
  }
  if (version < FIRST_VERSION_WITH_QUARANTINE) return;
  for (const { id, what } of db.prepare<BrokenText>(BROKEN_TEXTS).iterate())
    yield { runId: runIdText(id), what };
}

function isWholeRecord(row: RecordColumns & { readonly id: Uint8Array }, strings: StringTable): boolean {
  try {
    recordFrom(runIdText(row.id), row, strings);
    return true;
  } catch (error) {
    if (error instanceof DamagedRunError) return false;
    throw error;
  }
}

function isWhole(row: EventRow, strings: StringTable): boolean {
  const { seq, sum, overlay_sum: overlaySum, payload, overlay } = row;
  const type = strings.read(row.type);
  const nodeId = row.node === null ? undefined : strings.read(row.node);
  if (type === undefined || (nodeId === undefined && row.node !== null)) return false;
  const event = {
    seq,
    type,
    at: row.created_at + row.at,
    ...(nodeId !== undefined && { nodeId }),
    ...(row.cause !== null && { causeSeq: seq - row.cause }),
    payload,
    ...(overlay !== null && { overlay }),
  };
  return isWholeEvent(runIdText(row.id), event, { sum, overlaySum });
}
