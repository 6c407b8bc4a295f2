import { isTerminalStatus } from '../model/run-state.ts';
import { erasedRecord } from '../model/erased-record.ts';
import type {
  EraseUnit,
  ExpiredRun,
  Listed,
  Page,
  PurgeUnit,
  Refusal,
  StoredCommand,
  StoredEvent,
  Tombstone,
} from '../ports/store.ts';
import type { MemoryData, MemoryRun } from './data.ts';
import { nextSeq } from './data.ts';
import { decodeCursor, encodeCursor, takePage } from './list-runs.ts';

export interface MemoryTombstone extends Tombstone {
  readonly tenant: string;
}

export function refusalOfPurge(data: MemoryData, { tenant, runId }: PurgeUnit): Refusal | undefined {
  const run = data.runs.get(runId);
  if (run === undefined || run.record.tenant !== tenant) return { reason: 'run_missing' };
  const parent = run.record.parent && data.runs.get(run.record.parent.runId);
  return refusalOfOpen(run) ?? refusalOfPin(parent && isOpen(parent) ? parent : openReader(data, runId));
}

export function refusalOfErasure(data: MemoryData, { tenant, runId }: EraseUnit): Refusal | undefined {
  const run = data.runs.get(runId);
  if (run === undefined || run.record.tenant !== tenant) return { reason: 'run_missing' };
  return refusalOfOpen(run) ?? refusalOfPin(openReader(data, runId));
}

export function applyPurge(data: MemoryData, { tenant, runId, at, tombstoneUntil }: PurgeUnit): void {
  data.runs.delete(runId);
  data.tombstones.set(runId, { tenant, purgedAt: at, until: tombstoneUntil });
  for (const [id, { row }] of data.outbox) if (row.runId === runId) data.outbox.delete(id);
  for (const key of data.blobs.keys()) {
    const [owner, run] = JSON.parse(key) as string[];
    if (owner === tenant && run === runId) data.blobs.delete(key);
  }
  for (const key of data.documents.keys()) {
    const [owner, , scope] = JSON.parse(key) as string[];
    if (owner === tenant && scope === runId) data.documents.delete(key);
  }
}

export function applyErasure(data: MemoryData, { runId, at }: EraseUnit): void {
  const run = data.runs.get(runId);
  if (run === undefined) return;
  run.record = erasedRecord(run.record);
  run.erasedAt ??= at;
  delete run.checkpoint;
  run.events.forEach((event, index) => {
    run.events[index] = withoutOverlay(event);
  });
  for (const [id, command] of run.commands) run.commands.set(id, withoutValues(command));
}

export function tombstoneAt(
  data: MemoryData,
  runId: string,
  tenant: string,
  now: number,
): Tombstone | undefined {
  const stone = data.tombstones.get(runId);
  if (stone === undefined || stone.tenant !== tenant || stone.until <= now) return undefined;
  return { purgedAt: stone.purgedAt, until: stone.until };
}

export function pruneTombstones(data: MemoryData, now: number): number {
  const passed = [...data.tombstones].filter(([, stone]) => stone.until <= now);
  for (const [runId] of passed) data.tombstones.delete(runId);
  return passed.length;
}

export function listExpired(
  data: MemoryData,
  tenant: string | undefined,
  before: number,
  page: Page,
): Listed<ExpiredRun> {
  const after = page.cursor === undefined ? -1 : decodeCursor(page.cursor)[0];
  const found = [...data.runs.values()]
    .filter(
      ({ record, head, order }) =>
        order > after &&
        (tenant === undefined || record.tenant === tenant) &&
        record.createdAt < before &&
        isTerminalStatus(head.status) &&
        (head.endedAt ?? record.createdAt) < before,
    )
    .sort((a, b) => a.order - b.order);
  const listed = takePage(found, page.limit, ({ order }) => encodeCursor([order, 0]));
  return { ...listed, rows: listed.rows.map(expiredFrom) };
}

function expiredFrom(run: MemoryRun): ExpiredRun {
  const { runId, tenant, createdAt } = run.record;
  return { runId, tenant, endedAt: run.head.endedAt ?? createdAt, events: nextSeq(run) };
}

/** An imported run never goes on, however its log ends. */
function isOpen({ head, record }: MemoryRun): boolean {
  return !isTerminalStatus(head.status) && record.imported === undefined;
}

function refusalOfOpen(run: MemoryRun): Refusal | undefined {
  return isOpen(run) ? { reason: 'run_open', status: run.head.status } : undefined;
}

function refusalOfPin(by: MemoryRun | undefined): Refusal | undefined {
  return by === undefined ? undefined : { reason: 'run_pinned', byRunId: by.record.runId };
}

/** A fork that is under way and reads this run's log, directly or through forks in between. */
function openReader(data: MemoryData, runId: string): MemoryRun | undefined {
  const forks = [...data.runs.values()].filter(({ record }) => record.fork?.sourceRunId === runId);
  for (const fork of forks) {
    const reader = isOpen(fork) ? fork : openReader(data, fork.record.runId);
    if (reader !== undefined) return reader;
  }
  return undefined;
}

function withoutOverlay({ overlay: _overlay, ...event }: StoredEvent): StoredEvent {
  return event;
}

function withoutValues(stored: StoredCommand): StoredCommand {
  const { command } = stored;
  if (command.type === 'resolve' || command.type === 'channel')
    return { ...stored, command: { ...command, value: null } };
  if (command.type !== 'child') return stored;
  const { outputs: _outputs, variables: _variables, ...notice } = command;
  return { ...stored, command: notice };
}
