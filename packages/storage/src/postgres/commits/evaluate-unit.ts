import type {
  CommandUnit,
  DocumentWrite,
  KeyUnit,
  Refusal,
  SuspicionUnit,
  WorkflowUnit,
  WriteUnit,
} from '@weft/engine';
import {
  commandRejection,
  documentRejection,
  documentWrites,
  firstRejection,
  guardRejection,
  isLive,
  ownRun,
  revocationRejection,
  settingRejection,
  suspicionRejection,
  takesClaim,
  workflowRejection,
} from '@weft/engine/store-rules';
import { batchUuid } from '../runs/codec.ts';
import { type Draft, documentKey, idempotencyKey, keyOf } from './draft.ts';
import { evaluateErasure, evaluatePurge } from '../retention/evaluate-retention.ts';
import { accept, evaluateRun } from './evaluate-run.ts';
import type { DocumentPlace } from './units.ts';

/**
 * Checks one unit against what was found and what the units before it have changed, and enters its writes into the draft; or
 * says why not, and leaves the draft as it was.
 */
export function evaluateUnit(draft: Draft, unit: WriteUnit): Refusal | undefined {
  const { found, writes } = draft;
  const record = unit.idempotency && found.idempotency.get(idempotencyKey(unit.idempotency));
  const claimed = unit.whileHeld && found.runs.get(unit.whileHeld.runId);
  const documents = documentWrites(unit);
  const refusal =
    guardRejection(unit, record, claimed) ??
    firstRejection(documents, (write) => documentRejection(liveVersion(draft, write), write)) ??
    evaluateByKind(draft, unit);
  if (refusal) return refusal;
  for (const write of documents) enterDocument(draft, write, unit.batchId);
  enqueue(draft, unit);
  if (unit.kind === 'run') for (const place of unit.wakes ?? []) wake(draft, place, unit.batchId);
  if (unit.idempotency) {
    found.idempotency.set(idempotencyKey(unit.idempotency), unit.idempotency);
    writes.idempotency.push(unit.idempotency);
  }
  // Only a unit that consists of nothing else must be found again by its entries.
  const batch = unit.kind === 'audit' ? batchUuid(unit.batchId) : null;
  for (const entry of unit.audit ?? []) writes.audit.push({ entry, batch });
  return undefined;
}

function enqueue({ found, writes }: Draft, unit: WriteUnit): void {
  for (const { runId: run, ...row } of unit.enqueue ?? [])
    if (found.runs.has(run)) writes.outbox.push({ run, row });
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
    case 'revoke-key': {
      const refusal = revocationRejection(found.keys.get(unit.keyId), unit);
      if (refusal) return refusal;
      if (!writes.revoked.has(unit.keyId)) writes.revoked.set(unit.keyId, unit.at);
      return undefined;
    }
    case 'setting': {
      const value = found.settings.get(unit.name);
      if (value !== undefined) return settingRejection(value, unit);
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
    case 'document':
    case 'audit':
      return undefined;
  }
}

function evaluateCommand(draft: Draft, unit: CommandUnit): Refusal | undefined {
  const run = ownRun(draft.found.runs.get(unit.runId), unit.tenant);
  const isAccepted = draft.found.commands.has(keyOf(unit.runId, unit.commandId));
  const refusal = commandRejection(run, unit, isAccepted);
  if (refusal || !run) return refusal;
  accept(draft, run, unit);
  return undefined;
}

function evaluateSuspicion({ found, writes }: Draft, unit: SuspicionUnit): Refusal | undefined {
  const run = found.runs.get(unit.runId);
  const refusal = suspicionRejection(run);
  if (refusal || !run) return refusal;
  writes.suspicions.set(unit.runId, unit.suspicion);
  if (!takesClaim(unit.suspicion)) return undefined;
  run.holder = null;
  run.isChanged = true;
  return undefined;
}

/** The same content again changes nothing. */
function evaluateWorkflow({ found, writes }: Draft, unit: WorkflowUnit): Refusal | undefined {
  const version = keyOf(unit.tenant, unit.id, unit.version);
  const digest = found.workflows.get(version);
  if (digest !== undefined) return workflowRejection(digest, unit);
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

function liveVersion({ found }: Draft, place: DocumentPlace): string | undefined {
  const document = found.documents.get(documentKey(place));
  return document && isLive(document.expiresAt, found.now) ? document.version : undefined;
}

function enterDocument({ found, writes }: Draft, write: DocumentWrite, batchId: string): void {
  const place = documentKey(write);
  if (write.body === undefined) found.documents.delete(place);
  else found.documents.set(place, { expiresAt: write.expiresAt ?? null, version: batchId });
  // Taken out first, so that the map is in the order of the last writes.
  writes.documents.delete(place);
  writes.documents.set(place, { write, batchId });
  writes.woken.delete(place);
}

function wake({ found, writes }: Draft, place: DocumentPlace, batchId: string): void {
  const key = documentKey(place);
  const document = found.documents.get(key);
  if (document === undefined) return;
  found.documents.set(key, { ...document, version: batchId });
  writes.woken.set(key, { place, batchId });
}
