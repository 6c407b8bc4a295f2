import type { Command, RunUnit } from '@weft/engine';
import { runIdBytes } from '../runs/codec.ts';
import type { Connection } from '../file/connection.ts';

type Signal = NonNullable<RunUnit['notify']>[number];

/** Puts a command into the inbox of a run and makes it due; the same command twice is one. */
export type Accept = (
  run: { readonly runId: string; readonly rid: number },
  commandId: string,
  command: Command,
) => void;

export function prepareAccept({ db, clock, knownRuns }: Connection): Accept {
  const insert = db.prepare(
    'INSERT INTO commands (rid, id, accepted_at, body) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const makeDue = db.prepare('UPDATE runs SET inbox = inbox + 1, due_at = 0 WHERE rid = ?');

  return ({ runId, rid }, commandId, command) => {
    const { changes } = insert.run(rid, commandId, clock(), JSON.stringify(command));
    if (changes === 0) return;
    makeDue.run(rid);
    knownRuns.forget(runId);
  };
}

/** Delivers a signal of the run with this number to an active one of the same tenant; no other run waits for it. */
export function prepareDeliver(connection: Connection): (senderRid: number, signal: Signal) => void {
  const accept = prepareAccept(connection);
  // Restates isOpen and ownRun.
  const findOpen = connection.db.prepare<{ rid: number }>(
    'SELECT rid FROM runs WHERE id = ? AND status < 6 AND tenant = (SELECT tenant FROM runs WHERE rid = ?)',
  );

  return (senderRid, { runId, commandId, command }) => {
    const id = runIdBytes(runId);
    const run = id && findOpen.get(id, senderRid);
    if (run) accept({ runId, rid: run.rid }, commandId, command);
  };
}
