import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { RunStatus } from '@weft/engine';
import { runIdText } from '../runs/codec.ts';
import { FIRST_TERMINAL, isStatus, statusOf } from '../../status-number.ts';
import type { Database } from './driver.ts';
import { openDatabase, sqliteCode } from './driver.ts';
import { NotAStoreError, StoreBehindError, StoreTooNewError } from './errors.ts';
import { findDamagedRows } from './check-sums.ts';
import { readHighWaterMark } from './high-water-mark.ts';
import { findLoss, lossBetween } from './loss.ts';
import { SCHEMA_VERSION, schemaVersion } from './migrations.ts';
import { assertOurs, renamedColumn } from './open-file.ts';
import { readProgress } from './progress.ts';
import { NO_TENANT } from '../retention/pending-deletes.ts';

/** One thing wrong with a file. */
export interface Finding {
  readonly check:
    | 'file'
    | 'version'
    | 'behind'
    | 'integrity'
    | 'sequence'
    | 'ending'
    | 'inbox'
    | 'orphan'
    | 'damage';
  readonly runId?: string;
  readonly message: string;
}

const FIRST_VERSION_WITH_SUMS = 6;

/** Enough to see what is wrong, few enough to read. */
const MOST_FINDINGS = 1_000;

/** The event that ends a log when the run has this status. */
const ENDINGS: Partial<Record<RunStatus, string>> = {
  completed: 'run.completed',
  failed: 'run.failed',
  cancelled: 'run.cancelled',
};

/**
 * The full check behind `weft doctor --deep`: the file's own structure, then every run's head against its log. Reads only, and
 * may run next to the owner; it reads everything, so it takes as long as the file is big.
 */
export function checkSqliteFile(file: string): Finding[] {
  const path = resolve(file);
  let db: Database | undefined;
  try {
    db = openDatabase(path, { busyTimeoutMs: 5_000, readOnly: true });
    assertOurs(db, path);
    return checkAll(db, path);
  } catch (error) {
    if (error instanceof NotAStoreError) return [{ check: 'file', message: error.message }];
    if (sqliteCode(error) !== undefined)
      return [{ check: 'file', message: `${path} cannot be read: ${String(error)}` }];
    throw error;
  } finally {
    db?.close();
  }
}

