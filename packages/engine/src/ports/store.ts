import type { Json, JsonObject } from '@weft/protocol';
import type { CreationRecord, RunStatus } from '../model/run-state.ts';
import type { Command, CommandResult } from '../model/command.ts';
import type { DocumentPlace, WriteUnit } from './store-units.ts';

export type {
  ChannelCommand,
  ChildCommand,
  Command,
  DrainPolicy,
  ResolveCommand,
  CommandResult,
} from '../model/command.ts';
export type {
  AuditUnit,
  BlobUnit,
  ClaimRef,
  CommandUnit,
  DocumentPlace,
  DocumentUnit,
  DocumentWrite,
  EnqueuedRow,
  EraseUnit,
  KeyUnit,
  Signal,
  OutboxUnit,
  PurgeUnit,
  RevokeKeyUnit,
  RunUnit,
  SettingUnit,
  SuspicionUnit,
  UsageRow,
  WorkflowUnit,
  WriteUnit,
} from './store-units.ts';

/**
 * The store port. An adapter may be an object of closures or a class: its methods are always called on it. What it promises is
 * proven by `store-contract.ts`, which every adapter runs unchanged:
 *
 * S-1. `commit` makes its units durable before it resolves, in order, as one group. A unit is all or nothing; a rejected
 *      unit is rejected alone and changes nothing, and the others of the group are committed. The same holds when the
 *      database itself cannot take one of them: that one fails, alone.
 * S-2. Sequences: a run's events are numbered 0, 1, 2 … without gap. A unit names the sequence it expects and the epoch of
 *      its claim; a stale one of either rejects it.
 * S-3. A claim is a conditional write. Its epoch grows with every takeover. It may be taken over only after the holder's
 *      deadline, by the store's clock. What a holder writes outside the log names its claim, and is rejected once the claim
 *      is lost or released.
 * S-4. Idempotency and audit records, consumed commands, checkpoints and outbox rows commit with the unit that carries them.
 * S-5. A run that is not held and whose `wakeAt` has come is found by `claimDue`, whatever order commits happened in. A
 *      command put into the inbox makes its run due at once, also when the holder releases the run in the same moment. A
 *      quarantined run is found only while a cancel waits for it.
 * S-6. Reads see everything committed before they started. A tenant's reads never return another tenant's rows.
 * S-7. After an unknown outcome (connection lost during commit) `committed(unit)` tells the truth.
 * S-8. A fork's log begins where it leaves its source: the store keeps only the events from there on, and its length counts
 *      from there.
 * S-9. A purge deletes everything of a run at once, its log and all that is kept under its id, and leaves a tombstone. Until
 *      the tombstone expires, the run's tenant can learn that there was one; no other tenant ever can. A store may delete
 *      the bytes of a long log later, but no read finds them, and after a crash it continues.
 * S-10. An erasure deletes what only the fold may see: overlays, the values of inputs, the checkpoint, and the contents of
 *       commands. The public log stays, byte for byte.
 * S-11. A text is kept as it is, or its unit fails, alone: no two texts ever become one.
 * S-18. A task has one lease at a time. Each has a higher number than the one before; it ends with the deadline of its holder, by
 *       the store's clock, and what is written under another number is refused. A task is leased only while its run is open and
 *       claimed as it was when the task was put up.
 * S-21. A run may be left with its tasks: they are put up and its claim is given up in one write, unless someone has one of them or it has
 *       a result. From then on the run is due at once when one of them is leased, and before that by its time or a command alone.
 * S-22. What a run unit says of usage is added to the costs of its tenant with the unit, once. It outlives the run: a purge only takes
 *       the run's id away from it.
 * S-20. A document's version changes with every write to it. A write that names the version it replaces is rejected once
 *       another one was faster, together with everything its unit brings.
 * S-19. A document whose due time has come by the store's clock is found by `claimDueDocuments`, at a cost that depends on
 *       how many are due and not on how many there are, and by one caller at a time until its lease is over.
 */
