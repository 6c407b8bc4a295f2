import type {
  BlobUnit,
  CommandUnit,
  NewOutboxRow,
  Signal,
  OutboxUnit,
  RunUnit,
  SuspicionUnit,
  WorkflowUnit,
  WriteUnit,
} from '../ports/store.ts';
import { documentWrites, endsClaim, isOpen, ownRun, takesClaim } from '../ports/store-rules.ts';
import type { MemoryData, MemoryRun } from './data.ts';
import { blobKey, factsOf, idempotencyKey, workflowAt } from './data.ts';
import { applyUsage } from './costs.ts';
import { applyDocument, wakeDocument } from './documents.ts';
import { applyErasure, applyPurge } from './retention.ts';

/** Writes a unit that was found free of objections. */
export function applyUnit(data: MemoryData, unit: WriteUnit, now: number): void {
  applyByKind(data, unit, now);
  for (const write of documentWrites(unit)) applyDocument(data, write, unit.batchId);
  for (const { runId, ...row } of unit.enqueue ?? []) if (data.runs.has(runId)) enqueue(data, runId, row);
  const record = unit.idempotency;
  if (record) data.idempotency.set(idempotencyKey(record.tenant, record.operation, record.keyHash), record);
  for (const entry of unit.audit ?? []) {
    data.audit.push({ batchId: unit.batchId, entry: { ...entry, id: data.audit.length + 1 } });
  }
}

function applyByKind(data: MemoryData, unit: WriteUnit, now: number): void {
  switch (unit.kind) {
    case 'run':
      return applyRun(data, unit, now);
    case 'command':
      return applyCommand(data, unit, now);
    case 'workflow':
      return applyWorkflow(data, unit);
    case 'key':
      if (
        ![...data.keys.values()].some((key) => key.keyId === unit.key.keyId || key.hash === unit.key.hash)
      ) {
        data.keys.set(unit.key.keyId, unit.key);
      }
      return;
    case 'revoke-key': {
      const key = data.keys.get(unit.keyId);
      if (key && key.revokedAt === undefined) data.keys.set(unit.keyId, { ...key, revokedAt: unit.at });
      return;
    }
    case 'setting':
      data.settings.set(unit.name, unit.value);
      return;
    case 'outbox':
      return applyOutbox(data, unit, now);
    case 'blob':
      return applyBlob(data, unit);
    case 'purge':
      return applyPurge(data, unit);
    case 'erase':
      return applyErasure(data, unit);
    case 'suspicion':
      return applySuspicion(data, unit);
    case 'document':
    case 'audit':
      return;
  }
}

function applyRun(data: MemoryData, unit: RunUnit, now: number): void {
  const run = unit.create ? newRun(data, unit, unit.create) : data.runs.get(unit.runId);
  if (!run) return;
  for (const event of unit.events) run.events.push(event);
  run.head = unit.head;
  run.lastBatch = unit.batchId;
  if (unit.checkpoint) run.checkpoint = unit.checkpoint;
  if (endsClaim(unit)) run.holder = undefined;
  consume(run, unit);
  for (const row of unit.outbox ?? []) enqueue(data, unit.runId, row);
  if (unit.usage) applyUsage(data, run.record.tenant, unit.runId, unit.usage);
  for (const signal of unit.notify ?? []) deliver(data, signal, run.record.tenant, now);
  for (const place of unit.wakes ?? []) wakeDocument(data, place, unit.batchId);
}

function consume(run: MemoryRun, unit: RunUnit): void {
  for (const { commandId, commandResult } of unit.consume ?? []) {
    const command = run.commands.get(commandId);
    if (command && command.commandResult === undefined)
      run.commands.set(commandId, { ...command, commandResult });
  }
}

/** Into the inbox of a run of the same tenant that is running; elsewhere no one waits for it. */
function deliver(data: MemoryData, signal: Signal, tenant: string, now: number): void {
  const run = data.runs.get(signal.runId);
  if (run && isOpen(ownRun(factsOf(run), tenant))) accept(run, signal, now);
}

function newRun(data: MemoryData, unit: RunUnit, create: NonNullable<RunUnit['create']>): MemoryRun {
  const run: MemoryRun = {
    record: create.record,
    order: data.runsCreated,
    events: [],
    commands: new Map(),
    head: unit.head,
    epoch: create.holder === undefined ? 0 : 1,
    holder: create.holder,
    lastBatch: unit.batchId,
  };
  data.runs.set(unit.runId, run);
  data.runsCreated += 1;
  return run;
}

function applyCommand(data: MemoryData, unit: CommandUnit, now: number): void {
  const run = data.runs.get(unit.runId);
  if (run) accept(run, unit, now);
}

/** The same command twice is one. */
function accept(run: MemoryRun, { commandId, command }: Signal, now: number): void {
  if (!run.commands.has(commandId)) run.commands.set(commandId, { commandId, command, acceptedAt: now });
}

function applySuspicion(data: MemoryData, { runId, suspicion }: SuspicionUnit): void {
  const run = data.runs.get(runId);
  if (!run) return;
  run.suspicion = suspicion;
  if (takesClaim(suspicion)) run.holder = undefined;
}

/** Each piece is written once. Copied, because the caller may reuse its buffer. */
function applyBlob(data: MemoryData, { tenant, runId, blobId, index, bytes }: BlobUnit): void {
  const key = blobKey(tenant, runId, blobId, index);
  if (!data.blobs.has(key)) data.blobs.set(key, Uint8Array.from(bytes));
}

/** What was registered last is current; the same content again changes nothing. */
function applyWorkflow(data: MemoryData, unit: WorkflowUnit): void {
  const { tenant, id, version, digest, registeredAt } = unit;
  if (workflowAt(data, tenant, id, version)) return;
  data.workflows.forEach((row, index) => {
    if (row.tenant === tenant && row.id === id) data.workflows[index] = { ...row, current: false };
  });
  data.workflows.push({ tenant, id, version, digest, registeredAt, current: true });
  data.definitions.set(digest, unit.definition);
}

/** What is there under the same id stays. */
function enqueue(data: MemoryData, runId: string, row: NewOutboxRow): void {
  if (data.outbox.has(row.id)) return;
  data.outbox.set(row.id, { row: { ...row, runId, attempts: 0 }, nextAt: row.dueAt, dead: false });
}

function applyOutbox(data: MemoryData, unit: OutboxUnit, now: number): void {
  for (const { id, state, dueAt } of unit.settle) {
    const stored = data.outbox.get(id);
    if (!stored) continue;
    if (state === 'done') data.outbox.delete(id);
    if (state === 'dead') stored.dead = true;
    if (state === 'retry') {
      stored.nextAt = dueAt ?? now;
      stored.row = { ...stored.row, dueAt: stored.nextAt, ...(stored.dead && { attempts: 0 }) };
      stored.dead = false;
    }
  }
}
