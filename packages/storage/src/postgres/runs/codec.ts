import {
  type CreationRecord,
  DamagedRunError,
  recordFromText,
  type RunHead,
  type Suspicion,
} from '@weft/engine';
import { HostError } from '@weft/protocol';
import { statusOf } from '../../status-number.ts';
import { recordSum } from '../../checksum.ts';
import { readOfRun } from '../../damaged-json.ts';

/** How values become columns, and back. */

const RUN_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** What is no run id names no run here, and must not reach a uuid column. */
export function isRunId(runId: string): boolean {
  return RUN_ID.test(runId);
}

/** The 16 bytes of a batch id, in the spelling of a uuid column. */
export function batchUuid(batchId: string): string {
  return Buffer.from(batchId, 'base64url').toString('hex').padEnd(32, '0').slice(0, 32);
}

/** The other way: as it stands in a uuid column. */
export function batchText(uuid: string): string {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('base64url');
}

export interface RecordColumns {
  readonly id: string;
  readonly tenant: string;
  readonly workflow: string;
  readonly created_at: number;
  readonly scope: string | null;
  /** What it has in common with other runs; null when all of it stands in `record`. */
  readonly origin: string | null;
  readonly record: string;
  readonly sum: number | null;
}

/** What runs are looked up by has a column of its own; all the rest is one text. */
export function recordText(record: CreationRecord): string {
  const {
    runId: _runId,
    tenant: _tenant,
    workflowId: _workflowId,
    createdAt: _createdAt,
    scopeId: _scopeId,
    ...rest
  } = record;
  return JSON.stringify(rest);
}

/** What runs of one workflow have in common: nothing of it comes from their callers. */
export function originText(record: CreationRecord): string {
  const { workflowVersion, definitionDigest, transport, engineVersion, limits } = record;
  return JSON.stringify({ workflowVersion, definitionDigest, transport, engineVersion, limits });
}

/** What `recordText` holds beyond the origin; what is empty is left out. */
export function restText(record: CreationRecord): string {
  const {
    runId: _runId,
    tenant: _tenant,
    workflowId: _workflowId,
    createdAt: _createdAt,
    scopeId: _scopeId,
    workflowVersion: _workflowVersion,
    definitionDigest: _definitionDigest,
    transport: _transport,
    engineVersion: _engineVersion,
    limits: _limits,
    inputs,
    configurable,
    tags,
    metadata,
    ...rest
  } = record;
  return JSON.stringify({
    ...rest,
    inputs: unlessEmpty(inputs),
    configurable: unlessEmpty(configurable),
    tags: tags.length === 0 ? undefined : tags,
    metadata: unlessEmpty(metadata),
  });
}

function unlessEmpty<Value extends object>(value: Value): Value | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}

const EMPTY = { inputs: {}, configurable: {}, tags: [], metadata: {} };

type ElsewhereStored = 'runId' | 'tenant' | 'workflowId' | 'createdAt' | 'scopeId';

/** Over the columns that hold a record, `origin` as text, and `record`. */
export function sumOfRecord(
  { runId, tenant, workflowId, createdAt, scopeId }: CreationRecord,
  origin: string | null,
  text: string,
): number {
  return recordSum(runId, [tenant, workflowId, createdAt, scopeId ?? null, origin], text);
}

/** Throws DamagedRunError when the record is not what was written. */
export function recordFrom(row: RecordColumns): CreationRecord {
  const { tenant, workflow, created_at: createdAt, scope } = row;
  const parts = [tenant, workflow, createdAt, scope, row.origin];
  if (row.sum !== null && row.sum !== recordSum(row.id, parts, row.record))
    throw new DamagedRunError(row.id, undefined);
  return readOfRun(row.id, () => {
    const origin: object = row.origin === null ? {} : { ...EMPTY, ...JSON.parse(row.origin) };
    return recordFromText(row.record, (members) => {
      const rest = { ...origin, ...members } as Omit<CreationRecord, ElsewhereStored>;
      return {
        runId: row.id,
        tenant: row.tenant,
        workflowId: row.workflow,
        createdAt: row.created_at,
        ...(row.scope !== null && { scopeId: row.scope }),
        ...rest,
      };
    });
  });
}

export interface HeadColumns {
  readonly status: number;
  readonly wake_at: number | null;
  readonly started_at: number | null;
  readonly ended_at: number | null;
  readonly node: string | null;
  readonly error: string | null;
}

export function headFrom(row: HeadColumns): RunHead {
  return {
    status: statusOf(row.status),
    wakeAt: row.wake_at,
    ...(row.started_at !== null && { startedAt: row.started_at }),
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
    ...(row.node !== null && { currentNodeId: row.node }),
    ...(row.error !== null && { errorCode: row.error }),
  };
}

export function suspicionText(suspicion: Suspicion | undefined): string | null {
  return suspicion === undefined ? null : JSON.stringify(suspicion);
}

/** A place in a list: what its last row is sorted by. Opaque to clients. */
export function encodeCursor(place: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

type CursorPart = 'number' | 'run' | 'text';

type Place<Shape extends readonly CursorPart[]> = {
  readonly [Index in keyof Shape]: Shape[Index] extends 'number' ? number : string;
};

/** `shape` says for each member whether it must be a number (a safe integer), a run id or any text. */
export function decodeCursor<const Shape extends readonly CursorPart[]>(
  cursor: string,
  shape: Shape,
): Place<Shape> {
  const place = parsedOrNothing(cursor);
  if (Array.isArray(place) && place.length === shape.length && shape.every((kind, i) => fits(place[i], kind)))
    return place as unknown as Place<Shape>;
  throw new HostError('validation_error', 'cursor is not one this host gave; start again without it.', {
    field: 'cursor',
  });
}

function parsedOrNothing(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}

function fits(value: unknown, kind: CursorPart): boolean {
  if (kind === 'number') return Number.isSafeInteger(value);
  return typeof value === 'string' && (kind === 'text' ? !value.includes('\0') : isRunId(value));
}
