import type { ErrorCode, Json, JsonObject } from '@weft/protocol';
import type { CreationRecord, RunStatus } from './core/run-state.ts';

/**
 * The store port. What it promises is proven by `store-contract.ts`, which every adapter runs unchanged:
 *
 * S1. `commit` makes its units durable before it resolves, in order, as one group. A unit is all or nothing; a refused
 *     unit is refused alone and changes nothing; the others of the group are committed.
 * S2. Sequences: a run's events are numbered 0, 1, 2 … without gap. A unit names the sequence it expects and the epoch
 *     of its claim; either one stale refuses it.
 * S3. A claim is a conditional write. Its epoch grows with every takeover. It may be taken over only after the
 *     holder's deadline, judged by the store's clock.
 * S4. Idempotency and audit records, consumed commands, checkpoints and outbox rows commit with the unit that carries them.
 * S5. A run that is not held and whose `wakeAt` has come is found by `claimDue`, whatever order commits happened in.
 *     A command put into the inbox makes its run due at once, also when the holder releases the run in the same moment.
 * S6. Reads see everything committed before they started. A tenant's reads never return another tenant's rows.
 * S7. After an unknown outcome (connection lost during commit) `committed(unit)` tells the truth.
 * S8. A fork's log begins where it leaves its source: the store keeps only the events from there on, and its length counts
 *     from there.
 * S9. A purge takes away everything of a run at once, its log and all that is kept under its id, and leaves a tombstone. Until
 *     the tombstone's time has come, the run's tenant can learn that there was one; nobody else ever can.
 * S10. An erasure takes away what only the fold may see: overlays, inputs, the checkpoint, and what commands brought along. The
 *     public log stays, byte for byte.
 */
export interface Store {
  commit(units: readonly WriteUnit[]): Promise<readonly WriteResult[]>;
  /** True when the unit's effect is durable. Asked only after an `unknown` result. */
  committed(unit: WriteUnit): Promise<boolean>;
  /** Called after every commit that appended events, by whatever process; may coalesce. Returns the way to stop. */
  watch(onCommit: (runId: string, nextSeq: number) => void): () => void;

  /** `tenant` undefined: on behalf of the host itself. */
  readRun(runId: string, tenant: string | undefined): Promise<RunRow | undefined>;
  /** Ascending, from `fromSeq` inclusive, at most `limit` events or about `maxBytes` of payload, at least one if there is one. */
  readEvents(
    runId: string,
    fromSeq: number,
    limit: number,
    maxBytes: number,
  ): Promise<readonly StoredEvent[]>;
  readCheckpoint(runId: string): Promise<Checkpoint | undefined>;
  /** What is left of a purged run, for its own tenant; gone when its time has come by the store's clock. */
  readTombstone(runId: string, tenant: string): Promise<Tombstone | undefined>;
  /**
   * Runs that were created and have ended before a time, in a stable order. `tenant` undefined: of all tenants, on behalf of
   * the host. A page may hold fewer rows than asked for and still not be the last.
   */
  listExpired(tenant: string | undefined, before: number, page: Page): Promise<Listed<ExpiredRun>>;
  /** Newest first by creation; `cursor` is opaque and comes from the previous page. */
  listRuns(tenant: string, filter: RunFilter, page: Page): Promise<Listed<RunRow>>;

  /** Makes the holder known, and moves the deadline of everything it holds to now + ttl. */
  heartbeat(holder: string, ttlMs: number): Promise<void>;
  claim(runId: string, holder: string): Promise<ClaimResult>;
  /** Claims up to `limit` runs that are due and not held (or whose holder is past its deadline), oldest due first. */
  claimDue(holder: string, limit: number): Promise<readonly Claimed[]>;
  /** When the next run that nobody holds becomes due; undefined when there is none. */
  nextDueAt(): Promise<number | undefined>;
  /** Gives up every claim of the holder; the runs stay due as they are. */
  releaseAll(holder: string): Promise<void>;

  /** Commands not yet consumed, in order of acceptance. */
  readInbox(runId: string): Promise<readonly StoredCommand[]>;
  readCommand(runId: string, commandId: string): Promise<StoredCommand | undefined>;

  readIdempotency(tenant: string, operation: string, keyHash: string): Promise<IdempotencyRecord | undefined>;

