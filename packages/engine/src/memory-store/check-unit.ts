import { isTerminalStatus } from '../model/run-state.ts';
import type {
  ClaimRef,
  CommandUnit,
  IdempotencyRecord,
  Refusal,
  RunUnit,
  WriteUnit,
} from '../ports/store.ts';
import type { MemoryData, MemoryRun } from './data.ts';
import { firstSeq, idempotencyKey, nextSeq, pendingCommands, workflowAt } from './data.ts';
import { documentAt } from './documents.ts';
import { refusalOfErasure, refusalOfPurge } from './retention.ts';

/** Why the unit may not be written, or undefined when nothing speaks against it. Changes nothing. */
export function refusalOf(data: MemoryData, unit: WriteUnit, now: number): Refusal | undefined {
  const record = unit.idempotency && liveRecord(data, unit.idempotency, now);
  if (record) return { reason: 'idempotency_exists', record };
  if (unit.whileHeld && !isHeld(data, unit.whileHeld)) return { reason: 'stale_epoch' };
  switch (unit.kind) {
    case 'run':
      return unit.create
        ? refusalOfCreation(data, unit, unit.create)
        : refusalOfAppend(data.runs.get(unit.runId), unit);
    case 'command':
      return refusalOfCommand(data, unit);
    case 'workflow': {
      const known = workflowAt(data, unit.tenant, unit.id, unit.version);
      return known && known.digest !== unit.digest
        ? { reason: 'workflow_conflict', digest: known.digest }
        : undefined;
    }
    case 'revoke-key':
      return data.keys.get(unit.keyId)?.tenant === unit.tenant ? undefined : { reason: 'key_missing' };
    case 'setting': {
      const value = data.settings.get(unit.name);
      return value !== undefined && value !== unit.value ? { reason: 'setting_conflict', value } : undefined;
    }
    case 'document':
      return unit.onlyNew && documentAt(data, unit, now) ? { reason: 'document_exists' } : undefined;
    case 'purge':
      return refusalOfPurge(data, unit);
    case 'erase':
      return refusalOfErasure(data, unit);
    case 'suspicion':
      return refusalOfSuspicion(data.runs.get(unit.runId));
    case 'key':
    case 'outbox':
    case 'audit':
    case 'blob':
      return undefined;
  }
}

/** A run that is over has no holder. */
function isHeld(data: MemoryData, { runId, epoch }: ClaimRef): boolean {
  const run = data.runs.get(runId);
  return run !== undefined && run.epoch === epoch && run.holder !== undefined;
}

function liveRecord(data: MemoryData, wanted: IdempotencyRecord, now: number): IdempotencyRecord | undefined {
  const record = data.idempotency.get(idempotencyKey(wanted.tenant, wanted.operation, wanted.keyHash));
  return record && record.expiresAt > now ? record : undefined;
}

function refusalOfCreation(
  data: MemoryData,
  unit: RunUnit,
  { record, exclusiveScope, whileOpen, whileKept = [] }: NonNullable<RunUnit['create']>,
): Refusal | undefined {
  if (data.runs.has(unit.runId)) return { reason: 'run_exists' };
  const parent = whileOpen === undefined ? undefined : data.runs.get(whileOpen);
  if (whileOpen !== undefined && (parent === undefined || isTerminalStatus(parent.head.status)))
    return { reason: 'parent_ended' };
  if (!whileKept.every((runId) => isKept(data.runs.get(runId)))) return { reason: 'source_gone' };
  if (exclusiveScope) {
    const { tenant, scopeId } = record;
    const active = [...data.runs.values()].find((run) => isActiveIn(run, tenant, scopeId));
    if (active) return { reason: 'scope_active', activeRunId: active.record.runId };
  }
  return unit.expectedSeq === firstSeq(record) && isNumbered(unit)
    ? undefined
    : { reason: 'sequence_conflict' };
}

function isKept(run: MemoryRun | undefined): boolean {
  return run !== undefined && run.erasedAt === undefined;
}

function isActiveIn(run: MemoryRun, tenant: string, scopeId: string | undefined): boolean {
  return (
    scopeId !== undefined &&
    run.record.scopeId === scopeId &&
    run.record.tenant === tenant &&
    !isTerminalStatus(run.head.status)
  );
}

function refusalOfAppend(run: MemoryRun | undefined, unit: RunUnit): Refusal | undefined {
  if (!run) return { reason: 'run_missing' };
  if (run.epoch !== unit.epoch) return { reason: 'stale_epoch' };
  if (isTerminalStatus(run.head.status)) return { reason: 'run_terminal', status: run.head.status };
  if (run.holder === undefined) return { reason: 'stale_epoch' };
  return nextSeq(run) === unit.expectedSeq && isNumbered(unit) ? undefined : { reason: 'sequence_conflict' };
}

function refusalOfSuspicion(run: MemoryRun | undefined): Refusal | undefined {
  if (!run) return { reason: 'run_missing' };
  return isTerminalStatus(run.head.status) ? { reason: 'run_terminal', status: run.head.status } : undefined;
}

/** The events' own numbers go on from the expected one, so that no caller can write a gap. */
function isNumbered(unit: RunUnit): boolean {
  return unit.events.every((event, index) => event.seq === unit.expectedSeq + index);
}

function refusalOfCommand(data: MemoryData, unit: CommandUnit): Refusal | undefined {
  const run = data.runs.get(unit.runId);
  if (!run || run.record.tenant !== unit.tenant) return { reason: 'run_missing' };
  if (run.commands.has(unit.commandId)) return undefined;
  if (isTerminalStatus(run.head.status)) return { reason: 'run_terminal', status: run.head.status };
  return pendingCommands(run).length < unit.inboxLimit ? undefined : { reason: 'inbox_full' };
}
