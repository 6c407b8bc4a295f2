import type { Refusal, RunUnit, UsageRow } from '@weft/engine';
import {
  addUsage,
  appendRejection,
  creationRejection,
  dueAt,
  endsClaim,
  isOpen,
  ownRun,
} from '@weft/engine/store-rules';
import { batchUuid } from '../runs/codec.ts';
import { type Draft, type DraftRun, keyOf } from './draft.ts';
import type { Signal } from './units.ts';

type Create = NonNullable<RunUnit['create']>;

/** Checks a run unit against the draft and enters it there. Nothing is entered before the last objection is ruled out. */
export function evaluateRun(draft: Draft, unit: RunUnit): Refusal | undefined {
  const known = draft.found.runs.get(unit.runId);
  const refusal = unit.create
    ? creationRejection(draft.lookup, unit, unit.create)
    : appendRejection(known, unit);
  if (refusal) return refusal;
  const run = unit.create ? enterNew(draft, unit, unit.create) : known;
  if (!run) return { reason: 'run_missing' };
  consumeCommands(draft, unit, run);
  enterHead(unit, run);
  enterParts(draft, unit);
  for (const signal of unit.notify ?? []) deliver(draft, signal, run.tenant);
  return undefined;
}

function enterNew({ found, writes }: Draft, unit: RunUnit, { record, holder }: Create): DraftRun {
  const run: DraftRun = {
    id: unit.runId,
    tenant: record.tenant,
    created: record,
    status: unit.head.status,
    nextSeq: unit.expectedSeq,
    epoch: holder === undefined ? 0 : 1,
    holder: holder ?? null,
    inbox: 0,
    accepted: 0,
    dueAt: null,
    wakeAt: null,
    startedAt: null,
    endedAt: null,
    node: null,
    error: null,
    batch: '',
    isErased: false,
    isChanged: false,
  };
  found.runs.set(run.id, run);
  writes.newRuns.push(run);
  if (record.scopeId !== undefined) {
    const scope = keyOf(record.tenant, record.scopeId);
    found.scopes.set(scope, [...(found.scopes.get(scope) ?? []), run.id]);
  }
  return run;
}

/** The first result of a command stands. */
function consumeCommands({ found, writes }: Draft, unit: RunUnit, run: DraftRun): void {
  for (const { commandId, commandResult } of unit.consume ?? []) {
    const key = keyOf(run.id, commandId);
    if (!found.commands.get(key)) continue;
    found.commands.set(key, false);
    run.inbox -= 1;
    writes.commandResults.push({ run: run.id, id: commandId, commandResult });
  }
}

function enterHead(unit: RunUnit, run: DraftRun): void {
  const { head } = unit;
  run.status = head.status;
  run.nextSeq = unit.expectedSeq + unit.events.length;
  if (endsClaim(unit)) run.holder = null;
  run.wakeAt = head.wakeAt;
  run.dueAt = dueAt(head, run.inbox);
  run.startedAt = head.startedAt ?? null;
  run.endedAt = head.endedAt ?? null;
  run.node = head.currentNodeId ?? null;
  run.error = head.errorCode ?? null;
  run.batch = batchUuid(unit.batchId);
  run.isChanged = true;
}

function enterParts({ writes }: Draft, unit: RunUnit): void {
  const run = unit.runId;
  for (const event of unit.events) writes.events.push({ run, event });
  if (unit.events.length > 0) writes.appended.set(run, unit.expectedSeq + unit.events.length);
  if (unit.checkpoint) writes.checkpoints.set(run, unit.checkpoint);
  for (const row of unit.outbox ?? []) writes.outbox.push({ run, row });
  for (const row of unit.usage ?? []) enterUsage(writes, unit, row);
}

function enterUsage({ usage }: Draft['writes'], { tenant, runId: run }: RunUnit, row: UsageRow): void {
  const key = keyOf(run, row.day, row.provider, row.model);
  const known = usage.get(key);
  const entered = known === undefined ? row : addUsage(known, row);
  usage.set(key, { ...entered, tenant, run });
}

function deliver(draft: Draft, signal: Signal, tenant: string): void {
  const run = ownRun(draft.found.runs.get(signal.runId), tenant);
  if (run && isOpen(run)) accept(draft, run, signal);
}

/** The same command twice is one. */
export function accept({ found, writes }: Draft, run: DraftRun, { commandId, command }: Signal): void {
  if (found.commands.has(keyOf(run.id, commandId))) return;
  found.commands.set(keyOf(run.id, commandId), true);
  writes.commands.push({ run: run.id, ord: run.accepted, id: commandId, command });
  run.accepted += 1;
  run.inbox += 1;
  run.dueAt = 0;
  run.isChanged = true;
  writes.commanded.set(run.id, run.nextSeq);
}
