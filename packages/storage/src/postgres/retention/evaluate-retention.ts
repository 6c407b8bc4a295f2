import { type Command, type CreationRecord, DamagedRunError, erasedRecord, type Refusal } from '@weft/engine';
import { FIRST_TERMINAL, statusOf } from '../runs/codec.ts';
import type { Draft } from '../commits/draft.ts';
import { storedRecord } from '../runs/origins.ts';
import type { EraseUnit, PurgeUnit } from '../commits/units.ts';

/** Takes the run out of the draft, so that later units of the group miss it as they would in the tables. */
export function evaluatePurge(draft: Draft, unit: PurgeUnit): Refusal | undefined {
  const { found, writes } = draft;
  const parent = found.targets.get(unit.runId)?.parent;
  const isPinned = parent !== undefined && isOpen(draft, parent.id, parent.status);
  const refusal =
    rejectionOf(draft, unit) ??
    (isPinned ? { reason: 'run_pinned', byRunId: parent.id } : undefined) ??
    readersRejection(draft, unit.runId);
  if (refusal) return refusal;
  found.runs.delete(unit.runId);
  writes.purged.set(unit.runId, unit);
  return undefined;
}

export function evaluateErasure(draft: Draft, unit: EraseUnit): Refusal | undefined {
  const { found, writes } = draft;
  const refusal = rejectionOf(draft, unit) ?? readersRejection(draft, unit.runId);
  if (refusal) return refusal;
  const target = found.targets.get(unit.runId);
  // Nobody can say what of a damaged record somebody gave; such a run can be removed.
  if (target?.isDamaged === true) throw new DamagedRunError(unit.runId, undefined);
  const record = recordOf(draft, unit.runId);
  if (!record) return { reason: 'run_missing' };
  const commands = (target?.commands ?? []).map(({ id, command }) => ({
    id,
    command: withoutValues(command),
  }));
  writes.erased.set(unit.runId, {
    unit,
    stored: storedRecord(erasedRecord(record)),
    commands,
  });
  writes.commands.forEach((row, index) => {
    if (row.run === unit.runId) writes.commands[index] = { ...row, command: withoutValues(row.command) };
  });
  return undefined;
}

function rejectionOf(draft: Draft, { runId, tenant }: PurgeUnit | EraseUnit): Refusal | undefined {
  const run = draft.found.runs.get(runId);
  if (run?.tenant !== tenant) return { reason: 'run_missing' };
  // An imported run never goes on, however its log ends.
  const isOver = run.status >= FIRST_TERMINAL || recordOf(draft, runId)?.imported !== undefined;
  return isOver ? undefined : { reason: 'run_open', status: statusOf(run.status) };
}

function recordOf({ found }: Draft, runId: string): CreationRecord | undefined {
  return found.targets.get(runId)?.record ?? found.runs.get(runId)?.created;
}

/** A fork that is under way reads this run's log, directly or through forks in between. */
function readersRejection(draft: Draft, runId: string): Refusal | undefined {
  const byRunId = openReader(draft, runId);
  return byRunId === undefined ? undefined : { reason: 'run_pinned', byRunId };
}

function openReader(draft: Draft, runId: string): string | undefined {
  const { found, writes } = draft;
  const young = writes.newRuns.filter(({ created }) => created?.fork?.sourceRunId === runId);
  for (const { id, status } of [...(found.forks.get(runId) ?? []), ...young]) {
    const reader = isOpen(draft, id, status) ? id : openReader(draft, id);
    if (reader !== undefined) return reader;
  }
  return undefined;
}

/** The group itself may have ended a run, or taken it away. */
function isOpen({ found, writes }: Draft, id: string, status: number): boolean {
  return !writes.purged.has(id) && (found.runs.get(id)?.status ?? status) < FIRST_TERMINAL;
}

/** Of answers and of what children told, only that there were some. */
function withoutValues(command: Command): Command {
  if (command.type === 'resolve' || command.type === 'channel') return { ...command, value: null };
  if (command.type !== 'child') return command;
  const { outputs: _outputs, variables: _variables, ...notice } = command;
  return notice;
}
