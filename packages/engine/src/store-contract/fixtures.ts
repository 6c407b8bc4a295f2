import { randomBytes, randomUUID } from 'node:crypto';
import type { CreationRecord } from '../model/run-state.ts';
import type {
  ApiKeyRow,
  AuditEntry,
  BlobUnit,
  Command,
  CommandUnit,
  DocumentUnit,
  IdempotencyRecord,
  RunHead,
  RunUnit,
  Store,
  StoredEvent,
  WorkflowUnit,
  WriteResult,
  WriteUnit,
} from '../ports/store.ts';

export const START = 1_700_000_000_000;

/** A time-ordered run id (UUID version 7), as the host makes them. */
export function newRunId(at = START): string {
  const time = at.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

export function newBatchId(): string {
  return randomBytes(16).toString('base64url');
}

export function event(seq: number, type = 'node.completed', more: Partial<StoredEvent> = {}): StoredEvent {
  return { seq, type, at: START + seq, payload: `{"n":${seq}}`, ...more };
}

export function events(from: number, count: number): StoredEvent[] {
  return Array.from({ length: count }, (_, index) => event(from + index));
}

export const running: RunHead = { status: 'running', wakeAt: 0 };
export const completed: RunHead = { status: 'completed', wakeAt: null, startedAt: START, endedAt: START + 9 };
export const waiting: RunHead = { status: 'waiting-external', wakeAt: null };

export function recordOf(runId: string, more: Partial<CreationRecord> = {}): CreationRecord {
  return {
    runId,
    tenant: 'acme',
    workflowId: 'greet',
    workflowVersion: '1.0.0',
    definitionDigest: 'd'.repeat(64),
    createdAt: START,
    inputs: {},
    configurable: {},
    tags: [],
    metadata: {},
    transport: 'rest',
    engineVersion: 1,
    limits: {
      nodeExecutions: 100,
      runDurationMs: 0,
      concurrency: 8,
      maxPayloadBytes: 262_144,
      maxStateBytes: 4_194_304,
      loopIterations: 50,
      clarificationRounds: 3,
    },
    ...more,
  };
}

export interface CreateOptions extends Partial<Omit<RunUnit, 'create'>> {
  readonly holder?: string;
  readonly record?: Partial<CreationRecord>;
  readonly exclusiveScope?: boolean;
}

export function createUnit(runId: string, options: CreateOptions = {}): RunUnit {
  const { holder, record, exclusiveScope = false, ...unit } = options;
  return {
    kind: 'run',
    batchId: newBatchId(),
    tenant: record?.tenant ?? 'acme',
    runId,
    create: { record: recordOf(runId, record), exclusiveScope, ...(holder === undefined ? {} : { holder }) },
    epoch: holder === undefined ? 0 : 1,
    expectedSeq: 0,
    events: [],
    head: running,
    ...unit,
  };
}

export function appendUnit(runId: string, expectedSeq: number, unit: Partial<RunUnit> = {}): RunUnit {
  return {
    kind: 'run',
    batchId: newBatchId(),
    tenant: 'acme',
    runId,
    epoch: 1,
    expectedSeq,
    events: [event(expectedSeq)],
    head: running,
    ...unit,
  };
}

export function commandUnit(runId: string, commandId: string, more: Partial<CommandUnit> = {}): CommandUnit {
  const command: Command = { type: 'cancel', reason: 'enough' };
  return {
    kind: 'command',
    batchId: newBatchId(),
    tenant: 'acme',
    runId,
    commandId,
    command,
    inboxLimit: 3,
    ...more,
  };
}

export function idempotencyRecord(more: Partial<IdempotencyRecord> = {}): IdempotencyRecord {
  return {
    tenant: 'acme',
    operation: 'POST /v1/runs',
    keyHash: 'a'.repeat(64),
    requestDigest: 'b'.repeat(64),
    expiresAt: START + 1_000,
    response: { status: 201, body: '{"runId":"…"}' },
    ...more,
  };
}

export function workflowUnit(version: string, more: Partial<WorkflowUnit> = {}): WorkflowUnit {
  const definition = JSON.stringify({ id: more.id ?? 'greet', version });
  return {
    kind: 'workflow',
    batchId: newBatchId(),
    tenant: 'acme',
    id: 'greet',
    version,
    digest: Buffer.from(definition).toString('hex').padEnd(64, '0').slice(-64),
    definition,
    registeredAt: START,
    ...more,
  };
}

export function keyRow(keyId: string, more: Partial<ApiKeyRow> = {}): ApiKeyRow {
  return {
    keyId,
    hash: Buffer.from(keyId).toString('hex').padEnd(64, '0'),
    tenant: 'acme',
    principal: 'ada',
    kind: 'user',
    test: false,
    scopes: ['runs:read', 'runs:write'],
    createdAt: START,
    ...more,
  };
}

export function auditEntry(action: string, more: Partial<AuditEntry> = {}): AuditEntry {
  return { at: START, tenant: 'acme', actor: 'ada', action, target: 'key:1', ...more };
}

export function documentUnit(id: string, more: Partial<DocumentUnit> = {}): DocumentUnit {
  return {
    kind: 'document',
    batchId: newBatchId(),
    tenant: 'acme',
    collection: 'notes',
    scope: '',
    id,
    body: JSON.stringify({ id }),
    at: START,
    ...more,
  };
}

/** Takes a document away, whatever it holds. */
export function removalUnit(id: string, more: Partial<DocumentUnit> = {}): DocumentUnit {
  const { body: _, ...unit } = documentUnit(id, more);
  return unit;
}

export function blobUnit(runId: string, index: number, more: Partial<BlobUnit> = {}): BlobUnit {
  return {
    kind: 'blob',
    batchId: newBatchId(),
    tenant: 'acme',
    runId,
    blobId: 'report',
    index,
    bytes: Uint8Array.of(index, 1, 2),
    ...more,
  };
}

/** What makes the creation of a run that of a fork, which leaves its source before event `fromSeq`. */
export function forkOptions(
  fromSeq: number,
  count = 0,
): Pick<CreateOptions, 'record' | 'expectedSeq' | 'events'> {
  return {
    record: { fork: { sourceRunId: newRunId(), fromSeq, mode: 'branch' } },
    expectedSeq: fromSeq,
    events: events(fromSeq, count),
  };
}

export async function commitOne(store: Store, unit: WriteUnit): Promise<WriteResult> {
  const [result] = await store.commit([unit]);
  if (!result) throw new Error('commit answered nothing for its unit');
  return result;
}

/** Commits what a test takes for granted. */
export async function given(store: Store, ...units: WriteUnit[]): Promise<void> {
  const results = await store.commit(units);
  const refused = results.find((result) => result.state !== 'committed');
  if (refused || results.length !== units.length) {
    throw new Error(`the test could not be set up: ${JSON.stringify(refused)}`);
  }
}

/** A run held by `holder` at epoch 1, with `count` events. */
export async function givenHeldRun(
  store: Store,
  options: { holder?: string; count?: number; record?: Partial<CreationRecord> } = {},
): Promise<string> {
  const runId = newRunId();
  const { holder = 'h1', count = 0, record = {} } = options;
  await store.heartbeat(holder, 10_000);
  await given(store, createUnit(runId, { holder, record, events: events(0, count) }));
  return runId;
}

/** A run that no one holds, with no event. */
export async function givenFreeRun(
  store: Store,
  head: RunHead = running,
  record: Partial<CreationRecord> = {},
): Promise<string> {
  const runId = newRunId();
  await given(store, createUnit(runId, { head, record }));
  return runId;
}

export async function readAll(store: Store, runId: string): Promise<readonly StoredEvent[]> {
  return store.readEvents(runId, 0, 1_000_000, Number.MAX_SAFE_INTEGER);
}
