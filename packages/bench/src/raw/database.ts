import { randomBytes } from 'node:crypto';
import { DatabaseSync } from '@photostructure/sqlite';
import { nodeId } from '../load/workloads.ts';
import type { RawEvent } from './rows.ts';

/** One run's part of a transaction: the run's row on creation, its events, its new head. */
export interface RawUnit {
  /** Short number of the run; its public id is only in the run's row. */
  readonly rid: number;
  readonly create?: { readonly runId: Buffer; readonly at: number };
  readonly isOver: boolean;
  readonly events: readonly RawEvent[];
}

/** SQLite answers at once, PostgreSQL later. */
export interface RawDatabase {
  commit(units: readonly RawUnit[]): void | Promise<void>;
  read(runId: Buffer): readonly RawEvent[] | Promise<readonly RawEvent[]>;
  close(): void | Promise<void>;
}

/** The same on SQLite, where nothing has to be waited for. */
interface RawFile extends RawDatabase {
  commit(units: readonly RawUnit[]): void;
  read(runId: Buffer): readonly RawEvent[];
  close(): void;
}

/** Short keys, numbers for repeated words, times relative to the run: no fatter than a careful host would store it. */
const SCHEMA = `
  CREATE TABLE runs (rid INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, created_at INTEGER NOT NULL, is_over INTEGER NOT NULL,
    next_seq INTEGER NOT NULL, tenant INTEGER NOT NULL, workflow INTEGER NOT NULL, batch BLOB NOT NULL);
  CREATE TABLE events (rid INTEGER NOT NULL, seq INTEGER NOT NULL, type INTEGER NOT NULL, at INTEGER NOT NULL, node INTEGER,
    payload TEXT NOT NULL, PRIMARY KEY (rid, seq)) WITHOUT ROWID;
`;

const FULL = 2;
export const TYPES = ['run.started', 'node.started', 'node.completed', 'run.completed'];

/** SQLite with the durable settings of the host: WAL, and a sync before every commit returns. */
export function openRawDatabase(file: string): RawFile {
  const db = new DatabaseSync(file);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  const { synchronous } = db.prepare('PRAGMA synchronous').get() as { synchronous: number };
  if (synchronous !== FULL)
    throw new Error('the sketch would not sync on commit, so its figures would mean nothing');
  db.exec(SCHEMA);
  const insertRun = db.prepare('INSERT INTO runs VALUES (?, ?, ?, ?, ?, 1, 2, ?)');
  const updateRun = db.prepare('UPDATE runs SET is_over = ?, next_seq = ?, batch = ? WHERE rid = ?');
  const insertEvent = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)');
  const selectEvents = db.prepare(
    `SELECT seq, type, runs.created_at + at AS at, node, payload FROM runs JOIN events USING (rid) WHERE id = ? ORDER BY seq`,
  );
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');

  function write({ rid, create, isOver, events }: RawUnit): void {
    const nextSeq = (events.at(-1)?.seq ?? -1) + 1;
    if (create === undefined) updateRun.run(Number(isOver), nextSeq, randomBytes(16), rid);
    else insertRun.run(rid, create.runId, create.at, Number(isOver), nextSeq, randomBytes(16));
    for (const { seq, type, afterMs, nodeId: node, payload } of events) {
      insertEvent.run(rid, seq, TYPES.indexOf(type), afterMs, nodeNumber(node), payload);
    }
  }

  return {
    commit(units) {
      begin.run();
      for (const unit of units) write(unit);
      commit.run();
    },
    read: (runId) => (selectEvents.all(runId) as unknown as RawRow[]).map(toEvent),
    close: () => db.close(),
  };
}

export interface RawRow {
  readonly seq: number;
  readonly type: number;
  readonly at: number;
  readonly node: number | null;
  readonly payload: string;
}

export function nodeNumber(id: string | null): number | null {
  return id === null ? null : Number(id.slice(1)) - 1;
}

export function toEvent({ seq, type, at, node, payload }: RawRow): RawEvent {
  return {
    seq,
    type: TYPES[type] ?? '',
    at,
    afterMs: 0,
    nodeId: node === null ? null : nodeId(node),
    payload,
  };
}