  /** The current version when `version` is undefined. */
  readWorkflow(tenant: string, id: string, version: string | undefined): Promise<WorkflowRow | undefined>;
  readDefinition(digest: string): Promise<string | undefined>;
  listWorkflows(tenant: string, page: Page): Promise<Listed<WorkflowRow>>;

  readKeyByHash(hash: string): Promise<ApiKeyRow | undefined>;
  listKeys(tenant: string): Promise<readonly ApiKeyRow[]>;

  readSetting(name: string): Promise<string | undefined>;

  /** What has expired by the store's clock is not there. */
  readDocument(place: DocumentPlace): Promise<StoredDocument | undefined>;
  /** Newest first by `at`, then by order of writing; without what has expired. */
  listDocuments(
    tenant: string,
    collection: string,
    scope: string,
    page: Page,
  ): Promise<Listed<StoredDocument>>;
  /** One piece of a large value, in the order in which they were written. */
  readBlob(tenant: string, runId: string, blobId: string, index: number): Promise<Uint8Array | undefined>;

  /**
   * Due rows not held by another worker, oldest first, held for `leaseMs`. A row of a lane is handed out only when no row
   * written before it to the same lane is left, dead ones aside. Rows of the topics in `except` stay where they are.
   */
  claimOutbox(limit: number, leaseMs: number, except?: readonly string[]): Promise<readonly OutboxRow[]>;
  readAudit(fromId: number, limit: number): Promise<readonly StoredAuditEntry[]>;

  /** Removes expired idempotency records, documents and tombstones; returns how many. */
  prune(): Promise<number>;
  /**
   * A copy of everything that was committed before it was asked for, while writes go on. Absent where the database has its own
   * way to be backed up. The caller closes it, read or not.
   */
  openBackup?(): Promise<OpenBackup>;
  /** Resolves when the database answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export type WriteUnit =
  | RunUnit
  | CommandUnit
  | WorkflowUnit
  | KeyUnit
  | RevokeKeyUnit
  | SettingUnit
  | OutboxUnit
  | AuditUnit
  | DocumentUnit
  | BlobUnit
  | PurgeUnit
  | EraseUnit;

interface UnitBase {
  /** Random, 22 characters of base64url; names this write after an unknown outcome. */
  readonly batchId: string;
  readonly idempotency?: IdempotencyRecord;
  readonly audit?: readonly AuditEntry[];
}

/** Creates a run, or appends to it, or both. */
export interface RunUnit extends UnitBase {
  readonly kind: 'run';
  readonly runId: string;
  /** First write of a run. With a holder the run is born claimed, at epoch 1; without, it waits unclaimed at epoch 0. */
  readonly create?: {
    readonly record: CreationRecord;
    readonly holder?: string;
    readonly exclusiveScope: boolean;
    /** Refused with `parent_ended` when this run has ended or does not exist: a child is never born to a parent that is gone. */
    readonly whileOpen?: string;
  };
  readonly epoch: number;
  /** Sequence of the first event of this unit; with create 0, or where the record's fork begins. */
  readonly expectedSeq: number;
  readonly events: readonly StoredEvent[];
  readonly head: RunHead;
  readonly consume?: readonly { readonly commandId: string; readonly verdict: Verdict }[];
  readonly checkpoint?: Checkpoint;
  /** Gives up the claim with this write. */
  readonly release?: boolean;
  readonly outbox?: readonly NewOutboxRow[];
  readonly notify?: readonly Notice[];
}

/**
 * A command that a run puts into another run's inbox with its own write, so that both are durable or neither is. Nothing
 * happens when that run is missing, belongs to another tenant, has ended, or has a command of this id already; the inbox's
 * limit does not count, because nobody could be told.
 */
export interface Notice {
  readonly runId: string;
  readonly commandId: string;
  readonly command: Command;
}

/** Puts a command into a run's inbox. Refused on terminal runs and full inboxes. */
export interface CommandUnit extends UnitBase {
  readonly kind: 'command';
  readonly tenant: string;
  readonly runId: string;
  readonly commandId: string;
  readonly command: Command;
  readonly inboxLimit: number;
}

