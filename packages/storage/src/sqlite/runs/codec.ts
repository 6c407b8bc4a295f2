import {
  type CreationRecord,
  DamagedRunError,
  recordFromText,
  type RunHead,
  type RunLimits,
} from '@weft/engine';
import { statusOf } from '../../status-number.ts';
import { recordSum } from '../../checksum.ts';
import { readOfRun } from '../../damaged-json.ts';
import type { SqlWord } from '../file/driver.ts';
import type { StringTable } from './string-table.ts';

/** How values become small columns, and back. */

const RUN_ID_LENGTH = 36;
const DASH = 0x2d;

/**
 * The 16 bytes of a run id, or undefined for what cannot be one: no such run exists here. Written out, because it is asked for
 * every new run: half the time of a regular expression and a Buffer from text without dashes.
 */
export function runIdBytes(runId: string): Uint8Array | undefined {
  if (runId.length !== RUN_ID_LENGTH) return undefined;
  const bytes = new Uint8Array(16);
  let at = 0;
  for (let index = 0; index < 16; index += 1) {
    if (index === 4 || index === 6 || index === 8 || index === 10) {
      if (runId.charCodeAt(at) !== DASH) return undefined;
      at += 1;
    }
    const byte = hexDigit(runId.charCodeAt(at)) * 16 + hexDigit(runId.charCodeAt(at + 1));
    if (Number.isNaN(byte)) return undefined;
    bytes[index] = byte;
    at += 2;
  }
  return bytes;
}

/** The value of a digit 0-9 or a-f, by its character code. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : Number.NaN;
}

export function runIdText(bytes: Uint8Array): string {
  const hex = toBuffer(bytes).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export function batchBytes(batchId: string): Uint8Array {
  return Buffer.from(batchId, 'base64url');
}

export function batchText(bytes: Uint8Array): string {
  return toBuffer(bytes).toString('base64url');
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
  readonly sum: number | null;
}

/** What many runs have in common goes to the dictionary as one word; what is empty is not stored. */
export function recordColumns(record: CreationRecord, strings: StringTable): RecordColumns {
  const { runId, tenant, workflowId, principal = null, createdAt, scopeId = null } = record;
  const origin = originText(record);
  const more = moreOf(record);
  return {
    tenant: strings.numberOf(tenant),
    workflow: strings.numberOf(workflowId),
    origin: strings.shorten(origin),
    principal: principal === null ? null : strings.shorten(principal),
    created_at: createdAt,
    scope: scopeId,
    more,
    sum: recordSum(runId, [tenant, workflowId, origin, principal, createdAt, scopeId], more ?? ''),
  };
}

type Origin = Pick<
  CreationRecord,
  'workflowVersion' | 'definitionDigest' | 'transport' | 'engineVersion' | 'limits'
>;

function originOf({
  workflowVersion,
  definitionDigest,
  transport,
  engineVersion,
  limits,
}: CreationRecord): string {
  return JSON.stringify({ workflowVersion, definitionDigest, transport, engineVersion, limits });
}

const MAX_ORIGINS = 1_000;

/** Runs of one workflow mostly share their origin: the last one of each digest is kept as text. */
function createOriginMemo(): (record: CreationRecord) => string {
  const last = new Map<string, { readonly origin: Origin; readonly text: string }>();
  return (record) => {
    const known = last.get(record.definitionDigest);
    if (known !== undefined && isSameOrigin(known.origin, record)) return known.text;
    const text = originOf(record);
    if (last.size >= MAX_ORIGINS) last.clear();
    last.set(record.definitionDigest, { origin: JSON.parse(text), text });
    return text;
  };
}

/** The same the other way: runs that share an origin share what it is parsed into. */
function createOriginReader(): (text: string) => Origin {
  const parsed = new Map<string, Origin>();
  return (text) => {
    const known = parsed.get(text);
    if (known !== undefined) return known;
    const origin: Origin = JSON.parse(text);
    if (parsed.size >= MAX_ORIGINS) parsed.clear();
    parsed.set(text, origin);
    return origin;
  };
}

const originText = createOriginMemo();
const originFrom = createOriginReader();

function isSameOrigin(a: Origin, b: Origin): boolean {
  return (
    a.workflowVersion === b.workflowVersion &&
    a.engineVersion === b.engineVersion &&
    a.transport === b.transport &&
    isSameLimits(a.limits, b.limits)
  );
}