export type Store = Commits &
  RunLog &
  Claims &
  Inbox &
  IdempotencyRecords &
  WorkflowRegistry &
  ApiKeys &
  Settings &
  Documents &
  Outbox &
  AuditTrail &
  Removals &
  Tasks &
  CostTotals &
  Maintenance;

/** The one way to write units. S1, S7. */
export interface Commits {
  commit(units: readonly WriteUnit[]): Promise<readonly WriteResult[]>;
  /** True when the unit's effect is durable. Asked only after an `unknown` result. */
  committed(unit: WriteUnit): Promise<boolean>;
}

/** Runs and their events. S2, S6, S8. */
export interface RunLog {
  /** `tenant` undefined: on behalf of the host itself. */
  readRun(runId: string, tenant: string | undefined): Promise<RunRow | undefined>;
  /** Ascending, from `fromSeq` inclusive, at most `limit` events or about `maxBytes` of payload and overlay, at least one if there is one. */
  readEvents(
    runId: string,
    fromSeq: number,
    limit: number,
    maxBytes: number,
  ): Promise<readonly StoredEvent[]>;
  readCheckpoint(runId: string): Promise<Checkpoint | undefined>;
  /** Newest first by creation; `cursor` is opaque and comes from the previous page. */
  listRuns(tenant: string, filter: RunFilter, page: RunPage): Promise<Listed<RunRow>>;
  /** How many runs were created when, by status. No more than `most` rows are looked at, the newest first. */
  countRuns(tenant: string, filter: RunFilter, bucketMs: number, most: number): Promise<RunCounts>;
  /**
   * Called after every commit that appended events, by whatever process, and after another process has put a command into the
   * run's inbox; may coalesce, and may call for nothing. Returns the way to stop.
   */
  watch(onCommit: CommitWatcher): () => void;
}

/** Who works on which run. S3, S5. */
export interface Claims {
  /** Makes the holder known, and moves the deadline of everything it holds to now + ttl. What it says about itself is kept as it is. */
  heartbeat(holder: string, ttlMs: number, about?: string): Promise<void>;
  /** Holders within their deadline, and those past it that still stand on open runs; by name. */
  holders(): Promise<readonly HolderRow[]>;
  claim(runId: string, holder: string): Promise<ClaimResult>;
  /**
   * Claims up to `limit` runs that are due and not held (or whose holder is past its deadline). Where there are more, tenants
   * take turns: each gets one before any gets a second, and of a tenant's the oldest due come first.
   */
  claimDue(holder: string, limit: number, bounds?: ClaimBounds): Promise<readonly DueRun[]>;
  /** When the next run that no one holds becomes due; undefined when there is none. */
  nextDueAt(): Promise<number | undefined>;
  /** Open runs that are quarantined, of all tenants. */
  countQuarantined(): Promise<number>;
  /** The open runs that the holder stands on: after a claim whose answer was lost it does not know them all. */
  heldBy(holder: string): Promise<readonly Claimed[]>;
  /** Gives up every claim of the holder, whose deadline has passed from now on; the runs stay due as they are. */
  releaseAll(holder: string): Promise<void>;
}

/** What was asked of a run. */
export interface Inbox {
  /** Commands not yet consumed, in order of acceptance. */
  readInbox(runId: string): Promise<readonly StoredCommand[]>;
  readCommand(runId: string, commandId: string): Promise<StoredCommand | undefined>;
}

/** Answers to requests that may come again. S4. */
export interface IdempotencyRecords {
  readIdempotency(tenant: string, operation: string, keyHash: string): Promise<IdempotencyRecord | undefined>;
}

/** Definitions, by name and version. */
export interface WorkflowRegistry {
  /** The current version when `version` is undefined. */
  readWorkflow(tenant: string, id: string, version: string | undefined): Promise<WorkflowRow | undefined>;
  readDefinition(digest: string): Promise<string | undefined>;
  listWorkflows(tenant: string, page: Page): Promise<Listed<WorkflowRow>>;
}

