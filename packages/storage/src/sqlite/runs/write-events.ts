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
  /** By the number of rows, without and with an overlay in the first of them; made when first needed. */
  const insertPlain: Statement<unknown>[] = [];
  const insertWithOverlay: Statement<unknown>[] = [];

  function rowsStatement(rows: number, hasOverlay: boolean): Statement<unknown> {
    // FAIL, because ABORT would keep a journal per statement; whatever fails here rolls the whole group back anyway.
    const overlay = hasOverlay ? ', overlay, overlay_sum' : '';
    return ((hasOverlay ? insertWithOverlay : insertPlain)[rows] ??= db.prepare(
      `INSERT OR FAIL INTO events (rid, seq, type, at, node, payload, sum${overlay})
       VALUES ${placeholders(rows, hasOverlay)}`,
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

  /** Of the rows that are being gathered. Kept, because an array that grows by a value at a time is copied again and again. */
  const values: SqlValue[] = [];
  let bound = 0;
  let rows = 0;
  let hasOverlay = false;

  function flush(): void {
    if (rows > 0) rowsStatement(rows, hasOverlay).get(...values.slice(0, bound));
    bound = 0;
    rows = 0;
  }

  function bind(value: SqlValue): void {
    values[bound] = value;
    bound += 1;
  }

  return (events, run) => {
    const { runId, rid, createdAt } = run;
    // A write that failed may have left some.
    bound = 0;
    rows = 0;
    for (const event of events) {
      const { seq, overlay } = event;
      if (overlay !== undefined || event.causeSeq !== undefined || rows === MOST_ROWS) flush();
      if (event.causeSeq !== undefined) {
        writeWhole(event, run);
        continue;
      }
      if (rows === 0) {
        bind(rid);
        bind(seq);
        hasOverlay = overlay !== undefined;
      }
      bind(strings.shorten(event.type));
      bind(event.at - createdAt);
      bind(node(event));
      bind(event.payload);
      bind(eventSum(runId, event));
      if (overlay !== undefined) {
        bind(overlay);
        bind(overlaySum(runId, seq, overlay));
      }
      rows += 1;
    }
    flush();
  };
}

/**
 * All rows share the run's number and count on from the first sequence. Only the first event of a unit usually has an overlay, and what is
 * not bound costs nothing.
 */
function placeholders(rows: number, hasOverlay: boolean): string {
  const overlay = (index: number): string => (index === 0 ? ', ?, ?' : ', NULL, NULL');
  return Array.from(
    { length: rows },
    (_, index) => `(?1, ?2 + ${index}, ?, ?, ?, ?, ?${hasOverlay ? overlay(index) : ''})`,
  ).join(', ');
}
