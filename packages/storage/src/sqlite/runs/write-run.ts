import type { CreationRecord, Refusal, RunHead, RunUnit } from '@weft/engine';
import {
  batchBytes,
  FIRST_TERMINAL,
  recordColumns,
  runIdBytes,
  runIdText,
  statusNumber,
  statusOf,
} from './codec.ts';
import { checkpointSum } from '../../checksum.ts';
import type { Connection } from '../file/connection.ts';
import type { SqlValue } from '../file/driver.ts';
import { prepareDeliver } from '../claims/inbox.ts';
import type { KnownRun } from './known-runs.ts';
import { PARKED } from '../documents/outbox-lanes.ts';
import { preparePutSuspicion } from './suspicions.ts';
import { prepareEventWriter, type WrittenRun } from './write-events.ts';

/** What a write has to know of the run it goes to. */
type Target = Pick<
  KnownRun,
  'rid' | 'createdAt' | 'epoch' | 'status' | 'nextSeq' | 'holder' | 'dueAt' | 'inbox'
>;

type Creation = NonNullable<RunUnit['create']>;

const INSERT_RUN = `
  INSERT INTO runs (id, tenant, workflow, origin, principal, created_at, scope, more, status, next_seq, epoch, holder, due_at,
    wake_at, inbox, started, ended, node, error, last_batch, sum)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO NOTHING`;

