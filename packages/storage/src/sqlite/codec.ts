import type { CreationRecord, RunHead, RunLimits, RunStatus } from '@weft/engine';
import type { SqlWord } from './driver.ts';
import type { Words } from './words.ts';

/** How values become small columns, and back. */

/** A status is stored as its place here; those from FIRST_TERMINAL on are the end of a run. The order is frozen. */
const STATUSES: readonly RunStatus[] = [
  'pending',
  'running',
  'paused',
  'waiting-approval',
  'waiting-input',
  'waiting-external',
  'completed',
  'failed',
  'cancelled',
];
export const FIRST_TERMINAL = STATUSES.indexOf('completed');

const STATUS_NUMBERS = new Map(STATUSES.map((status, number) => [status, number]));

export function statusNumber(status: RunStatus): number {
  const number = STATUS_NUMBERS.get(status);
  if (number === undefined) throw new TypeError(`There is no run status ${status}.`);
  return number;
}

export function statusOf(number: number): RunStatus {
  const status = STATUSES[number];
  if (status === undefined)
    throw new Error(`The store holds an unknown status ${number}; it was written by a newer program.`);
  return status;
}

const RUN_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The 16 bytes of a run id, or undefined for what cannot be one: no such run exists here. */
export function runIdBytes(runId: string): Uint8Array | undefined {
  return RUN_ID.test(runId) ? Buffer.from(runId.replaceAll('-', ''), 'hex') : undefined;
}

export function runIdText(bytes: Uint8Array): string {
  const hex = toBuffer(bytes).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export function batchBytes(batchId: string): Uint8Array {
  return Buffer.from(batchId, 'base64url');
}

const SHA256_HEX = /^[0-9a-f]{64}$/;

/** A hex digest at half its length. */
export function digestBytes(digest: string): Uint8Array | string {
  return SHA256_HEX.test(digest) ? Buffer.from(digest, 'hex') : digest;
}

export function digestText(stored: Uint8Array | string): string {
  return typeof stored === 'string' ? stored : toBuffer(stored).toString('hex');
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return toBuffer(a).equals(b);
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export interface RecordColumns {
  readonly tenant: number;
  readonly workflow: number;
  readonly origin: SqlWord;
  readonly principal: SqlWord | null;
  readonly created_at: number;
  readonly scope: string | null;
  readonly more: string | null;
}

/** What many runs have in common goes to the dictionary as one word; what is empty is not stored. */
export function recordColumns(record: CreationRecord, words: Words): RecordColumns {
  return {
    tenant: words.numberOf(record.tenant),
    workflow: words.numberOf(record.workflowId),
    origin: words.shorten(originText(record)),
    principal: record.principal === undefined ? null : words.shorten(record.principal),
    created_at: record.createdAt,
    scope: record.scopeId ?? null,
    more: moreOf(record),
  };
}

function originOf({
  workflowVersion,
  definitionDigest,
  transport,
  engineVersion,
  limits,
}: CreationRecord): string {
  return JSON.stringify({ workflowVersion, definitionDigest, transport, engineVersion, limits });
}

/** Runs of one workflow mostly share their origin: the last one of each digest is kept as text. */
function createOriginMemo(): (record: CreationRecord) => string {
  const last = new Map<string, { readonly record: CreationRecord; readonly text: string }>();
  return (record) => {
    const known = last.get(record.definitionDigest);
    if (known !== undefined && isSameOrigin(known.record, record)) return known.text;
    const text = originOf(record);
    if (last.size >= MAX_ORIGINS) last.clear();
    last.set(record.definitionDigest, { record, text });
    return text;
  };
}

const MAX_ORIGINS = 1_000;
const originText = createOriginMemo();

function isSameOrigin(a: CreationRecord, b: CreationRecord): boolean {
  return (
    a.workflowVersion === b.workflowVersion &&
    a.engineVersion === b.engineVersion &&
    a.transport === b.transport &&
    isSameLimits(a.limits, b.limits)
  );
}

/** Written out one by one: this is asked for every new run. The type names a limit that is forgotten here. */
function isSameLimits(a: RunLimits, b: RunLimits): boolean {
  const same: Record<keyof RunLimits, boolean> = {
    nodeExecutions: a.nodeExecutions === b.nodeExecutions,
    runDurationMs: a.runDurationMs === b.runDurationMs,
    concurrency: a.concurrency === b.concurrency,
    maxPayloadBytes: a.maxPayloadBytes === b.maxPayloadBytes,
    maxStateBytes: a.maxStateBytes === b.maxStateBytes,
    loopIterations: a.loopIterations === b.loopIterations,
    clarificationRounds: a.clarificationRounds === b.clarificationRounds,
  };
  return Object.values(same).every(Boolean);
}

function moreOf({
  inputs,
  configurable,
  tags,
  metadata,
  callbackUrl,
  traceparent,
  parent,
  fork,
  imported,
}: CreationRecord): string | null {
  const more = {
    ...(Object.keys(inputs).length > 0 && { inputs }),
    ...(Object.keys(configurable).length > 0 && { configurable }),
    ...(tags.length > 0 && { tags }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(callbackUrl !== undefined && { callbackUrl }),
    ...(traceparent !== undefined && { traceparent }),
    ...(parent !== undefined && { parent }),
    ...(fork !== undefined && { fork }),
    ...(imported !== undefined && { imported }),
  };
  return Object.keys(more).length > 0 ? JSON.stringify(more) : null;
}

export function recordFrom(runId: string, row: RecordColumns, words: Words): CreationRecord {
  const origin: Pick<
    CreationRecord,
    'workflowVersion' | 'definitionDigest' | 'transport' | 'engineVersion' | 'limits'
  > = JSON.parse(words.read(row.origin));
  const more: Partial<CreationRecord> = row.more === null ? {} : JSON.parse(row.more);
  return {
    runId,
    tenant: words.read(row.tenant),
    workflowId: words.read(row.workflow),
    createdAt: row.created_at,
    inputs: {},
    configurable: {},
    tags: [],
    metadata: {},
    ...(row.principal !== null && { principal: words.read(row.principal) }),
    ...(row.scope !== null && { scopeId: row.scope }),
    ...origin,
    ...more,
  };
}

export interface HeadColumns {
  readonly status: number;
  readonly wake_at: number | null;
  readonly started: number | null;
  readonly ended: number | null;
  readonly node: SqlWord | null;
  readonly error: SqlWord | null;
}

export function headFrom(row: HeadColumns & { readonly created_at: number }, words: Words): RunHead {
  return {
    status: statusOf(row.status),
    wakeAt: row.wake_at,
    ...(row.started !== null && { startedAt: row.created_at + row.started }),
    ...(row.ended !== null && { endedAt: row.created_at + row.ended }),
    ...(row.node !== null && { currentNodeId: words.read(row.node) }),
    ...(row.error !== null && { errorCode: words.read(row.error) }),
  };
}