export interface WorkflowUnit extends UnitBase {
  readonly kind: 'workflow';
  readonly tenant: string;
  readonly id: string;
  readonly version: string;
  readonly digest: string;
  readonly definition: string;
  readonly registeredAt: number;
}

export interface KeyUnit extends UnitBase {
  readonly kind: 'key';
  readonly key: ApiKeyRow;
}

export interface RevokeKeyUnit extends UnitBase {
  readonly kind: 'revoke-key';
  readonly tenant: string;
  readonly keyId: string;
  readonly at: number;
}

/** Written once; a second write with another value is refused. */
export interface SettingUnit extends UnitBase {
  readonly kind: 'setting';
  readonly name: string;
  readonly value: string;
}

/** Settles claimed outbox rows: delivered, to be tried again at a time, or dead. `retry` brings a dead row back, its attempts uncounted. */
export interface OutboxUnit extends UnitBase {
  readonly kind: 'outbox';
  readonly settle: readonly {
    readonly id: string;
    readonly state: 'done' | 'retry' | 'dead';
    readonly dueAt?: number;
  }[];
}

/** Where a small record of a tenant is kept: by kind, and within it by what it belongs to (a run, a memory, nothing). */
export interface DocumentPlace {
  readonly tenant: string;
  readonly collection: string;
  /** May be empty. */
  readonly scope: string;
  readonly id: string;
}

/** Writes a small record over what was there, or removes it. */
export interface DocumentUnit extends UnitBase, DocumentPlace {
  readonly kind: 'document';
  /** JSON text; absent = remove, which is no error when there is nothing. */
  readonly body?: string;
  readonly at: number;
  readonly expiresAt?: number;
  /** Refused with `document_exists` when there is one that has not expired. */
  readonly onlyNew?: boolean;
}

/** One piece of a large value that belongs to a run. Pieces are written in order, each once; the same piece again changes nothing. */
export interface BlobUnit extends UnitBase {
  readonly kind: 'blob';
  readonly tenant: string;
  readonly runId: string;
  readonly blobId: string;
  readonly index: number;
  readonly bytes: Uint8Array;
}

/**
 * Takes a run away that has ended: events, checkpoint, commands, tags, pieces, outbox rows, and the documents whose scope is its
 * id. Refused with `run_missing` when the tenant has no such run, `run_open` while it is under way, and `run_pinned` while one
 * that is needs it: its parent, or a fork of it, or a fork of such a fork.
 */
export interface PurgeUnit extends UnitBase {
  readonly kind: 'purge';
  readonly tenant: string;
  readonly runId: string;
  readonly at: number;
  readonly tombstoneUntil: number;
}

/**
 * Takes away what only the fold may see of a run that has ended: overlays, inputs, the checkpoint; the value of an answer becomes
 * null, and outputs and variables of a child's notice go. Refused like a purge, but not because of a parent.
 */
export interface EraseUnit extends UnitBase {
  readonly kind: 'erase';
  readonly tenant: string;
  readonly runId: string;
  readonly at: number;
}

/** An act that changed nothing but must be on record, such as a denial. */
export interface AuditUnit extends UnitBase {
  readonly kind: 'audit';
}

export type WriteResult =
  | { readonly state: 'committed' }
  | { readonly state: 'unknown'; readonly cause: unknown }
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
        | 'parent_ended';
    }
  | { readonly reason: 'run_open'; readonly status: RunStatus }
  | { readonly reason: 'run_pinned'; readonly byRunId: string }
  | { readonly reason: 'run_terminal'; readonly status: RunStatus }
  | { readonly reason: 'scope_active'; readonly activeRunId: string }
  | { readonly reason: 'idempotency_exists'; readonly record: IdempotencyRecord }
  | { readonly reason: 'workflow_conflict'; readonly digest: string }
  | { readonly reason: 'setting_conflict'; readonly value: string }
  /** The database has no room (disk full, quota); nothing was written and reads go on. */
  | { readonly reason: 'store_full' };

export interface StoredEvent {
  readonly seq: number;
  readonly type: string;
  readonly at: number;
  readonly nodeId?: string;
  readonly causeSeq?: number;
  /** JSON text, serialized once; the same bytes leave on every wire. */
  readonly payload: string;
  /** JSON text of the payload before masking; never leaves the host. */
  readonly overlay?: string;
}