/** Checks a run unit and writes it. Every condition is checked before the first write, so a refusal leaves nothing to undo. */
export function prepareRunWriter(connection: Connection): (unit: RunUnit) => Refusal | undefined {
  const { db, strings, holders, knownRuns } = connection;
  const deliver = prepareDeliver(connection);
  const writeEvents = prepareEventWriter(connection);
  const putSuspicion = preparePutSuspicion(db);
  const findTarget = db.prepare<Target>(
    `SELECT rid, created_at AS createdAt, epoch, status, next_seq AS nextSeq, holder, due_at AS dueAt, inbox
     FROM runs WHERE id = ?`,
  );
  const findKept = db.prepare('SELECT 1 FROM runs WHERE id = ? AND erased IS NULL');
  const findActive = db.prepare<{ id: Uint8Array }>(
    'SELECT id FROM runs WHERE tenant = ? AND scope = ? AND scope IS NOT NULL AND status < 6 ORDER BY rid LIMIT 1',
  );
  const insertRun = db.prepare(INSERT_RUN);
  const insertTag = db.prepare(
    'INSERT OR IGNORE INTO run_tags (tenant, tag, created_at, rid) VALUES (?, ?, ?, ?)',
  );
  const insertFork = db.prepare('INSERT OR IGNORE INTO forks (source, rid) VALUES (?, ?)');
  // Most appends leave the head as it is, or at least status, claim and due time; leaving those columns out spares the indexes.
  const updateLength = db.prepare('UPDATE runs SET next_seq = ?, last_batch = ? WHERE rid = ?');
  const updateFacts = db.prepare(
    'UPDATE runs SET next_seq = ?, started = ?, ended = ?, node = ?, error = ?, last_batch = ?, wake_at = ?, inbox = ? WHERE rid = ?',
  );
  const updateAll = db.prepare(
    `UPDATE runs SET next_seq = ?, started = ?, ended = ?, node = ?, error = ?, last_batch = ?, wake_at = ?, inbox = ?,
       status = ?, holder = ?, due_at = ? WHERE rid = ?`,
  );
  const consume = db.prepare('UPDATE commands SET verdict = ? WHERE rid = ? AND id = ? AND verdict IS NULL');
  const putCheckpoint = db.prepare(
    'INSERT OR REPLACE INTO checkpoints (rid, seq, fold_version, state, sum) VALUES (?, ?, ?, ?, ?)',
  );
  const insertOutbox = db.prepare(
    `INSERT OR IGNORE INTO outbox (id, rid, topic, lane, due_at, next_at, attempts, body)
     VALUES (?1, ?2, ?3, ?4, ?5, CASE WHEN EXISTS (SELECT 1 FROM outbox WHERE lane = ?4 AND next_at IS NOT NULL)
       THEN ${PARKED} ELSE ?5 END, 0, ?6)`,
  );

  function shortenOptional(word: string | undefined): SqlValue {
    return word === undefined ? null : strings.shorten(word);
  }

  function refusalOfCreation(
    unit: RunUnit,
    { record, exclusiveScope, whileOpen, whileKept = [] }: Creation,
    id: Uint8Array,
    tenant: number,
  ): Refusal | undefined {
    if (whileOpen !== undefined && !isOpen(whileOpen))
      return { reason: findTarget.get(id) ? 'run_exists' : 'parent_ended' };
    if (!whileKept.every(isKept)) return { reason: findTarget.get(id) ? 'run_exists' : 'source_gone' };
    const active = exclusiveScope ? otherActive(id, tenant, record.scopeId ?? null) : undefined;
    if (active) return { reason: 'scope_active', activeRunId: runIdText(active.id) };
    if (unit.expectedSeq !== firstSeq(record) || !isNumbered(unit))
      return { reason: findTarget.get(id) ? 'run_exists' : 'sequence_conflict' };
    return undefined;
  }

  function create(unit: RunUnit, creation: Creation): Refusal | undefined {
    const { record, holder } = creation;
    const { tenant, workflow, origin, principal, created_at, scope, more, sum } = recordColumns(
      record,
      strings,
    );
    const id = runIdBytes(unit.runId);
    if (!id) throw new TypeError(`A run id must be a UUID in lower case; got ${JSON.stringify(unit.runId)}.`);
    const refusal = refusalOfCreation(unit, creation, id, tenant);
    if (refusal) return refusal;

    const { head } = unit;
    const status = statusNumber(head.status);
    const isOver = status >= FIRST_TERMINAL;
    const isHeld = holder !== undefined && !unit.release && !isOver;
    const inserted = insertRun.run(
      id,
      tenant,
      workflow,
      origin,
      principal,
      created_at,
      scope,
      more,
      status,
      unit.expectedSeq + unit.events.length,
      holder === undefined ? 0 : 1,
      isHeld ? holders.numberOf(holder) : null,
      isOver ? null : head.wakeAt,
      head.wakeAt,
      since(created_at, head.startedAt),
      since(created_at, head.endedAt),
      shortenOptional(head.currentNodeId),
      shortenOptional(head.errorCode),
      batchBytes(unit.batchId),
      sum,
    );
    if (inserted.changes === 0) return { reason: 'run_exists' };
    const rid = Number(inserted.lastInsertRowid);
    for (const tag of record.tags) insertTag.get(tenant, tag, created_at, rid);
    if (record.fork) noteFork(record.fork.sourceRunId, rid);
    if (isHeld) {
      const run: KnownRun = {
        rid,
        createdAt: created_at,
        epoch: 1,
        status,
        nextSeq: unit.expectedSeq + unit.events.length,
        holder: holders.numberOf(holder),
        dueAt: head.wakeAt,
        inbox: 0,
        head,
        record,
        events: [],
        bytes: 0,
      };
      knownRuns.note(unit.runId, run, unit.events);
    }
    writeParts(unit, { runId: unit.runId, rid, createdAt: created_at });
    return undefined;
  }

  /** So that the source is not taken away while the fork needs it. */
  function noteFork(sourceRunId: string, rid: number): void {
    insertFork.get(runIdBytes(sourceRunId) ?? sourceRunId, rid);
  }

  function isKept(runId: string): boolean {
    const id = runIdBytes(runId);
    return id !== undefined && findKept.get(id) !== undefined;
  }

  function isOpen(runId: string): boolean {
    const id = runIdBytes(runId);
    const run = id && findTarget.get(id);
    return run !== undefined && run.status < FIRST_TERMINAL;
  }

  /** Another run of the scope that is under way. Creating the same run again is no conflict with itself. */
  function otherActive(id: Uint8Array, tenant: number, scope: string | null): { id: Uint8Array } | undefined {
    return scope === null || findTarget.get(id) ? undefined : findActive.get(tenant, scope);
  }

  function append(unit: RunUnit): Refusal | undefined {
    let run = knownRuns.get(unit.runId);
    // Nothing is refused from memory alone.
    if (run === undefined || refusalOfAppend(run, unit)) run = readTarget(unit.runId);
    const refusal = refusalOfAppend(run, unit);
    if (refusal || !run) return refusal;
    const inbox = unit.consume === undefined ? run.inbox : run.inbox - consumeCommands(unit, run.rid);
    updateHead(unit, run, inbox);
    knownRuns.note(unit.runId, run, unit.events);
    writeParts(unit, { runId: unit.runId, rid: run.rid, createdAt: run.createdAt });
    return undefined;
  }

  function readTarget(runId: string): KnownRun | undefined {
    knownRuns.forget(runId);
    const id = runIdBytes(runId);
    const row = id && findTarget.get(id);
    return row && { ...row, head: undefined, record: undefined, events: undefined, bytes: 0 };
  }

  function consumeCommands(unit: RunUnit, rid: number): number {
    let consumed = 0;
    for (const { commandId, verdict } of unit.consume ?? []) {
      consumed += consume.run(JSON.stringify(verdict), rid, commandId).changes;
    }
    return consumed;
  }

  function updateHead(unit: RunUnit, run: KnownRun, inbox: number): void {
    const { head } = unit;
    const nextSeq = unit.expectedSeq + unit.events.length;
    const batch = batchBytes(unit.batchId);
    const status = statusNumber(head.status);
    const isOver = status >= FIRST_TERMINAL;
    const holder = unit.release || isOver ? null : run.holder;
    const dueAt = dueTime(head, isOver, inbox);
    const isPlaceSame = status === run.status && holder === run.holder && dueAt === run.dueAt;
    if (isPlaceSame && inbox === run.inbox && run.head !== undefined && isSameHead(head, run.head)) {
      updateLength.get(nextSeq, batch, run.rid);
    } else {
      const facts = [
        nextSeq,
        since(run.createdAt, head.startedAt),
        since(run.createdAt, head.endedAt),
        shortenOptional(head.currentNodeId),
        shortenOptional(head.errorCode),
        batch,
        head.wakeAt,
        inbox,
      ];
      if (isPlaceSame) updateFacts.get(...facts, run.rid);
      else updateAll.get(...facts, status, holder, dueAt, run.rid);
    }
    run.status = status;
    run.nextSeq = nextSeq;
    run.holder = holder;
    run.dueAt = dueAt;
    run.inbox = inbox;
    run.head = head;
  }

  function writeParts(unit: RunUnit, run: WrittenRun): void {
    const { runId, rid } = run;
    writeEvents(unit.events, run);
    if (unit.checkpoint) {
      const { seq, foldVersion, state } = unit.checkpoint;
      putCheckpoint.get(rid, seq, foldVersion, state, checkpointSum(runId, seq, foldVersion, state));
    }
    for (const row of unit.outbox ?? []) {
      insertOutbox.get(row.id, rid, row.topic, row.lane ?? null, row.dueAt, JSON.stringify(row.body));
    }
    if (unit.heldAgainst) putSuspicion(rid, unit.heldAgainst.suspicion);
    // Last: a run that tells itself something finds its head already written.
    for (const notice of unit.notify ?? []) deliver(rid, notice);
  }

  return (unit) => (unit.create ? create(unit, unit.create) : append(unit));
}

