import {
  type CreationRecord,
  DamagedRunError,
  erasedCommand,
  erasedRecord,
  type Refusal,
} from '@weft/engine';
import { type ForkFacts, isOpen, openReader, ownRun, removalRejection } from '@weft/engine/store-rules';
import type { Draft } from '../commits/draft.ts';
import { storedRecord } from '../runs/origins.ts';
import type { EraseUnit, PurgeUnit } from '../commits/units.ts';

/** Takes the run out of the draft, so that later units of the group miss it as they would in the tables. */
export function evaluatePurge(draft: Draft, unit: PurgeUnit): Refusal | undefined {
  const refusal = rejectionOf(draft, unit);
  if (refusal) return refusal;
  draft.found.runs.delete(unit.runId);
  draft.writes.purged.set(unit.runId, unit);
  return undefined;
}

export function evaluateErasure(draft: Draft, unit: EraseUnit): Refusal | undefined {
  const { found, writes } = draft;
  const refusal = rejectionOf(draft, unit);
  if (refusal) return refusal;
  const target = found.targets.get(unit.runId);
  // What a client gave is not known from a damaged record; such a run can be removed.
  if (target?.isDamaged === true) throw new DamagedRunError(unit.runId, undefined);
  const [run, record] = [found.runs.get(unit.runId), recordOf(draft, unit.runId)];
  if (!run || !record) return { reason: 'run_missing' };
  run.isErased = true;
  const commands = (target?.commands ?? []).map(({ id, command }) => ({
    id,
    command: erasedCommand(command),
  }));
  writes.erased.set(unit.runId, {
    unit,
    stored: storedRecord(erasedRecord(record)),
    commands,
  });
  writes.commands.forEach((row, index) => {
    if (row.run === unit.runId) writes.commands[index] = { ...row, command: erasedCommand(row.command) };
  });
  return undefined;
}

function rejectionOf(draft: Draft, { kind, runId, tenant }: PurgeUnit | EraseUnit): Refusal | undefined {
  const { found } = draft;
  const run = ownRun(found.runs.get(runId), tenant);
  const isImported = recordOf(draft, runId)?.imported !== undefined;
  return removalRejection(run && { status: run.status, isImported }, kind, {
    openParent() {
      const parent = found.targets.get(runId)?.parent;
      return parent && isOpenNow(draft, parent) ? parent.id : undefined;
    },
    openReader: () => openReader(runId, (sourceRunId) => forksOf(draft, sourceRunId)),
  });
}

function recordOf({ found }: Draft, runId: string): CreationRecord | undefined {
  return found.targets.get(runId)?.record ?? found.runs.get(runId)?.created;
}

/** Those in the tables, and those that the group itself has made. */
function forksOf(draft: Draft, runId: string): ForkFacts[] {
  const known = (draft.found.forks.get(runId) ?? []).map((fork) => ({
    id: fork.id,
    isOpen: isOpenNow(draft, fork),
  }));
  const young = draft.writes.newRuns
    .filter(({ created }) => created?.fork?.sourceRunId === runId)
    .map(({ id }) => ({ id, isOpen: isOpen(draft.found.runs.get(id)) }));
  return [...known, ...young];
}

/** The group itself may have ended a run, or taken it away. */
function isOpenNow({ found, writes }: Draft, { id, isOpen: wasOpen }: ForkFacts): boolean {
  const run = found.runs.get(id);
  return run === undefined ? wasOpen && !writes.purged.has(id) : isOpen(run);
}
