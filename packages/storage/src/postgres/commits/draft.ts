import type {
  AuditEntry,
  Checkpoint,
  Command,
  CreationRecord,
  DocumentWrite,
  IdempotencyRecord,
  NewOutboxRow,
  RunStatus,
  StoredEvent,
  Suspicion,
  CommandResult,
  WorkflowUnit,
  ApiKeyRow,
  OutboxUnit,
  UsageRow,
} from '@weft/engine';
import { type ForkFacts, isOpen, type RunLookup } from '@weft/engine/store-rules';
import type { StoredRecord } from '../runs/origins.ts';
import type { BlobUnit, DocumentPlace, EraseUnit, PurgeUnit } from './units.ts';

export interface RunUsage extends UsageRow {
  readonly tenant: string;
  readonly run: string;
}

/** A run as it was found, with what the units of the group have made of it so far. */
export interface DraftRun {
  readonly id: string;
  readonly tenant: string;
  /** Set when a unit of this group created it. */
  readonly created?: CreationRecord;
  status: RunStatus;
  nextSeq: number;
  epoch: number;
  holder: string | null;
  /** Commands not yet consumed, and all that were ever accepted. */
  inbox: number;
  accepted: number;
  dueAt: number | null;
  wakeAt: number | null;
  startedAt: number | null;
  endedAt: number | null;
  node: string | null;
  error: string | null;
  batch: string;
  isErased: boolean;
  isChanged: boolean;
}

/** What the database held that the group's units must be evaluated by. */
export interface Found {
  readonly now: number;
  /** Names the transaction after an unknown outcome. */
  readonly transaction: string;
  readonly runs: Map<string, DraftRun>;
  /** By run and command: whether it waits to be consumed. */
  readonly commands: Map<string, boolean>;
  readonly idempotency: Map<string, IdempotencyRecord>;
  /** By tenant and scope: ids of active runs, oldest first. */
  readonly scopes: Map<string, string[]>;
  /** By tenant, id and version. */
  readonly workflows: Map<string, string>;
  /** By tenant and id: how often it was registered. */
  readonly registrations: Map<string, number>;
  readonly settings: Map<string, string>;
  /** By key id: the key's tenant. */
  readonly keys: Map<string, string>;
  readonly keyHashes: Set<string>;
  /** By place. */
  readonly documents: Map<string, FoundDocument>;
  /** Runs that are to be purged or erased: what they consist of. */
  readonly targets: Map<string, KeptRun>;
  /** By source: forks of the runs that are to be purged or erased, and forks of those. */
  readonly forks: Map<string, ForkFacts[]>;
}

export interface FoundDocument {
  /** Null = never. */
  readonly expiresAt: number | null;
  readonly version: string;
}

export interface KeptRun {
  /** A placeholder when it is damaged. */
  readonly record: CreationRecord;
  readonly isDamaged: boolean;
  readonly parent?: ForkFacts;
  /** Those that brought something along. */
  readonly commands: readonly { readonly id: string; readonly command: Command }[];
}

/** What is to be written when every unit has been evaluated. */
export interface Writes {
  readonly newRuns: DraftRun[];
  readonly events: { readonly run: string; readonly event: StoredEvent }[];
  readonly checkpoints: Map<string, Checkpoint>;
  readonly commands: {
    readonly run: string;
    readonly ord: number;
    readonly id: string;
    readonly command: Command;
  }[];
  readonly commandResults: {
    readonly run: string;
    readonly id: string;
    readonly commandResult: CommandResult;
  }[];
  readonly outbox: { readonly run: string; readonly row: NewOutboxRow }[];
  /** By run, day and model: a statement may meet each row once. */
  readonly usage: Map<string, RunUsage>;
  readonly settled: Map<string, OutboxUnit['settle'][number]>;
  readonly idempotency: IdempotencyRecord[];
  readonly workflows: { readonly unit: WorkflowUnit; readonly ord: number }[];
  readonly settings: Map<string, string>;
  readonly keys: ApiKeyRow[];
  readonly revoked: Map<string, number>;
  /** By place, in the order of the last write to it. */
  readonly documents: Map<string, { readonly write: DocumentWrite; readonly batchId: string }>;
  /** By place: documents that are due at once, and the batch that says so. */
  readonly woken: Map<string, { readonly place: DocumentPlace; readonly batchId: string }>;
  readonly blobs: Map<string, BlobUnit>;
  readonly purged: Map<string, PurgeUnit>;
  readonly erased: Map<
    string,
    { readonly unit: EraseUnit; readonly stored: StoredRecord; readonly commands: KeptRun['commands'] }
  >;
  /** By run. */
  readonly suspicions: Map<string, Suspicion | undefined>;
  readonly audit: { readonly entry: AuditEntry; readonly batch: string | null }[];
  /** Runs that got events, and their new length. */
  readonly appended: Map<string, number>;
  /** Runs that got a command, and their length. */
  readonly commanded: Map<string, number>;
}

export interface Draft {
  readonly found: Found;
  readonly writes: Writes;
  /** What creations ask about runs, as the units before them have left those. */
  readonly lookup: RunLookup;
}

export function newDraft(found: Found): Draft {
  const writes = newWrites();
  const lookup: RunLookup = {
    // What a group removes is written last, so that an id stays taken to its end.
    isTaken: (runId) => found.runs.has(runId) || writes.purged.has(runId),
    find: (runId) => found.runs.get(runId),
    openIn(tenant, scopeId) {
      const inScope = found.scopes.get(keyOf(tenant, scopeId));
      return inScope?.find((id) => !found.runs.has(id) || isOpen(found.runs.get(id)));
    },
  };
  return { found, writes, lookup };
}

function newWrites(): Writes {
  return {
    newRuns: [],
    events: [],
    checkpoints: new Map(),
    commands: [],
    commandResults: [],
    outbox: [],
    usage: new Map(),
    settled: new Map(),
    idempotency: [],
    workflows: [],
    settings: new Map(),
    keys: [],
    revoked: new Map(),
    documents: new Map(),
    woken: new Map(),
    blobs: new Map(),
    purged: new Map(),
    erased: new Map(),
    suspicions: new Map(),
    audit: [],
    appended: new Map(),
    commanded: new Map(),
  };
}

/** Several names as one key of a map, without two lists ever giving the same. */
export function keyOf(...names: readonly (string | number)[]): string {
  return JSON.stringify(names);
}

export function idempotencyKey({
  tenant,
  operation,
  keyHash,
}: Pick<IdempotencyRecord, 'tenant' | 'operation' | 'keyHash'>): string {
  return keyOf(tenant, operation, keyHash);
}

export function documentKey({ tenant, collection, scope, id }: DocumentPlace): string {
  return keyOf(tenant, collection, scope, id);
}