export interface ApiKeys {
  readKeyByHash(hash: string): Promise<ApiKeyRow | undefined>;
  listKeys(tenant: string): Promise<readonly ApiKeyRow[]>;
}

/** What a host wrote once. */
export interface Settings {
  readSetting(name: string): Promise<string | undefined>;
}

/** Small records of a tenant, and the pieces of large values. S11. */
export interface Documents {
  /** What has expired by the store's clock is not there. */
  readDocument(place: DocumentPlace): Promise<StoredDocument | undefined>;
  /** Newest first by `at`, then by order of writing; without what has expired. */
  listDocuments(
    tenant: string,
    collection: string,
    scope: string,
    page: Page,
  ): Promise<Listed<StoredDocument>>;
  /**
   * Documents of a collection, of all tenants, that are due, oldest first; where there are more than `limit`, tenants take turns.
   * They are not found again before `leaseMs` have passed, or something was written to them.
   */
  claimDueDocuments(collection: string, limit: number, leaseMs: number): Promise<DueDocuments>;
  /** One piece of a large value, in the order in which they were written. */
  readBlob(tenant: string, runId: string, blobId: string, index: number): Promise<Uint8Array | undefined>;
}

/** What is to be sent to others. */
export interface Outbox {
  /**
   * Due rows not held by another worker, oldest first, held for `leaseMs`. A row of a lane is handed out only when no row
   * written before it to the same lane is left, dead ones aside. Rows of the topics in `except` stay where they are.
   */
  claimOutbox(limit: number, leaseMs: number, except?: readonly string[]): Promise<readonly OutboxRow[]>;
}

export interface AuditTrail {
  readAudit(fromId: number, limit: number): Promise<readonly StoredAuditEntry[]>;
}

/** What was taken away, and what may be. S9, S10. */
export interface Removals {
  /** What is left of a purged run, for its own tenant; gone when its time has come by the store's clock. */
  readTombstone(runId: string, tenant: string): Promise<Tombstone | undefined>;
  /**
   * Runs that were created and have ended before a time, in a stable order. `tenant` undefined: of all tenants, on behalf of
   * the host. A page may hold fewer rows than asked for and still not be the last.
   */
  listExpired(tenant: string | undefined, before: number, page: Page): Promise<Listed<ExpiredRun>>;
  /** Removes expired idempotency records, documents and tombstones; returns how many. */
  prune(): Promise<number>;
}

/** Tasks of runs that one process holds, for workers of others. S-18, S-21. */
export interface Tasks {
  /** Puts a task up, or up again under a newer claim. False when the run is not claimed under this epoch. */
  offerTask(task: NewTask): Promise<boolean>;
  /**
   * Puts these up, which are all that the run has open, and gives up the claim on it. False, and nothing has changed, when the run is
   * not claimed under this epoch, or one of its tasks has a holder or a result.
   */
  parkRun(run: ParkedRun, tasks: readonly NewTask[]): Promise<boolean>;
  /** Leases tasks of these types, the oldest first, that have no result and that no living holder has. */
  claimTasks(
    holder: string,
    tenant: string,
    types: readonly TaskType[],
    limit: number,
  ): Promise<readonly LeasedTask[]>;
  /** A remark of the worker that has it, while it is performed. */
  noteTask(taskId: string, lease: number, note: string): Promise<void>;
  /** Keeps the result for the holder of the run. False when it is not held under this lease; again is once. */
  settleTask(taskId: string, lease: number, result: string): Promise<boolean>;
  /** Gives the lease back. */
  returnTask(taskId: string, lease: number, isLost: boolean): Promise<void>;
  /**
   * Takes down a task that was put up under this epoch. `unlessTaken`: not while a living holder has it, nor with a result. True when
   * it is gone.
   */
  withdrawTask(taskId: string, epoch: number, unlessTaken: boolean): Promise<boolean>;
  readTasks(runIds: readonly string[]): Promise<readonly StoredTask[]>;
  /** Called when a task may have been put up, by whatever process. Returns the way to stop. */
  watchTasks(onOffered: () => void): () => void;
}

