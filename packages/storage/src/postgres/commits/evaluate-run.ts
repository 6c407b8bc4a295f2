import type { Refusal, RunUnit } from '@weft/engine';
import { batchUuid, FIRST_TERMINAL, firstSeq, statusNumber, statusOf } from '../runs/codec.ts';
import { type Draft, type DraftRun, keyOf } from './draft.ts';
import type { Notice } from './units.ts';

type Create = NonNullable<RunUnit['create']>;

/** Checks a run unit against the draft and enters it there. Nothing is entered before the last objection is ruled out. */
export function evaluateRun(draft: Draft, unit: RunUnit): Refusal | undefined {
  const refusal = unit.create ? creationRejection(draft, unit, unit.create) : appendRejection(draft, unit);
  if (refusal) return refusal;
  const run = unit.create ? enterNew(draft, unit, unit.create) : draft.found.runs.get(unit.runId);
  if (!run) return { reason: 'run_missing' };
  consumeCommands(draft, unit, run);
  enterHead(unit, run);
  enterParts(draft, unit);
  for (const notice of unit.notify ?? []) deliver(draft, notice, run.tenant);
  return undefined;
}

function creationRejection(
  { found, writes }: Draft,
  unit: RunUnit,
  { record, exclusiveScope, whileOpen, whileKept = [] }: Create,
): Refusal | undefined {
  if (found.runs.has(unit.runId) || writes.purged.has(unit.runId)) return { reason: 'run_exists' };
  if (whileOpen !== undefined && (found.runs.get(whileOpen)?.status ?? FIRST_TERMINAL) >= FIRST_TERMINAL)
    return { reason: 'parent_ended' };
  if (whileKept.some((id) => (found.runs.get(id)?.isErased ?? true) || writes.erased.has(id)))
    return { reason: 'source_gone' };
  if (exclusiveScope && record.scopeId !== undefined) {
    const inScope = found.scopes.get(keyOf(record.tenant, record.scopeId)) ?? [];
    const activeRunId = inScope.find((id) => (found.runs.get(id)?.status ?? 0) < FIRST_TERMINAL);
    if (activeRunId !== undefined) return { reason: 'scope_active', activeRunId };
  }
  return unit.expectedSeq === firstSeq(record) && isNumbered(unit)
    ? undefined
    : { reason: 'sequence_conflict' };
}

function appendRejection({ found }: Draft, unit: RunUnit): Refusal | undefined {
  const run = found.runs.get(unit.runId);
  if (!run) return { reason: 'run_missing' };
  if (run.epoch !== unit.epoch) return { reason: 'stale_epoch' };
  if (run.status >= FIRST_TERMINAL) return { reason: 'run_terminal', status: statusOf(run.status) };
  if (run.holder === null) return { reason: 'stale_epoch' };
  return run.nextSeq === unit.expectedSeq && isNumbered(unit) ? undefined : { reason: 'sequence_conflict' };
}

/** The events' own numbers go on from the expected one, so that no caller can write a gap. */
function isNumbered({ events, expectedSeq }: RunUnit): boolean {
  return events.every(({ seq }, index) => seq === expectedSeq + index);
}

function enterNew({ found, writes }: Draft, unit: RunUnit, { record, holder }: Create): DraftRun {
  const run: DraftRun = {
    id: unit.runId,
    tenant: record.tenant,
    created: record,
    status: statusNumber(unit.head.status),
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

/** The first verdict of a command stands. */
function consumeCommands({ found, writes }: Draft, unit: RunUnit, run: DraftRun): void {
  for (const { commandId, verdict } of unit.consume ?? []) {
    const key = keyOf(run.id, commandId);
    if (!found.commands.get(key)) continue;
    found.commands.set(key, false);
    run.inbox -= 1;
    writes.verdicts.push({ run: run.id, id: commandId, verdict });
  }
}

function enterHead(unit: RunUnit, run: DraftRun): void {
  const { head } = unit;
  run.status = statusNumber(head.status);
  const isOver = run.status >= FIRST_TERMINAL;
  run.nextSeq = unit.expectedSeq + unit.events.length;
  if (unit.release || isOver) run.holder = null;
  run.wakeAt = head.wakeAt;
  run.dueAt = isOver ? null : dueTime(head.wakeAt, run.inbox);
  run.startedAt = head.startedAt ?? null;
  run.endedAt = head.endedAt ?? null;
  run.node = head.currentNodeId ?? null;
  run.error = head.errorCode ?? null;
  run.batch = batchUuid(unit.batchId);
  run.isChanged = true;
}

/** A waiting command makes a run due at once, whatever the head says. */
function dueTime(wakeAt: number | null, inbox: number): number | null {
  return inbox > 0 ? 0 : wakeAt;
}

function enterParts({ writes }: Draft, unit: RunUnit): void {
  const run = unit.runId;
  for (const event of unit.events) writes.events.push({ run, event });
  if (unit.events.length > 0) writes.appended.set(run, unit.expectedSeq + unit.events.length);
  if (unit.checkpoint) writes.checkpoints.set(run, unit.checkpoint);
  if (unit.heldAgainst) writes.suspicions.set(run, unit.heldAgainst.suspicion);
  for (const row of unit.outbox ?? []) writes.outbox.push({ run, row });
}

function deliver(draft: Draft, notice: Notice, tenant: string): void {
  const run = draft.found.runs.get(notice.runId);
  if (!run || run.tenant !== tenant || run.status >= FIRST_TERMINAL) return;
  if (!draft.found.commands.has(keyOf(run.id, notice.commandId))) accept(draft, run, notice);
}

export function accept({ found, writes }: Draft, run: DraftRun, { commandId, command }: Notice): void {
  found.commands.set(keyOf(run.id, commandId), true);
  writes.commands.push({ run: run.id, ord: run.accepted, id: commandId, command });
  run.accepted += 1;
  run.inbox += 1;
  run.dueAt = 0;
  run.isChanged = true;
  writes.commanded.set(run.id, run.nextSeq);
}
