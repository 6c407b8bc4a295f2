export { addUsage, openCostSums } from './cost-sums.ts';
import type { CreationRecord, RunStatus } from '../model/run-state.ts';
import { isTerminalStatus, sourceName } from '../model/run-state.ts';
import type {
  ClaimRef,
  ClaimResult,
  CommandUnit,
  DocumentWrite,
  EraseUnit,
  IdempotencyRecord,
  PurgeUnit,
  Refusal,
  RevokeKeyUnit,
  RunHead,
  RunUnit,
  SettingUnit,
  StoredEvent,
  Suspicion,
  WorkflowUnit,
  WriteUnit,
} from './store.ts';

/**
 * When a unit may be written, and what for it is refused otherwise: each rule once, for every store, over the facts that it needs.
 * The order of reasons within a rule is part of it.
 *
 * Where a database decides by a condition in SQL, a comment there names the rule that it restates, and `store-contract/rules.ts`
 * asks every store for the answers that the rules give.
 */

/** What the rules need to know of a run. Each asks for a part of it; undefined where there is no such run. */
export interface RunFacts {
  readonly status: RunStatus;
  readonly epoch: number;
  /** Length of the log. */
  readonly nextSeq: number;
  /** Who has the claim, past its deadline or not; a run that has ended is held by no one. */
  readonly holder?: string | number | null | undefined;
  /** Commands accepted and not yet consumed. */
  readonly inbox: number;
  readonly isErased: boolean;
  readonly isImported: boolean;
}

type Facts<Part extends keyof RunFacts> = Pick<RunFacts, Part> | undefined;
type Creation = NonNullable<RunUnit['create']>;

/**
 * Before the rules of the unit's kind: its idempotency record, if one is there and has not expired, then the claim that it needs.
 * After that, and before its kind, the documents that it writes.
 */
export function guardRejection(
  unit: WriteUnit,
  record: IdempotencyRecord | undefined,
  claimed: Facts<'epoch' | 'holder'>,
): Refusal | undefined {
  if (record !== undefined) return { reason: 'idempotency_exists', record };
  return unit.whileHeld && !holds(claimed, unit.whileHeld) ? { reason: 'stale_epoch' } : undefined;
}

function holds(run: Facts<'epoch' | 'holder'>, { epoch }: Pick<ClaimRef, 'epoch'>): boolean {
  return run !== undefined && run.epoch === epoch && isHeld(run);
}

function isHeld({ holder }: Pick<RunFacts, 'holder'>): boolean {
  return holder !== undefined && holder !== null;
}

/** Of a run that has ended, its end says more than the claim that went with it. */
export function appendRejection(
  run: Facts<'status' | 'epoch' | 'nextSeq' | 'holder'>,
  unit: RunUnit,
): Refusal | undefined {
  if (run === undefined) return { reason: 'run_missing' };
  if (run.epoch !== unit.epoch) return { reason: 'stale_epoch' };
  if (isTerminalStatus(run.status)) return { reason: 'run_terminal', status: run.status };
  if (!isHeld(run)) return { reason: 'stale_epoch' };
  return run.nextSeq === unit.expectedSeq && isNumbered(unit) ? undefined : { reason: 'sequence_conflict' };
}

/** The events' own numbers follow the expected one, so that no caller can write a gap. */
export function isNumbered({ events, expectedSeq }: Pick<RunUnit, 'events' | 'expectedSeq'>): boolean {
  let next = expectedSeq;
  for (const { seq } of events) {
    if (seq !== next) return false;
    next += 1;
  }
  return true;
}

/** Where a run's own log begins: a fork's begins where it leaves its source. */
export function firstSeq({ fork }: Pick<CreationRecord, 'fork'>): number {
  return fork?.fromSeq ?? 0;
}

/** What a creation asks about runs; only what its conditions need. */
export interface RunLookup {
  isTaken(runId: string): boolean;
  find(runId: string): Facts<'status' | 'isErased'>;
  /** The oldest open run of a scope. */
  openIn(tenant: string, scopeId: string): string | undefined;
}

