import { isTerminalStatus } from '../model/run-state.ts';
import { erasedCommand, erasedRecord } from '../model/erased-record.ts';
import type {
  EraseUnit,
  ExpiredRun,
  Listed,
  Page,
  PurgeUnit,
  StoredEvent,
  Tombstone,
} from '../ports/store.ts';
import { type ForkFacts, isLive, isOpen, openReader, type Pins } from '../ports/store-rules.ts';
import { detachCosts } from './costs.ts';
import type { MemoryData, MemoryRun } from './data.ts';
import { nextSeq } from './data.ts';
import { removeTasks } from './tasks.ts';
import { decodeCursor, encodeCursor, takePage } from './list-runs.ts';

export interface MemoryTombstone extends Tombstone {
  readonly tenant: string;
}

export function pinsOf(data: MemoryData, runId: string): Pins {
  const forksOf = (sourceRunId: string): ForkFacts[] =>
    [...data.runs.values()]
      .filter(({ record }) => record.fork?.sourceRunId === sourceRunId)
      .map(({ record, head }) => ({ id: record.runId, isOpen: isOpen(head) }));
  return {
    openParent() {
      const parentRunId = data.runs.get(runId)?.record.parent?.runId;
      return parentRunId !== undefined && isOpen(data.runs.get(parentRunId)?.head) ? parentRunId : undefined;
    },
    openReader: () => openReader(runId, forksOf),
  };
}

export function applyPurge(data: MemoryData, { tenant, runId, at, tombstoneUntil }: PurgeUnit): void {
  data.runs.delete(runId);
  removeTasks(data, runId);
  detachCosts(data, runId);
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
  removeTasks(data, runId);
  delete run.checkpoint;
  run.events.forEach((event, index) => {
    run.events[index] = withoutOverlay(event);
  });
  for (const [id, command] of run.commands) {
    run.commands.set(id, { ...command, command: erasedCommand(command.command) });
  }
}

export function tombstoneAt(
  data: MemoryData,
  runId: string,
  tenant: string,
  now: number,
): Tombstone | undefined {
  const stone = data.tombstones.get(runId);
  if (stone === undefined || stone.tenant !== tenant || !isLive(stone.until, now)) return undefined;
  return { purgedAt: stone.purgedAt, until: stone.until };
}

export function pruneTombstones(data: MemoryData, now: number): number {
  const passed = [...data.tombstones].filter(([, stone]) => !isLive(stone.until, now));
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

function withoutOverlay({ overlay: _overlay, ...event }: StoredEvent): StoredEvent {
  return event;
}