/** What model calls have cost. S-22. */
export interface CostTotals {
  /** The sums of a tenant, by `by`, of days in `[fromDay, untilDay)`; no more than `most` rows are looked at, the newest days first. */
  readCosts(tenant: string, query: CostQuery): Promise<CostSums>;
}

export const COST_GROUPS = ['day', 'workflow', 'model', 'run', 'total'] as const;

export interface CostQuery {
  readonly by: (typeof COST_GROUPS)[number];
  readonly fromDay: number;
  readonly untilDay: number;
  /** Of groups; the newest days, or the dearest. */
  readonly limit: number;
  readonly most: number;
}

export interface CostSums {
  readonly rows: readonly CostRow[];
  /** Groups beyond `limit` were left out. */
  readonly hasMore: boolean;
  /** The oldest day that was looked at, where there were more than `most` rows. */
  readonly countedSince?: number;
}

/** With the members that it is grouped by. */
export interface CostRow {
  readonly day?: number;
  readonly workflowId?: string;
  /** Absent for runs that were purged. */
  readonly runId?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** A sum may be larger than a number holds exactly. */
  readonly nanoUsd: bigint;
  readonly unpricedCalls: number;
}

/** The database itself. */
export interface Maintenance {
  /**
   * A copy of everything that was committed before it was asked for, while writes continue. Absent where the database has its own
   * way to be backed up. The caller closes it, read or not.
   */
  openBackup?(): Promise<OpenBackup>;
  /** Resolves when the database answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** `elsewhere`: another process wrote. */
export type CommitWatcher = (runId: string, nextSeq: number, elsewhere?: true) => void;

export type WriteResult =
  | { readonly state: 'committed' }
  | { readonly state: 'unknown'; readonly cause: unknown }
  /** The database cannot take this unit, although it takes others: nothing of it was written. */
  | { readonly state: 'failed'; readonly cause: unknown }
  | ({ readonly state: 'refused' } & Refusal);

export type Refusal =
  | {
      readonly reason:
        | 'stale_epoch'
        | 'sequence_conflict'
        | 'run_exists'
        | 'run_missing'
        | 'inbox_full'
        | 'key_missing'
        | 'document_exists'
        | 'document_changed'
        | 'parent_ended'
        | 'source_gone';
    }
  | { readonly reason: 'run_open'; readonly status: RunStatus }
  | { readonly reason: 'run_pinned'; readonly byRunId: string }
  | { readonly reason: 'run_terminal'; readonly status: RunStatus }
  | { readonly reason: 'scope_active'; readonly activeRunId: string }
  | { readonly reason: 'idempotency_exists'; readonly record: IdempotencyRecord }
  | { readonly reason: 'workflow_conflict'; readonly digest: string }
  | { readonly reason: 'setting_conflict'; readonly value: string }
  /** The database has no room (disk full, quota); nothing was written and reads still work. */
  | { readonly reason: 'store_full' };

export interface StoredEvent {
  readonly seq: number;
  readonly type: string;
  readonly at: number;
  readonly nodeId?: string;
  readonly causeSeq?: number;
  /** JSON text, serialized once; the same bytes leave on every wire. */
  readonly payload: string;
  /** What only the host may see, without control characters (core/fold/overlay.ts); never leaves the host. */
  readonly overlay?: string;
}

/** The projection of a run that lists and O(1) reads need; written with every append. */
export interface RunHead {
  readonly status: RunStatus;
  /**
   * When someone must look at the run if no one holds it: 0 = at once (runnable or in flight), a time = a timer,
   * null = only a command can move it, or it is over.
   */
  readonly wakeAt: number | null;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly currentNodeId?: string;
  readonly errorCode?: string;
}

export interface RunRow {
  readonly record: CreationRecord;
  readonly head: RunHead;
  /** Length of the log. */
  readonly nextSeq: number;
  readonly epoch: number;
  /** Absent when no one holds the run, or the holder is past its deadline. */
  readonly holder?: string;
  /** Commands accepted and not yet consumed: kinds in order of acceptance. */
  readonly pendingCommands: readonly Command['type'][];
  /** What is held against it; absent for nearly every run. */
  readonly suspicion?: Suspicion;
  /** How often in a row it lost its holder without having got any further. */
  readonly lostHolders?: number;
  /** When its private parts were erased. */
  readonly erasedAt?: number;
  /** What the store holds of its creation is not what was written: only its place is known, the rest of the record is empty. */
  readonly isDamaged?: true;
}

/** That a run ends processes, or writes what the store cannot take. */
export interface Suspicion {
  /** In one sentence, what speaks against the run. */
  readonly reason: string;
  readonly since: number;
  /** Length of the log when it began: a run that gets any further is cleared of it. */
  readonly seq: number;
  /** How often in a row the store did not take what it wrote. */
  readonly strikes?: number;
  /** Since when it is not tried any more. No one but a cancel moves such a run. */
  readonly quarantinedAt?: number;
}

/** One who may hold runs. */
export interface HolderRow {
  readonly name: string;
  readonly deadline: number;
  /** By the store's clock. */
  readonly isAlive: boolean;
  /** Open runs that it stands on. */
  readonly runs: number;
  readonly about?: string;
}

/** What is left of a purged run. */
export interface Tombstone {
  readonly purgedAt: number;
  /** When this, too, is forgotten. */
  readonly until: number;
}

export interface ExpiredRun {
  readonly runId: string;
  readonly tenant: string;
  readonly endedAt: number;
  /** Length of the log: how much there is to take away. */
  readonly events: number;
}

export interface OpenBackup {
  readonly size: number;
  /** The bytes, read piece by piece as they are asked for. */
  read(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

export interface Checkpoint {
  /** The state holds the fold of all events below this sequence. */
  readonly seq: number;
  readonly foldVersion: number;
  /** JSON text. */
  readonly state: string;
}

export interface RunFilter {
  readonly status?: readonly RunStatus[];
  readonly workflowId?: string;
  readonly tag?: string;
  /** What started them, as `sourceName` spells it. */
  readonly source?: string;
  /** What a failed run has failed with. */
  readonly errorCode?: string;
  /** Hexadecimal digits, in lower case and without hyphens, with which the id begins. Then lists go by id, the greatest first. */
  readonly idPrefix?: string;
  /** Only those that are quarantined and have not ended. */
  readonly quarantined?: true;
  /** Creation time, inclusive. */
  readonly since?: number;
  /** Creation time, exclusive. */
  readonly until?: number;
}

export interface RunCounts {
  /** In no order; `at` is when the bucket begins. Without those that would be 0. */
  readonly counts: readonly { readonly at: number; readonly status: RunStatus; readonly count: number }[];
  /** Runs created before this were not looked at. Absent when all were. */
  readonly countedSince?: number;
}

export interface Page {
  readonly limit: number;
  readonly cursor?: string;
}

export interface RunPage extends Page {
  /** About as many bytes of records, as text; one row in any case. */
  readonly maxBytes?: number;
}

export interface Listed<Row> {
  readonly rows: readonly Row[];
  readonly nextCursor?: string;
}

export type ClaimResult =
  | { readonly state: 'claimed'; readonly epoch: number }
  | { readonly state: 'held'; readonly holder: string }
  | { readonly state: 'terminal' }
  | { readonly state: 'missing' };

export interface Claimed {
  readonly runId: string;
  readonly epoch: number;
}

/** A run that was due, and what is known of it before it is read. */
export interface DueRun extends Claimed {
  readonly tenant: string;
  /** About the bytes that its record and its checkpoint take as text. */
  readonly bytes: number;
}

export interface ClaimBounds {
  /** Of all runs together; one is claimed in any case. */
  readonly maxBytes?: number;
  /** Round robin continues after this tenant. */
  readonly after?: string;
  /** Runs of these tenants stay where they are. */
  readonly except?: readonly string[];
}

export interface StoredCommand {
  readonly commandId: string;
  readonly command: Command;
  readonly acceptedAt: number;
  readonly commandResult?: CommandResult;
}

export interface IdempotencyRecord {
  readonly tenant: string;
  /** Method and path of the operation, as the table of endpoints has them. */
  readonly operation: string;
  /** SHA-256 of the client's key, hex. */
  readonly keyHash: string;
  /** SHA-256 over path parameters and canonical body, hex. */
  readonly requestDigest: string;
  readonly expiresAt: number;
  /** What to answer again; or the command whose result decides the answer. */
  readonly response:
    | { readonly status: number; readonly body: string }
    | { readonly runId: string; readonly commandId: string };
}

export interface StoredDocument {
  readonly id: string;
  readonly body: string;
  readonly at: number;
  readonly expiresAt?: number;
  /** Names the write that made it. */
  readonly version: string;
}

export interface DueDocument extends StoredDocument {
  readonly tenant: string;
  readonly scope: string;
}

export interface DueDocuments {
  /** By the store's clock. */
  readonly now: number;
  readonly rows: readonly DueDocument[];
  /** When the next one can be found: due, or its lease over. */
  readonly nextAt?: number;
}

export interface WorkflowRow {
  readonly tenant: string;
  readonly id: string;
  readonly version: string;
  readonly digest: string;
  readonly registeredAt: number;
  readonly current: boolean;
}

export type FirstKeySource = 'configured' | 'generated';

export interface ApiKeyRow {
  readonly keyId: string;
  /** SHA-256 of the key, hex. */
  readonly hash: string;
  readonly tenant: string;
  readonly principal: string;
  readonly workspace?: string;
  readonly kind: 'service' | 'user';
  readonly test: boolean;
  readonly scopes: readonly string[];
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  readonly label?: string;
  /** A key that a host was started with: one that was chosen for it, or one that it made. Holds every scope. */
  readonly first?: FirstKeySource;
}

export interface NewOutboxRow {
  readonly id: string;
  readonly topic: string;
  /** Rows of one lane go out one at a time, in the order in which they were written. */
  readonly lane?: string;
  readonly dueAt: number;
  readonly body: Json;
}

export interface OutboxRow extends NewOutboxRow {
  readonly runId: string;
  readonly attempts: number;
}

export interface TaskType {
  readonly typeId: string;
  readonly version: string;
}

export interface NewTask extends TaskType {
  readonly taskId: string;
  readonly tenant: string;
  readonly runId: string;
  /** Of the claim on the run. */
  readonly epoch: number;
  /** Is not leased again once it was lost. */
  readonly isOnce: boolean;
  /** JSON text; holds no secrets. */
  readonly body: string;
}

/** A run that is left with its tasks. */
export interface ParkedRun {
  readonly runId: string;
  /** Of the claim that is given up. */
  readonly epoch: number;
  /** As in the head of a run. */
  readonly wakeAt: number | null;
}

export interface LeasedTask extends NewTask {
  readonly lease: number;
}

export interface StoredTask {
  readonly taskId: string;
  readonly runId: string;
  readonly epoch: number;
  readonly lease: number;
  /** A living one that has it. */
  readonly holder?: string;
  /** How often a holder lost it, one that has it and is past its deadline included. */
  readonly losses: number;
  readonly note?: string;
  readonly result?: string;
}

export interface AuditEntry {
  readonly at: number;
  readonly tenant: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly details?: JsonObject;
}

export interface StoredAuditEntry extends AuditEntry {
  readonly id: number;
}
