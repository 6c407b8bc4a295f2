import type { RunHead, RunUnit } from '@weft/engine';
import { dueAt as dueTime, endsClaim } from '@weft/engine/store-rules';
import type { Connection } from '../file/connection.ts';
import type { SqlValue } from '../file/driver.ts';
import { batchBytes } from './codec.ts';
import { statusNumber } from '../../status-number.ts';
import type { KnownRun } from './known-runs.ts';
import type { StringTable } from './string-table.ts';

/** Writes what an append changes of a run's row, and notes it on the run. */
export function prepareHeadWriter({
  db,
  strings,
}: Connection): (unit: RunUnit, run: KnownRun, inbox: number) => void {
  // Most appends leave the head as it is, or at least status, claim and due time; leaving those columns out spares the indexes.
  const updateLength = db.prepare('UPDATE runs SET next_seq = ?, last_batch = ? WHERE rid = ?');
  const updateFacts = db.prepare(
    'UPDATE runs SET next_seq = ?, started = ?, ended = ?, node = ?, error = ?, last_batch = ?, wake_at = ?, inbox = ? WHERE rid = ?',
  );
  const updateAll = db.prepare(
    `UPDATE runs SET next_seq = ?, started = ?, ended = ?, node = ?, error = ?, last_batch = ?, wake_at = ?, inbox = ?,
       status = ?, holder = ?, due_at = ? WHERE rid = ?`,
  );

  return (unit, run, inbox) => {
    const { head } = unit;
    const nextSeq = unit.expectedSeq + unit.events.length;
    const batch = batchBytes(unit.batchId);
    const holder = endsClaim(unit) ? null : run.holder;
    const dueAt = dueTime(head, inbox);
    const isPlaceSame = head.status === run.status && holder === run.holder && dueAt === run.dueAt;
    if (isPlaceSame && inbox === run.inbox && run.head !== undefined && isSameHead(head, run.head)) {
      updateLength.get(nextSeq, batch, run.rid);
    } else {
      const facts = [
        nextSeq,
        since(run.createdAt, head.startedAt),
        since(run.createdAt, head.endedAt),
        shortenOptional(strings, head.currentNodeId),
        shortenOptional(strings, head.errorCode),
        batch,
        head.wakeAt,
        inbox,
      ];
      if (isPlaceSame) updateFacts.get(...facts, run.rid);
      else updateAll.get(...facts, statusNumber(head.status), holder, dueAt, run.rid);
    }
    run.status = head.status;
    run.nextSeq = nextSeq;
    run.holder = holder;
    run.dueAt = dueAt;
    run.inbox = inbox;
    run.head = head;
  };
}

export function shortenOptional(strings: StringTable, word: string | undefined): SqlValue {
  return word === undefined ? null : strings.shorten(word);
}

export function since(createdAt: number, time: number | undefined): number | null {
  return time === undefined ? null : time - createdAt;
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
