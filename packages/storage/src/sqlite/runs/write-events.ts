import type { StoredEvent } from '@weft/engine';
import { eventSum, overlaySum } from '../../checksum.ts';
import type { Connection } from '../file/connection.ts';
import type { SqlValue, Statement } from '../file/driver.ts';

/** The run that events go to. */
export interface WrittenRun {
  readonly runId: string;
  readonly rid: number;
  readonly createdAt: number;
}

/** Rows of one statement. Most writes have fewer; those with more take several statements. */
const MOST_ROWS = 16;

/** Writes consecutive events, several rows at a time: a call into SQLite costs as much as a row. */
export function prepareEventWriter({
  db,
  strings,
}: Connection): (events: readonly StoredEvent[], run: WrittenRun) => void {
  const insertWhole = db.prepare(
    `INSERT INTO events (rid, seq, type, at, node, cause, payload, overlay, sum, overlay_sum)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  /** By the number of rows; made when first needed. */
  const insertPlain: Statement<unknown>[] = [];

  function plainStatement(rows: number): Statement<unknown> {
    // FAIL, because ABORT would keep a journal per statement; whatever fails here rolls the whole group back anyway.
    return (insertPlain[rows] ??= db.prepare(
      `INSERT OR FAIL INTO events (rid, seq, type, at, node, payload, sum) VALUES ${plainRows(rows)}`,
    ));
  }

  function node(event: StoredEvent): SqlValue {
    return event.nodeId === undefined ? null : strings.shorten(event.nodeId);
  }

  function writeWhole(event: StoredEvent, { runId, rid, createdAt }: WrittenRun): void {
    const { seq, type, at, causeSeq, payload, overlay } = event;
    const cause = causeSeq === undefined ? null : seq - causeSeq;
    insertWhole.get(
      rid,
      seq,
      strings.shorten(type),
      at - createdAt,
      node(event),
      cause,
      payload,
      overlay ?? null,
      eventSum(runId, event),
      overlay === undefined ? null : overlaySum(runId, seq, overlay),
    );
  }

  return (events, run) => {
    const { runId, rid, createdAt } = run;
    let values: SqlValue[] = [];
    let rows = 0;
    for (const event of events) {
      const isWhole = !isPlain(event);
      if (rows > 0 && (isWhole || rows === MOST_ROWS)) {
        plainStatement(rows).get(...values);
        rows = 0;
      }
      if (isWhole) {
        writeWhole(event, run);
        continue;
      }
      if (rows === 0) values = [rid, event.seq];
      values.push(
        strings.shorten(event.type),
        event.at - createdAt,
        node(event),
        event.payload,
        eventSum(runId, event),
      );
      rows += 1;
    }
    if (rows > 0) plainStatement(rows).get(...values);
  };
}

/** Two columns are empty in most rows, and what is not bound costs nothing. */
function isPlain({ causeSeq, overlay }: StoredEvent): boolean {
  return causeSeq === undefined && overlay === undefined;
}

/** All rows share the run's number and count on from the first sequence. */
function plainRows(count: number): string {
  return Array.from({ length: count }, (_, row) => `(?1, ?2 + ${row}, ?, ?, ?, ?, ?)`).join(', ');
}