export function creationRejection(runs: RunLookup, unit: RunUnit, create: Creation): Refusal | undefined {
  return runs.isTaken(unit.runId) ? { reason: 'run_exists' } : unmetCondition(runs, unit, create);
}

/** Every reason but that the id is taken, for a store that learns that from its own write. */
export function unmetCondition(
  runs: Omit<RunLookup, 'isTaken'>,
  unit: RunUnit,
  { record, exclusiveScope, whileOpen, whileKept }: Creation,
): Refusal | undefined {
  if (whileOpen !== undefined && !isOpen(runs.find(whileOpen))) return { reason: 'parent_ended' };
  if (whileKept?.some((runId) => runs.find(runId)?.isErased ?? true)) return { reason: 'source_gone' };
  if (exclusiveScope && record.scopeId !== undefined) {
    const activeRunId = runs.openIn(record.tenant, record.scopeId);
    if (activeRunId !== undefined) return { reason: 'scope_active', activeRunId };
  }
  return unit.expectedSeq === firstSeq(record) && isNumbered(unit)
    ? undefined
    : { reason: 'sequence_conflict' };
}

/** Whether a creation depends on no other run. */
export function isUnconditional({ exclusiveScope, whileOpen, whileKept }: Creation): boolean {
  return !exclusiveScope && whileOpen === undefined && whileKept === undefined;
}

export function isOpen(run: Facts<'status'>): boolean {
  return run !== undefined && !isTerminalStatus(run.status);
}

/** The run gives up its claim with this write. */
export function endsClaim({ release, head }: Pick<RunUnit, 'release' | 'head'>): boolean {
  return release === true || isTerminalStatus(head.status);
}

/** A waiting command makes a run due at once, whatever its head says; a run that has ended is never due. */
export function dueAt({ status, wakeAt }: Pick<RunHead, 'status' | 'wakeAt'>, inbox: number): number | null {
  if (isTerminalStatus(status)) return null;
  return inbox > 0 ? 0 : wakeAt;
}

/** Why a run that is there cannot be claimed. `holder` only within its deadline. */
export function claimObstacle(
  { status }: Pick<RunFacts, 'status'>,
  holder: string | undefined,
): ClaimResult | undefined {
  if (isTerminalStatus(status)) return { state: 'terminal' };
  return holder === undefined ? undefined : { state: 'held', holder };
}

/** For all that a tenant may learn, another tenant's run is not there. */
export function ownRun<Run extends { readonly tenant: string | number }>(
  run: Run | undefined,
  tenant: string | number | undefined,
): Run | undefined {
  return run?.tenant === tenant ? run : undefined;
}

/** The same command twice is one, also after the run has ended. `run` is one of the unit's tenant. */
export function commandRejection(
  run: Facts<'status' | 'inbox'>,
  { inboxLimit }: CommandUnit,
  isAccepted: boolean,
): Refusal | undefined {
  if (run === undefined) return { reason: 'run_missing' };
  if (isAccepted) return undefined;
  return endRejection(run) ?? (run.inbox < inboxLimit ? undefined : { reason: 'inbox_full' });
}

export function suspicionRejection(run: Facts<'status'>): Refusal | undefined {
  return run === undefined ? { reason: 'run_missing' } : endRejection(run);
}

function endRejection({ status }: Pick<RunFacts, 'status'>): Refusal | undefined {
  return isTerminalStatus(status) ? { reason: 'run_terminal', status } : undefined;
}

/** A quarantine takes the run from its holder. */
export function takesClaim(suspicion: Suspicion | undefined): boolean {
  return suspicion?.quarantinedAt !== undefined;
}

export function workflowRejection(
  digest: string | undefined,
  unit: Pick<WorkflowUnit, 'digest'>,
): Refusal | undefined {
  return digest === undefined || digest === unit.digest ? undefined : { reason: 'workflow_conflict', digest };
}

/** `tenant`: whose key it is. */
export function revocationRejection(
  tenant: string | undefined,
  unit: Pick<RevokeKeyUnit, 'tenant'>,
): Refusal | undefined {
  return tenant === unit.tenant ? undefined : { reason: 'key_missing' };
}

