import type { CreationRecord } from '../model/run-state.ts';
import { isTerminalStatus } from '../model/run-state.ts';
import { dueAt, firstSeq, type RunFacts } from '../ports/store-rules.ts';
import type {
  ApiKeyRow,
  Checkpoint,
  HolderRow,
  IdempotencyRecord,
  OutboxRow,
  RunHead,
  RunRow,
  StoredAuditEntry,
  StoredCommand,
  StoredEvent,
  Suspicion,
  WorkflowRow,
} from '../ports/store.ts';
import type { MemoryCost } from './costs.ts';
import type { MemoryDocument } from './documents.ts';
import type { MemoryTombstone } from './retention.ts';
import type { MemoryTask } from './tasks.ts';

/** Everything the memory store knows. Rows are replaced, never changed, so what a reader got stays as it was. */
export interface MemoryData {
  readonly runs: Map<string, MemoryRun>;
  /** Holder → the time until which its claims count. */
  readonly holders: Map<string, { readonly deadline: number; readonly about: string | undefined }>;
  readonly idempotency: Map<string, IdempotencyRecord>;
  /** In order of registration. */
  readonly workflows: WorkflowRow[];
  readonly definitions: Map<string, string>;
  readonly keys: Map<string, ApiKeyRow>;
  readonly settings: Map<string, string>;
  readonly outbox: Map<string, MemoryOutboxRow>;
  /** Tenant, collection and scope → id → document. */
  readonly documents: Map<string, Map<string, MemoryDocument>>;
  documentWrites: number;
  readonly blobs: Map<string, Uint8Array>;
  readonly audit: MemoryAuditEntry[];
  readonly costs: MemoryCost[];
  readonly tombstones: Map<string, MemoryTombstone>;
  /** In the order in which they were put up. */
  readonly tasks: Map<string, MemoryTask>;
  runsCreated: number;
}

export interface MemoryRun {
  record: CreationRecord;
  /** Position in the order of creation: tells runs apart that were created in the same millisecond. */
  readonly order: number;
  readonly events: StoredEvent[];
  readonly commands: Map<string, StoredCommand>;
  head: RunHead;
  epoch: number;
  holder?: string | undefined;
  checkpoint?: Checkpoint;
  erasedAt?: number;
  suspicion?: Suspicion | undefined;
  /** Length of the log when a holder was last lost, and how often in a row at this length. */
  lost?: { readonly seq: number; readonly times: number };
  lastBatch: string;
}

export interface MemoryOutboxRow {
  row: OutboxRow;
  /** When it may be claimed: due, or its lease over. */
  nextAt: number;
  dead: boolean;
}

export interface MemoryAuditEntry {
  readonly batchId: string;
  readonly entry: StoredAuditEntry;
}

export function emptyData(): MemoryData {
  return {
    runs: new Map(),
    holders: new Map(),
    idempotency: new Map(),
    workflows: [],
    definitions: new Map(),
    keys: new Map(),
    settings: new Map(),
    outbox: new Map(),
    documents: new Map(),
    documentWrites: 0,
    blobs: new Map(),
    audit: [],
    costs: [],
    tombstones: new Map(),
    tasks: new Map(),
    runsCreated: 0,
  };
}

export function idempotencyKey(tenant: string, operation: string, keyHash: string): string {
  return JSON.stringify([tenant, operation, keyHash]);
}

export function blobKey(tenant: string, runId: string, blobId: string, index: number): string {
  return JSON.stringify([tenant, runId, blobId, index]);
}

export function nextSeq({ record, events }: MemoryRun): number {
  return firstSeq(record) + events.length;
}

/** Who holds the run at this time; a holder past its deadline, or never heard of, holds nothing. */
export function holderAt(data: MemoryData, run: MemoryRun, now: number): string | undefined {
  if (run.holder === undefined) return undefined;
  const deadline = data.holders.get(run.holder)?.deadline;
  return deadline !== undefined && now < deadline ? run.holder : undefined;
}

export function runDueAt(run: MemoryRun): number | null {
  return dueAt(run.head, pendingCommands(run).length);
}

/** What the rules need to know of it. */
export function factsOf(run: MemoryRun | undefined): (RunFacts & { readonly tenant: string }) | undefined {
  if (run === undefined) return undefined;
  return {
    tenant: run.record.tenant,
    status: run.head.status,
    epoch: run.epoch,
    nextSeq: nextSeq(run),
    holder: run.holder,
    get inbox() {
      return pendingCommands(run).length;
    },
    isErased: run.erasedAt !== undefined,
    isImported: run.record.imported !== undefined,
  };
}

export function isQuarantined(run: MemoryRun): boolean {
  return run.suspicion?.quarantinedAt !== undefined && !isTerminalStatus(run.head.status);
}

/** In quarantine only a cancel counts. */
export function isClaimable(run: MemoryRun): boolean {
  if (!isQuarantined(run)) return true;
  return pendingCommands(run).some(({ command }) => command.type === 'cancel');
}

export function pendingCommands(run: MemoryRun): StoredCommand[] {
  return [...run.commands.values()].filter((command) => command.commandResult === undefined);
}

export function runRow(data: MemoryData, run: MemoryRun, now: number): RunRow {
  const holder = holderAt(data, run, now);
  return {
    record: run.record,
    head: run.head,
    nextSeq: nextSeq(run),
    epoch: run.epoch,
    ...(holder === undefined ? {} : { holder }),
    pendingCommands: pendingCommands(run).map((command) => command.command.type),
    ...(run.suspicion === undefined ? {} : { suspicion: run.suspicion }),
    ...(run.lost?.seq === nextSeq(run) ? { lostHolders: run.lost.times } : {}),
    ...(run.erasedAt === undefined ? {} : { erasedAt: run.erasedAt }),
  };
}

export function workflowAt(
  data: MemoryData,
  tenant: string,
  id: string,
  version: string,
): WorkflowRow | undefined {
  return data.workflows.find((row) => row.tenant === tenant && row.id === id && row.version === version);
}

/** Those within their deadline, and those past it that stand on open runs. */
export function listHolders(data: MemoryData, now: number): HolderRow[] {
  const open = [...data.runs.values()].filter((run) => !isTerminalStatus(run.head.status));
  return [...data.holders]
    .map(([name, { deadline, about }]) => ({
      name,
      deadline,
      isAlive: now < deadline,
      runs: open.filter((run) => run.holder === name).length,
      ...(about !== undefined && { about }),
    }))
    .filter(({ isAlive, runs }) => isAlive || runs > 0)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