/** The type names a limit that is forgotten here. */
const EVERY_LIMIT: Record<keyof RunLimits, true> = {
  nodeExecutions: true,
  runDurationMs: true,
  workflowTimeoutMs: true,
  concurrency: true,
  maxPayloadBytes: true,
  maxStateBytes: true,
  loopIterations: true,
  clarificationRounds: true,
  deadLetters: true,
};
const LIMIT_NAMES = Object.keys(EVERY_LIMIT) as (keyof RunLimits)[];

function isSameLimits(a: RunLimits, b: RunLimits): boolean {
  if (a === b) return true;
  for (const name of LIMIT_NAMES) if (a[name] !== b[name]) return false;
  return true;
}

type More = {
  -readonly [Field in
    | 'workspace'
    | 'inputs'
    | 'sensitiveInputs'
    | 'configurable'
    | 'tags'
    | 'metadata'
    | 'callbackUrl'
    | 'traceparent'
    | 'parent'
    | 'fork'
    | 'imported'
    | 'source']?: CreationRecord[Field];
};

function moreOf(record: CreationRecord): string | null {
  const { inputs, sensitiveInputs, configurable, tags, metadata, callbackUrl, traceparent } = record;
  const { workspace, parent, fork, imported, source } = record;
  const more: More = {};
  if (workspace !== undefined) more.workspace = workspace;
  if (!isEmpty(inputs)) more.inputs = inputs;
  if (sensitiveInputs !== undefined) more.sensitiveInputs = sensitiveInputs;
  if (!isEmpty(configurable)) more.configurable = configurable;
  if (tags.length > 0) more.tags = tags;
  if (!isEmpty(metadata)) more.metadata = metadata;
  if (callbackUrl !== undefined) more.callbackUrl = callbackUrl;
  if (traceparent !== undefined) more.traceparent = traceparent;
  if (parent !== undefined) more.parent = parent;
  if (fork !== undefined) more.fork = fork;
  if (imported !== undefined) more.imported = imported;
  if (source !== undefined) more.source = source;
  return isEmpty(more) ? null : JSON.stringify(more);
}

function isEmpty(object: object): boolean {
  for (const _name in object) return false;
  return true;
}

/** Throws DamagedRunError when the record is not what was written. */
export function recordFrom(runId: string, row: RecordColumns, strings: StringTable): CreationRecord {
  const { created_at: createdAt, scope, more } = row;
  const tenant = strings.read(row.tenant);
  const workflowId = strings.read(row.workflow);
  const origin = strings.read(row.origin);
  const principal = row.principal === null ? null : strings.read(row.principal);
  if (tenant === undefined || workflowId === undefined || origin === undefined || principal === undefined)
    throw new DamagedRunError(runId, undefined);
  const parts = [tenant, workflowId, origin, principal, createdAt, scope];
  if (row.sum !== null && row.sum !== recordSum(runId, parts, more ?? ''))
    throw new DamagedRunError(runId, undefined);
  return readOfRun(runId, () =>
    recordFromText(more ?? '{}', (rest) => ({
      runId,
      tenant,
      workflowId,
      createdAt,
      inputs: {},
      configurable: {},
      tags: [],
      metadata: {},
      ...(principal !== null && { principal }),
      ...(scope !== null && { scopeId: scope }),
      ...originFrom(origin),
      ...rest,
    })),
  );
}

export interface HeadColumns {
  readonly status: number;
  readonly wake_at: number | null;
  readonly started: number | null;
  readonly ended: number | null;
  readonly node: SqlWord | null;
  readonly error: SqlWord | null;
}

export function headFrom(row: HeadColumns & { readonly created_at: number }, strings: StringTable): RunHead {
  const currentNodeId = row.node === null ? undefined : strings.read(row.node);
  const errorCode = row.error === null ? undefined : strings.read(row.error);
  return {
    status: statusOf(row.status),
    wakeAt: row.wake_at,
    ...(row.started !== null && { startedAt: row.created_at + row.started }),
    ...(row.ended !== null && { endedAt: row.created_at + row.ended }),
    ...(currentNodeId !== undefined && { currentNodeId }),
    ...(errorCode !== undefined && { errorCode }),
  };
}