export function settingRejection(
  value: string | undefined,
  unit: Pick<SettingUnit, 'value'>,
): Refusal | undefined {
  return value === undefined || value === unit.value ? undefined : { reason: 'setting_conflict', value };
}

/** `version`: of one that is there and has not expired. */
export function documentRejection(
  version: string | undefined,
  { onlyNew, replaces }: Pick<DocumentWrite, 'onlyNew' | 'replaces'>,
): Refusal | undefined {
  if (onlyNew && version !== undefined) return { reason: 'document_exists' };
  return replaces !== undefined && replaces !== version ? { reason: 'document_changed' } : undefined;
}

/** The first reason against any of several writes. */
export function firstRejection<Write>(
  writes: readonly Write[],
  rejectionOf: (write: Write) => Refusal | undefined,
): Refusal | undefined {
  for (const write of writes) {
    const rejection = rejectionOf(write);
    if (rejection !== undefined) return rejection;
  }
  return undefined;
}

/** All documents that a unit writes, each with the version that it gives them. */
export function documentWrites(unit: WriteUnit): readonly DocumentWrite[] {
  const brought = unit.documents ?? [];
  return unit.kind === 'document' ? [unit, ...brought] : brought;
}

/** What has expired by the store's clock is not there; what has no such time never expires. */
export function isLive(expiresAt: number | null | undefined, now: number): boolean {
  return expiresAt === undefined || expiresAt === null || expiresAt > now;
}

/** Stands where no client's tag can stand. */
const SOURCE_TAG = '\u001f';

/** What a run is found by in lists: its tags, and what started it. A fork was started by the caller who forked. */
export function listedTags({
  tags,
  source,
  fork,
}: Pick<CreationRecord, 'tags' | 'source' | 'fork'>): readonly string[] {
  return source === undefined || fork !== undefined ? tags : [...tags, sourceTag(sourceName(source))];
}

export function sourceTag(name: string): string {
  return `${SOURCE_TAG}${name}`;
}

/** Open runs that need another one's log; asked only when nothing else speaks against its removal. */
export interface Pins {
  openParent(): string | undefined;
  openReader(): string | undefined;
}

/** Purge and erasure. An imported run never continues, however its log ends. `run` is one of the unit's tenant. */
export function removalRejection(
  run: Facts<'status' | 'isImported'>,
  kind: (PurgeUnit | EraseUnit)['kind'],
  pins: Pins,
): Refusal | undefined {
  if (run === undefined) return { reason: 'run_missing' };
  if (isOpen(run) && !run.isImported) return { reason: 'run_open', status: run.status };
  const byRunId = (kind === 'purge' ? pins.openParent() : undefined) ?? pins.openReader();
  return byRunId === undefined ? undefined : { reason: 'run_pinned', byRunId };
}

export interface ForkFacts {
  readonly id: string;
  readonly isOpen: boolean;
}

/** An open fork that reads a run's log, directly or through forks in between. */
export function openReader(
  runId: string,
  forksOf: (runId: string) => readonly ForkFacts[],
): string | undefined {
  for (const fork of forksOf(runId)) {
    const reader = fork.isOpen ? fork.id : openReader(fork.id, forksOf);
    if (reader !== undefined) return reader;
  }
  return undefined;
}

/** After an unknown outcome: the events of a unit, read back, are its own; no one else would have written them alike. */
export function hasEventsOf({ events }: RunUnit, stored: readonly StoredEvent[]): boolean {
  return events.length > 0 && events.every((event, index) => isSameEvent(event, stored[index]));
}

function isSameEvent(a: StoredEvent, b: StoredEvent | undefined): boolean {
  return a.type === b?.type && a.at === b.at && a.nodeId === b.nodeId && a.payload === b.payload;
}

/** Run ids are random, so these few fields are more than enough to tell two creations of one id apart. */
export function isSameRecord(a: CreationRecord, b: CreationRecord | undefined): boolean {
  return a.tenant === b?.tenant && a.createdAt === b.createdAt && a.definitionDigest === b.definitionDigest;
}
