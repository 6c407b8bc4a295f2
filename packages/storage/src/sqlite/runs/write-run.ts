import type { Refusal, RunUnit } from '@weft/engine';
import {
  appendRejection,
  creationRejection,
  dueAt as dueTime,
  endsClaim,
  listedTags,
  unmetCondition,
} from '@weft/engine/store-rules';
import { prepareCosts } from './costs.ts';
import { batchBytes, recordColumns, runIdBytes } from './codec.ts';
import { statusNumber, statusOf } from '../../status-number.ts';
import { checkpointSum } from '../../checksum.ts';
import type { Connection } from '../file/connection.ts';
import { prepareDeliver } from '../claims/inbox.ts';
import type { KnownRun } from './known-runs.ts';
import { prepareEnqueue } from '../documents/outbox-lanes.ts';
import { prepareRunLookup } from './run-lookup.ts';
import { prepareHeadWriter, shortenOptional, since } from './write-head.ts';
import { prepareEventWriter, type WrittenRun } from './write-events.ts';

/** What a write has to know of the run it goes to, its status as it is stored. */
interface Target
  extends Pick<KnownRun, 'rid' | 'createdAt' | 'epoch' | 'nextSeq' | 'holder' | 'dueAt' | 'inbox'> {
  readonly status: number;
}

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
  const updateHead = prepareHeadWriter(connection);
  const costs = prepareCosts(connection);
  const lookup = prepareRunLookup(connection);
  const findTarget = db.prepare<Target>(
    `SELECT rid, created_at AS createdAt, epoch, status, next_seq AS nextSeq, holder, due_at AS dueAt, inbox
     FROM runs WHERE id = ?`,
  );
  const insertRun = db.prepare(INSERT_RUN);
  const insertTag = db.prepare(
    'INSERT OR IGNORE INTO run_tags (tenant, tag, created_at, rid) VALUES (?, ?, ?, ?)',
  );
  const insertFork = db.prepare('INSERT OR IGNORE INTO forks (source, rid) VALUES (?, ?)');
  const consume = db.prepare('UPDATE commands SET verdict = ? WHERE rid = ? AND id = ? AND verdict IS NULL');
  const putCheckpoint = db.prepare(
    'INSERT OR REPLACE INTO checkpoints (rid, seq, fold_version, state, sum) VALUES (?, ?, ?, ?, ?)',
  );
  const enqueue = prepareEnqueue(db);

  function create(unit: RunUnit, creation: Creation): Refusal | undefined {
    const { record, holder } = creation;
    const { tenant, workflow, origin, principal, created_at, scope, more, sum } = recordColumns(
      record,
      strings,
    );
    const id = runIdBytes(unit.runId);
    if (!id) throw new TypeError(`A run id must be a UUID in lower case; got ${JSON.stringify(unit.runId)}.`);
    // Whether the id is taken, the insert finds out: only what is refused for another reason needs a look.
    if (unmetCondition(lookup, unit, creation)) return creationRejection(lookup, unit, creation);

    const { head } = unit;
    const isHeld = holder !== undefined && !endsClaim(unit);
    const dueAt = dueTime(head, 0);
    const inserted = insertRun.run(
      id,
      tenant,
      workflow,
      origin,
      principal,
      created_at,
      scope,
      more,
      statusNumber(head.status),
      unit.expectedSeq + unit.events.length,
      holder === undefined ? 0 : 1,
      isHeld ? holders.numberOf(holder) : null,
      dueAt,
      head.wakeAt,
      since(created_at, head.startedAt),
      since(created_at, head.endedAt),
      shortenOptional(strings, head.currentNodeId),
      shortenOptional(strings, head.errorCode),
      batchBytes(unit.batchId),
      sum,
    );
    if (inserted.changes === 0) return { reason: 'run_exists' };
    const rid = Number(inserted.lastInsertRowid);
    for (const tag of listedTags(record)) insertTag.get(tenant, tag, created_at, rid);
    if (record.fork) noteFork(record.fork.sourceRunId, rid);
    if (isHeld) {
      const run: KnownRun = {
        rid,
        createdAt: created_at,
        epoch: 1,
        status: head.status,
        nextSeq: unit.expectedSeq + unit.events.length,
        holder: holders.numberOf(holder),
        dueAt,
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

  function append(unit: RunUnit): Refusal | undefined {
    let run = knownRuns.get(unit.runId);
    if (run === undefined || appendRejection(run, unit)) {
      // Nothing is refused from memory alone.
      run = readTarget(unit.runId);
      const refusal = appendRejection(run, unit);
      if (refusal || !run) return refusal;
    }
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
    return (
      row && {
        ...row,
        status: statusOf(row.status),
        head: undefined,
        record: undefined,
        events: undefined,
        bytes: 0,
      }
    );
  }

  function consumeCommands(unit: RunUnit, rid: number): number {
    let consumed = 0;
    for (const { commandId, commandResult } of unit.consume ?? []) {
      consumed += consume.run(JSON.stringify(commandResult), rid, commandId).changes;
    }
    return consumed;
  }

  function writeParts(unit: RunUnit, run: WrittenRun): void {
    const { runId, rid } = run;
    writeEvents(unit.events, run);
    if (unit.checkpoint) {
      const { seq, foldVersion, state } = unit.checkpoint;
      putCheckpoint.get(rid, seq, foldVersion, state, checkpointSum(runId, seq, foldVersion, state));
    }
    for (const row of unit.outbox ?? []) enqueue(rid, row);
    if (unit.usage) costs.add(unit.tenant, runId, unit.usage);
    // Last: a run that signals itself finds its head already written.
    for (const signal of unit.notify ?? []) deliver(rid, signal);
  }

  return (unit) => (unit.create ? create(unit, unit.create) : append(unit));
}
