import type {
  ClaimRef,
  CommandUnit,
  KeyUnit,
  Refusal,
  SuspicionUnit,
  WorkflowUnit,
  WriteUnit,
} from '@weft/engine';
import { batchUuid, FIRST_TERMINAL, statusOf } from '../runs/codec.ts';
import { type Draft, documentKey, idempotencyKey, keyOf } from './draft.ts';
import { evaluateErasure, evaluatePurge } from '../retention/evaluate-retention.ts';
import { accept, evaluateRun } from './evaluate-run.ts';
import type { DocumentUnit } from './units.ts';

/**
 * Checks one unit against what was found and what the units before it have changed, and enters its writes into the draft; or
 * says why not, and leaves the draft as it was.
 */
export function evaluateUnit(draft: Draft, unit: WriteUnit): Refusal | undefined {
  const { found, writes } = draft;
  const record = unit.idempotency && found.idempotency.get(idempotencyKey(unit.idempotency));
  if (record) return { reason: 'idempotency_exists', record };
  if (unit.whileHeld && !isHeld(draft, unit.whileHeld)) return { reason: 'stale_epoch' };
  const refusal = evaluateByKind(draft, unit);
  if (refusal) return refusal;
  if (unit.idempotency) {
    found.idempotency.set(idempotencyKey(unit.idempotency), unit.idempotency);
    writes.idempotency.push(unit.idempotency);
  }
  // Only a unit that consists of nothing else must be found again by its entries.
  const batch = unit.kind === 'audit' ? batchUuid(unit.batchId) : null;
  for (const entry of unit.audit ?? []) writes.audit.push({ entry, batch });
  return undefined;
}

/** A run that is over has no holder. */
function isHeld({ found }: Draft, { runId, epoch }: ClaimRef): boolean {
  const run = found.runs.get(runId);
  return run !== undefined && run.epoch === epoch && run.holder !== null;
}

function evaluateByKind(draft: Draft, unit: WriteUnit): Refusal | undefined {
  const { found, writes } = draft;
  switch (unit.kind) {
    case 'run':
      return evaluateRun(draft, unit);
    case 'command':
      return evaluateCommand(draft, unit);
    case 'workflow':
      return evaluateWorkflow(draft, unit);
    case 'key':
      enterKey(draft, unit);
      return undefined;
    case 'revoke-key':
      if (found.keys.get(unit.keyId) !== unit.tenant) return { reason: 'key_missing' };
      if (!writes.revoked.has(unit.keyId)) writes.revoked.set(unit.keyId, unit.at);
      return undefined;
    case 'setting': {
      const value = found.settings.get(unit.name);
      if (value !== undefined)
        return value === unit.value ? undefined : { reason: 'setting_conflict', value };
      found.settings.set(unit.name, unit.value);
      writes.settings.set(unit.name, unit.value);
      return undefined;
    }
    case 'outbox':
      for (const row of unit.settle) {
        // What was delivered is gone, and nothing said later brings it back.
        if (writes.settled.get(row.id)?.state !== 'done') writes.settled.set(row.id, row);
      }
      return undefined;
    case 'document':
      return evaluateDocument(draft, unit);
    case 'blob': {
      const piece = keyOf(unit.tenant, unit.runId, unit.blobId, unit.index);
      if (!writes.blobs.has(piece)) writes.blobs.set(piece, unit);
      return undefined;
    }
    case 'purge':
      return evaluatePurge(draft, unit);
    case 'erase':
      return evaluateErasure(draft, unit);
    case 'suspicion':
      return evaluateSuspicion(draft, unit);
    case 'audit':
      return undefined;
  }
}

function evaluateCommand(draft: Draft, unit: CommandUnit): Refusal | undefined {
  const run = draft.found.runs.get(unit.runId);
  if (run?.tenant !== unit.tenant) return { reason: 'run_missing' };
  if (draft.found.commands.has(keyOf(run.id, unit.commandId))) return undefined;
  if (run.status >= FIRST_TERMINAL) return { reason: 'run_terminal', status: statusOf(run.status) };
  if (run.inbox >= unit.inboxLimit) return { reason: 'inbox_full' };
  accept(draft, run, unit);
  return undefined;
}

function evaluateSuspicion({ found, writes }: Draft, unit: SuspicionUnit): Refusal | undefined {
  const run = found.runs.get(unit.runId);
  if (run === undefined) return { reason: 'run_missing' };
  if (run.status >= FIRST_TERMINAL) return { reason: 'run_terminal', status: statusOf(run.status) };
  writes.suspicions.set(unit.runId, unit.suspicion);
  if (unit.suspicion?.quarantinedAt === undefined || unit.suspicion.isTried === true) return undefined;
  run.holder = null;
  run.isChanged = true;
  return undefined;
}

/** The same content again changes nothing. */
function evaluateWorkflow({ found, writes }: Draft, unit: WorkflowUnit): Refusal | undefined {
  const version = keyOf(unit.tenant, unit.id, unit.version);
  const digest = found.workflows.get(version);
  if (digest !== undefined)
    return digest === unit.digest ? undefined : { reason: 'workflow_conflict', digest };
  const workflow = keyOf(unit.tenant, unit.id);
  const ord = (found.registrations.get(workflow) ?? 0) + 1;
  found.workflows.set(version, unit.digest);
  found.registrations.set(workflow, ord);
  writes.workflows.push({ unit, ord });
  return undefined;
}

/** A key stays as it was written first. */
function enterKey({ found, writes }: Draft, { key }: KeyUnit): void {
  if (found.keys.has(key.keyId) || found.keyHashes.has(key.hash)) return;
  found.keys.set(key.keyId, key.tenant);
  found.keyHashes.add(key.hash);
  writes.keys.push(key);
}

function evaluateDocument({ found, writes }: Draft, unit: DocumentUnit): Refusal | undefined {
  const place = documentKey(unit);
  const expiresAt = found.documents.get(place);
  const isThere = expiresAt !== undefined && (expiresAt === null || expiresAt > found.now);
  if (unit.onlyNew && isThere) return { reason: 'document_exists' };
  if (unit.body === undefined) found.documents.delete(place);
  else found.documents.set(place, unit.expiresAt ?? null);
  // Taken out first, so that the map is in the order of the last writes.
  writes.documents.delete(place);
  writes.documents.set(place, unit);
  return undefined;
}