/** The projection of a run that lists and O(1) reads need; written with every append. */
export interface RunHead {
  readonly status: RunStatus;
  /**
   * When somebody must look at the run if nobody holds it: 0 = at once (runnable or in flight), a time = a timer,
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
  /** Absent when nobody holds the run, or the holder is past its deadline. */
  readonly holder?: string;
  /** Commands accepted and not yet consumed: kinds in order of acceptance. */
  readonly pendingCommands: readonly Command['type'][];
  /** When its private parts were erased. */
  readonly erasedAt?: number;
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
  /** Creation time, inclusive. */
  readonly since?: number;
  /** Creation time, exclusive. */
  readonly until?: number;
}

export interface Page {
  readonly limit: number;
  readonly cursor?: string;
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

/** What people ask of a run. Accepted into the inbox first, consumed by whoever holds the run. */
export type Command =
  | {
      readonly type: 'cancel';
      readonly reason?: string;
      readonly by?: string;
      /** Set when the cancel of the parent run caused it. */
      readonly parentRunId?: string;
    }
  | { readonly type: 'pause'; readonly policy: DrainPolicy; readonly reason?: string; readonly by?: string }
  | { readonly type: 'resume'; readonly reason?: string; readonly by?: string }
  | ResolveCommand
  | ChildCommand;

/** What a child run tells its parent: that it waits, goes on, or has ended. */
export interface ChildCommand {
  readonly type: 'child';
  /** The parent's node that started it. */
  readonly nodeKey: string;
  readonly childRunId: string;
  readonly status: RunStatus;
  /** Public outputs of a completed child. */
  readonly outputs?: JsonObject;
  /** The variables the parent asked for, those that are set. */
  readonly variables?: JsonObject;
  /** Which of the variables the child's workflow marks as sensitive. */
  readonly sensitive?: readonly string[];
  readonly error?: { readonly code: string; readonly message: string };
}

/** An answer to a question that a node has asked. */
export interface ResolveCommand {
  readonly type: 'resolve';
  readonly nodeId: string;
  /** Inside loops. */
  readonly iteration?: readonly number[];
  /** From a signed link: the question the link was made for. */
  readonly interruptId?: string;
  readonly value: Json;
  /** Who answers: the authenticated principal, or what the link's holder said. */
  readonly by: string;
  /** A user's own identity counts as the voter; a service key may name one. */
  readonly byUser: boolean;
  readonly viaLink: boolean;
}

export type DrainPolicy = 'immediate' | 'drain-current-node';

/** What became of a command. */
export type Verdict =
  | { readonly applied: true; readonly status: RunStatus; readonly at: number }
  | {
      readonly applied: false;
      readonly status: RunStatus;
      readonly pausedAt?: number;
      /** Why an answer was not taken. */
      readonly refusal?: {
        readonly code: ErrorCode;
        readonly message: string;
        readonly details?: JsonObject;
      };
    };

export interface StoredCommand {
  readonly commandId: string;
  readonly command: Command;
  readonly acceptedAt: number;
  readonly verdict?: Verdict;
}

export interface IdempotencyRecord {
  readonly tenant: string;
  /** Canonical operation id, such as `POST /v1/runs`. */
  readonly operation: string;
  /** SHA-256 of the client's key, hex. */
  readonly keyHash: string;
  /** SHA-256 over path parameters and canonical body, hex. */
  readonly requestDigest: string;
  readonly expiresAt: number;
  /** What to answer again; or the command whose verdict decides the answer. */
  readonly response:
    | { readonly status: number; readonly body: string }
    | { readonly runId: string; readonly commandId: string };
}

export interface StoredDocument {
  readonly id: string;
  readonly body: string;
  readonly at: number;
  readonly expiresAt?: number;
}

export interface WorkflowRow {
  readonly tenant: string;
  readonly id: string;
  readonly version: string;
  readonly digest: string;
  readonly registeredAt: number;
  readonly current: boolean;
}

export interface ApiKeyRow {
  readonly keyId: string;
  /** SHA-256 of the key, hex. */
  readonly hash: string;
  readonly tenant: string;
  readonly principal: string;
  readonly kind: 'service' | 'user';
  readonly test: boolean;
  readonly scopes: readonly string[];
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  readonly label?: string;
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
