import { checkpointSum, isWholeEvent } from '../../checksum.ts';
import type { RecordColumns } from '../runs/codec.ts';
import type { Connection } from './connection.ts';
import { type EventRow, eventOf, keptRecord, ORIGIN } from '../runs/read-run.ts';

const PAGE = 2_000;
const FIRST = '00000000-0000-0000-0000-000000000000';

const RECORDS = `SELECT id, tenant, workflow, created_at, scope, ${ORIGIN}, record, sum FROM runs
  WHERE id > $1::uuid ORDER BY id LIMIT ${PAGE}`;

const EVENTS = `SELECT run, seq, type, at, node, cause, payload, overlay, sum, overlay_sum FROM events
  WHERE (run, seq) > ($1::uuid, $2::int) ORDER BY run, seq LIMIT ${PAGE}`;

const CHECKPOINTS = `SELECT run, seq, fold_version, state, sum FROM checkpoints
  WHERE run > $1::uuid AND sum IS NOT NULL ORDER BY run LIMIT ${PAGE}`;

type StoredEventRow = EventRow & { readonly run: string };

interface CheckpointRow {
  readonly run: string;
  readonly seq: number;
  readonly fold_version: number;
  readonly state: string;
  readonly sum: number;
}

/** Reads every row that carries a checksum, page by page, and says which are not what was written. */
export async function* findDamagedRows(connection: Connection): AsyncGenerator<string> {
  yield* damagedRecords(connection);
  yield* damagedEvents(connection);
  yield* damagedCheckpoints(connection);
}

async function* damagedRecords(connection: Connection): AsyncGenerator<string> {
  for (let last = FIRST; ; ) {
    const page = await connection.query<RecordColumns>(RECORDS, [last]);
    for (const row of page)
      if (keptRecord(row).isDamaged) yield `${row.id}: the creation record is not what was written`;
    const end = page.at(-1);
    if (end === undefined || page.length < PAGE) return;
    last = end.id;
  }
}

async function* damagedEvents(connection: Connection): AsyncGenerator<string> {
  for (let [run, seq] = [FIRST, -1]; ; ) {
    const page = await connection.query<StoredEventRow>(EVENTS, [run, seq]);
    for (const row of page) {
      const sums = { sum: row.sum, overlaySum: row.overlay_sum };
      if (!isWholeEvent(row.run, eventOf(row), sums))
        yield `${row.run}: event ${row.seq} is not what was written`;
    }
    const end = page.at(-1);
    if (end === undefined || page.length < PAGE) return;
    [run, seq] = [end.run, end.seq];
  }
}

async function* damagedCheckpoints(connection: Connection): AsyncGenerator<string> {
  for (let last = FIRST; ; ) {
    const page = await connection.query<CheckpointRow>(CHECKPOINTS, [last]);
    for (const { run, seq, fold_version, state, sum } of page)
      if (checkpointSum(run, seq, fold_version, state) !== sum)
        yield `${run}: the checkpoint is not what was written`;
    const end = page.at(-1);
    if (end === undefined || page.length < PAGE) return;
    last = end.run;
  }
}
