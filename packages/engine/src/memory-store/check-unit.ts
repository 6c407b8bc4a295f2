import { isTerminalStatus } from '../model/run-state.ts';
import type { CommandUnit, IdempotencyRecord, Refusal, WriteUnit } from '../ports/store.ts';
import {
  appendRejection,
  commandRejection,
  creationRejection,
  documentRejection,
  documentWrites,
  firstRejection,
  guardRejection,
  isLive,
  ownRun,
  removalRejection,
  revocationRejection,
  type RunLookup,
  settingRejection,
  suspicionRejection,
  workflowRejection,
} from '../ports/store-rules.ts';
import type { MemoryData } from './data.ts';
import { factsOf, idempotencyKey, workflowAt } from './data.ts';
import { documentAt } from './documents.ts';
import { pinsOf } from './retention.ts';

/** Why the unit may not be written, or undefined when nothing speaks against it. Changes nothing. */
export function unitRejection(data: MemoryData, unit: WriteUnit, now: number): Refusal | undefined {
  const record = unit.idempotency && liveRecord(data, unit.idempotency, now);
  const claimed = unit.whileHeld && factsOf(data.runs.get(unit.whileHeld.runId));
  return (
    guardRejection(unit, record, claimed) ??
    firstRejection(documentWrites(unit), (write) =>
      documentRejection(documentAt(data, write, now)?.version, write),
    ) ??
    rejectionByKind(data, unit)
  );
}

function rejectionByKind(data: MemoryData, unit: WriteUnit): Refusal | undefined {
  switch (unit.kind) {
    case 'run':
      return unit.create
        ? creationRejection(lookup(data), unit, unit.create)
        : appendRejection(factsOf(data.runs.get(unit.runId)), unit);
    case 'command':
      return commandRejection(ownFacts(data, unit), unit, isAccepted(data, unit));
    case 'workflow':
      return workflowRejection(workflowAt(data, unit.tenant, unit.id, unit.version)?.digest, unit);
    case 'revoke-key':
      return revocationRejection(data.keys.get(unit.keyId)?.tenant, unit);
    case 'setting':
      return settingRejection(data.settings.get(unit.name), unit);
    case 'purge':
    case 'erase':
      return removalRejection(ownFacts(data, unit), unit.kind, pinsOf(data, unit.runId));
    case 'suspicion':
      return suspicionRejection(factsOf(data.runs.get(unit.runId)));
    case 'document':
    case 'key':
    case 'outbox':
    case 'audit':
    case 'blob':
      return undefined;
  }
}

function liveRecord(data: MemoryData, wanted: IdempotencyRecord, now: number): IdempotencyRecord | undefined {
  const record = data.idempotency.get(idempotencyKey(wanted.tenant, wanted.operation, wanted.keyHash));
  return record && isLive(record.expiresAt, now) ? record : undefined;
}

function ownFacts(data: MemoryData, { runId, tenant }: { readonly runId: string; readonly tenant: string }) {
  return ownRun(factsOf(data.runs.get(runId)), tenant);
}

function isAccepted(data: MemoryData, { runId, commandId }: CommandUnit): boolean {
  return data.runs.get(runId)?.commands.has(commandId) === true;
}

function lookup(data: MemoryData): RunLookup {
  return {
    isTaken: (runId) => data.runs.has(runId),
    find: (runId) => factsOf(data.runs.get(runId)),
    openIn(tenant, scopeId) {
      const inScope = [...data.runs.values()].find(
        ({ record, head }) =>
          record.tenant === tenant && record.scopeId === scopeId && !isTerminalStatus(head.status),
      );
      return inScope?.record.runId;
    },
  };
}