function refusalOfAppend(run: KnownRun | undefined, unit: RunUnit): Refusal | undefined {
  if (!run) return { reason: 'run_missing' };
  if (run.epoch !== unit.epoch) return { reason: 'stale_epoch' };
  if (run.status >= FIRST_TERMINAL) return { reason: 'run_terminal', status: statusOf(run.status) };
  if (run.holder === null) return { reason: 'stale_epoch' };
  return run.nextSeq === unit.expectedSeq && isNumbered(unit) ? undefined : { reason: 'sequence_conflict' };
}

/** A fork's log begins where it leaves its source. */
function firstSeq({ fork }: CreationRecord): number {
  return fork?.fromSeq ?? 0;
}

/** The events' own numbers go on from the expected one, so that no caller can write a gap. */
function isNumbered({ events, expectedSeq }: RunUnit): boolean {
  let next = expectedSeq;
  for (const { seq } of events) {
    if (seq !== next) return false;
    next += 1;
  }
  return true;
}

/** A waiting command makes a run due at once, whatever the head says; a run that is over is never due. */
function dueTime(head: RunHead, isOver: boolean, inbox: number): number | null {
  if (isOver) return null;
  return inbox > 0 ? 0 : head.wakeAt;
}

function isSameHead(a: RunHead, b: RunHead): boolean {
  return (
    a.status === b.status &&
    a.wakeAt === b.wakeAt &&
    a.startedAt === b.startedAt &&
    a.endedAt === b.endedAt &&
    a.currentNodeId === b.currentNodeId &&
    a.errorCode === b.errorCode
  );
}

function since(createdAt: number, time: number | undefined): number | null {
  return time === undefined ? null : time - createdAt;
}
