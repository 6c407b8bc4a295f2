import type { CreationRecord } from '../model/run-state.ts';
import type { Command, CommandResult } from '../model/command.ts';
import type {
  ApiKeyRow,
  AuditEntry,
  Checkpoint,
  IdempotencyRecord,
  NewOutboxRow,
  RunHead,
  StoredEvent,
  Suspicion,
} from './store.ts';

/** What the store is asked to write: each unit all or nothing, several of them as one group. */

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
  | EraseUnit
  | SuspicionUnit;

interface UnitBase {
  /** Random, 22 characters of base64url; names this write after an unknown outcome. */
  readonly batchId: string;
  readonly idempotency?: IdempotencyRecord;
  readonly audit?: readonly AuditEntry[];
  /** Refused with `stale_epoch` unless this claim holds: what is written on behalf of a run, and not to its log. */
  readonly whileHeld?: ClaimRef;
  /** Small records that are written with the unit. One that may not be written rejects the unit with all of them. */
  readonly documents?: readonly DocumentWrite[];
  /** Rows for the outbox, behind those that are there. Of a run that does not exist nothing is written. */
  readonly enqueue?: readonly EnqueuedRow[];
}

export interface EnqueuedRow extends NewOutboxRow {
  readonly runId: string;
}

/** A claim on a run, by the epoch that it was given. */
export interface ClaimRef {
  readonly runId: string;
  readonly epoch: number;
}

/** Creates a run, or appends to it, or both. */
export interface RunUnit extends UnitBase {
  readonly kind: 'run';
  /** Whose run it is: writes of different tenants take turns on their way to the store. */
  readonly tenant: string;
  readonly runId: string;
  /** First write of a run. With a holder the run is born claimed, at epoch 1; without, it waits unclaimed at epoch 0. */
  readonly create?: {
    readonly record: CreationRecord;
    readonly holder?: string;
    readonly exclusiveScope: boolean;
    /** Refused with `parent_ended` when this run has ended or does not exist: a child is never born to a parent that is gone. */
    readonly whileOpen?: string;
    /** Refused with `source_gone` when one of these does not exist or was erased: a fork is never made of what is being taken away. */
    readonly whileKept?: readonly string[];
  };
  readonly epoch: number;
  /** Sequence of the first event of this unit; with create 0, or where the record's fork begins. */
  readonly expectedSeq: number;
  readonly events: readonly StoredEvent[];
  readonly head: RunHead;
  readonly consume?: readonly { readonly commandId: string; readonly commandResult: CommandResult }[];
  readonly checkpoint?: Checkpoint;
  /** Gives up the claim with this write. */
  readonly release?: boolean;
  readonly outbox?: readonly NewOutboxRow[];
  readonly notify?: readonly Signal[];
  /** What its model calls on record in these events have used; added to what is kept for the run, the day and the model. */
  readonly usage?: readonly UsageRow[];
  /** Documents that are due at once, where they are there, and have another version from now on. */
  readonly wakes?: readonly DocumentPlace[];
}

/** What calls of one model have used on one UTC day. */
export interface UsageRow {
  /** Days since 1970-01-01. */
  readonly day: number;
  readonly workflowId: string;
  /** Names of at most 256 characters, without control characters. */
  readonly provider: string;
  readonly model: string;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the calls that had a price. */
  readonly nanoUsd: number;
  readonly unpricedCalls: number;
}

/**
 * A command that a run puts into another run's inbox with its own write, so that both are durable or neither is. Nothing
 * happens when that run is missing, belongs to another tenant, has ended, or has a command of this id already; the inbox's
 * limit does not count, because no caller waits for an error.
 */
export interface Signal {
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
  /** Where it belongs together with another write of a tenant. */
  readonly tenant?: string;
  readonly settle: readonly {
    readonly id: string;
    readonly state: 'done' | 'retry' | 'dead';
    readonly dueAt?: number;
  }[];
}

/**
 * Writes what is held against a run over what was there; absent = nothing any more. Refused with `run_missing` and `run_terminal`. A
 * quarantine takes the run from its holder.
 */
export interface SuspicionUnit extends UnitBase {
  readonly kind: 'suspicion';
  readonly runId: string;
  readonly suspicion?: Suspicion;
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
export interface DocumentWrite extends DocumentPlace {
  /** JSON text; absent = remove, which is no error when there is nothing. */
  readonly body?: string;
  readonly at: number;
  readonly expiresAt?: number;
  /** When `claimDueDocuments` finds it; absent = never. */
  readonly dueAt?: number;
  /** Refused with `document_exists` when there is one that has not expired. */
  readonly onlyNew?: boolean;
  /** Refused with `document_changed` unless the one that is there has this version. */
  readonly replaces?: string;
}

export interface DocumentUnit extends UnitBase, DocumentWrite {
  readonly kind: 'document';
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
 * id. Refused with `run_missing` when the tenant has no such run, `run_open` while it is running, and `run_pinned` while one
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
 * Takes away what only the fold may see of a run that has ended: overlays and the checkpoint; of its inputs only the names stay
 * (`erasedRecord`), the value of an answer becomes null, and outputs and variables of a child's signal go. Refused like a purge, but not because of a parent.
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