/** Why `openSqliteStore` would not open the file; undefined when it would. Reads only, and may run next to the owner. */
export function sqliteRejection(file: string, isExpected: boolean): Error | undefined {
  const path = resolve(file);
  try {
    // First: the owner may only be ahead of what its mark said before.
    const acknowledged = readHighWaterMark(path);
    if (existsSync(path)) assertKnownSchema(path);
    const loss = findLoss(path, acknowledged, isExpected);
    return loss && new StoreBehindError(path, loss);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function assertKnownSchema(path: string): void {
  const db = openDatabase(path, { busyTimeoutMs: 5_000, readOnly: true });
  try {
    assertOurs(db, path);
    const version = schemaVersion(db);
    if (version > SCHEMA_VERSION) throw new StoreTooNewError(path, version, SCHEMA_VERSION);
  } finally {
    db.close();
  }
}

function checkAll(db: Database, path: string): Finding[] {
  // First: of a database that is not all there, nothing else says anything.
  const behind = checkMark(db, path);
  if (behind.length > 0) return behind;
  const version = schemaVersion(db);
  // What is older is migrated when it is opened next; until then it is as whole as it was.
  if (version < 1 || version > SCHEMA_VERSION) {
    return [
      {
        check: 'version',
        message: `The file has schema version ${version}; this program checks versions 1 to ${SCHEMA_VERSION}.`,
      },
    ];
  }
  // One transaction: every check sees the same moment, also while the owner continues to write.
  db.exec('BEGIN');
  try {
    const integrity = checkIntegrity(db);
    if (integrity.length > 0) return integrity;
    const nameless = checkNames(db);
    if (nameless.length > 0) return nameless;
    return [...checkRuns(db), ...checkOrphans(db), ...checkDamage(db, version)].slice(0, MOST_FINDINGS);
  } finally {
    db.exec('ROLLBACK');
  }
}

/** Whether the database holds all that was acknowledged. */
function checkMark(db: Database, path: string): Finding[] {
  const mark = readHighWaterMark(path);
  if (mark === 'none') return [];
  const loss =
    mark === 'unreadable' ? ({ reason: 'mark_unreadable' } as const) : lossBetween(mark, readProgress(db));
  return loss === undefined
    ? []
    : [{ check: 'behind', message: `${new StoreBehindError(path, loss).message}.` }];
}

function checkDamage(db: Database, version: number): Finding[] {
  const findings: Finding[] = [];
  if (version < FIRST_VERSION_WITH_SUMS) return findings;
  for (const { runId, what, seq } of findDamagedRows(db, version)) {
    const message =
      what === 'event' ? `Event ${seq} is not what was written.` : `The ${what} is not what was written.`;
    findings.push({ check: 'damage', runId, message });
    if (findings.length >= MOST_FINDINGS) break;
  }
  return findings;
}

function checkIntegrity(db: Database): Finding[] {
  const renamed = renamedColumn(db);
  if (renamed !== undefined) return [{ check: 'integrity', message: renamed }];
  const rows = db.prepare<{ integrity_check: string }>(`PRAGMA integrity_check(${MOST_FINDINGS})`).all();
  return rows
    .filter((row) => row.integrity_check !== 'ok')
    .map((row) => ({ check: 'integrity', message: row.integrity_check }));
}

/** What follows names each run by its id. */
function checkNames(db: Database): Finding[] {
  const nameless = db
    .prepare<{ rid: number }>(
      `SELECT rid FROM runs WHERE typeof(id) <> 'blob' OR length(id) <> 16 LIMIT ${MOST_FINDINGS}`,
    )
    .all();
  return nameless.map(({ rid }) => ({
    check: 'damage',
    message: `The id of the run in row ${rid} of the table runs is damaged.`,
  }));
}

interface CheckedRun {
  readonly id: Uint8Array;
  readonly status: number;
  readonly next_seq: number;
  readonly inbox: number;
  /** Where the log begins: 0, or where a fork leaves its source. */
  readonly begin: number;
  /** How many events the log of an import had, where only the first of them are here. */
  readonly whole: number | null;
  readonly events: number;
  readonly first_seq: number | null;
  readonly last_seq: number | null;
  readonly endings: number;
  readonly last_type: string | null;
  readonly waiting: number;
}

/** A creation record that is damaged is found by its sum; until then it says nothing. */
const READABLE = 'CASE WHEN json_valid(more) THEN more END';

/** A log is free of gaps exactly when there are as many events as lie between where it begins and where the head says it ends. */
const CHECKED_RUNS = `
  SELECT runs.id, status, next_seq, inbox,
    coalesce(json_extract(${READABLE}, '$.fork.fromSeq'), 0) AS begin,
    json_extract(${READABLE}, '$.imported.totalEvents') AS whole,
    (SELECT count(*) FROM events WHERE events.rid = runs.rid) AS events,
    (SELECT min(seq) FROM events WHERE events.rid = runs.rid) AS first_seq,
    (SELECT max(seq) FROM events WHERE events.rid = runs.rid) AS last_seq,
    (SELECT count(*) FROM events JOIN words ON words.id = events.type
      WHERE events.rid = runs.rid AND word IN ('run.completed', 'run.failed', 'run.cancelled')) AS endings,
    (SELECT coalesce(word, type) FROM events LEFT JOIN words ON words.id = events.type
      WHERE events.rid = runs.rid ORDER BY seq DESC LIMIT 1) AS last_type,
    (SELECT count(*) FROM commands WHERE commands.rid = runs.rid AND verdict IS NULL) AS waiting
  FROM runs WHERE tenant <> ${NO_TENANT} ORDER BY rid`;

function checkRuns(db: Database): Finding[] {
  const findings: Finding[] = [];
  for (const run of db.prepare<CheckedRun>(CHECKED_RUNS).iterate()) {
    findings.push(...findingsOf(run));
    if (findings.length >= MOST_FINDINGS) break;
  }
  return findings;
}

function findingsOf(run: CheckedRun): Finding[] {
  const runId = runIdText(run.id);
  const findings: Finding[] = [];
  const { begin, first_seq: firstSeq, last_seq: lastSeq, events, next_seq: end } = run;
  if (events !== end - begin || (firstSeq ?? begin) !== begin || (lastSeq ?? begin - 1) !== end - 1) {
    const message = `The head says ${end - begin} events, numbered from ${begin} on; the log has ${events}, the last one numbered ${lastSeq ?? begin - 1}.`;
    findings.push({ check: 'sequence', runId, message });
  }
  if (!isEndedRightly(run)) {
    const status = isStatus(run.status) ? statusOf(run.status) : `in the unknown status ${run.status}`;
    const message = `The run is ${status}; the log has ${run.endings} terminal events and ends with ${run.last_type ?? 'nothing'}.`;
    findings.push({ check: 'ending', runId, message });
  }
  if (run.inbox !== run.waiting) {
    findings.push({
      check: 'inbox',
      runId,
      message: `The head counts ${run.inbox} waiting commands; there are ${run.waiting}.`,
    });
  }
  return findings;
}

/** A run that is over has one terminal event, the last; an open one has none. */
function isEndedRightly(run: CheckedRun): boolean {
  if (!isStatus(run.status)) return false;
  const ending = run.status < FIRST_TERMINAL ? undefined : ENDINGS[statusOf(run.status)];
  if (ending === undefined || (run.endings === 0 && isEndElsewhere(run))) return run.endings === 0;
  return run.last_type === ending && run.endings === 1;
}

/** A fork that took over its source's log to the end, or an import of which only the first events are here. */
function isEndElsewhere({ begin, events, whole }: CheckedRun): boolean {
  return (begin > 0 && events === 0) || (whole !== null && whole > events);
}

function checkOrphans(db: Database): Finding[] {
  const owners = (table: string) =>
    db
      .prepare<{ rid: number }>(
        `SELECT DISTINCT rid FROM ${table} WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.rid = ${table}.rid) LIMIT ${MOST_FINDINGS}`,
      )
      .all();
  const isKept = schemaVersion(db) >= 4;
  return ['events', 'commands', 'checkpoints', 'outbox', 'run_tags', ...(isKept ? ['forks'] : [])].flatMap(
    (table) =>
      owners(table).map(({ rid }) => ({
        check: 'orphan',
        message: `${table} has rows of run number ${rid}, which does not exist.`,
      })),
  );
}
