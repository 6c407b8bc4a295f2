import { isTerminalStatus } from '../model/run-state.ts';
import { applyUnit } from './apply-unit.ts';
import { unitRejection } from './check-unit.ts';
import type { MemoryData, MemoryOutboxRow, MemoryRun } from './data.ts';
import {
  blobKey,
  emptyData,
  holderAt,
  listHolders,
  idempotencyKey,
  isClaimable,
  isQuarantined,
  nextSeq,
  pendingCommands,
  runDueAt,
  runRow,
} from './data.ts';
import { claimObstacle, firstSeq, isLive } from '../ports/store-rules.ts';
import { claimDueDocuments, documentAt, listDocuments, pruneDocuments } from './documents.ts';
import { listExpired, pruneTombstones, tombstoneAt } from './retention.ts';
import { readCosts } from './costs.ts';
import { countRuns, decodeCursor, encodeCursor, listRuns, takePage } from './list-runs.ts';
import { memoryTasks, pruneTasks } from './tasks.ts';
import { isStorableUnit } from './storable-unit.ts';
import { wasCommitted } from './was-committed.ts';
import { createFairQueue } from '../runtime/fairness/fair-queue.ts';
import { UnstorableTextError } from '../model/storable-text.ts';
import type {
  Listed,
  RunRow,
  ClaimBounds,
  ClaimResult,
  CommitWatcher,
  DueRun,
  OutboxRow,
  Store,
  StoredEvent,
  WriteResult,
  WriteUnit,
} from '../ports/store.ts';

/** For tests: called around every commit; one that throws makes the outcome unknown, before as lost, after as kept. */
export interface StoreFaults {
  beforeCommit?: (() => void) | undefined;
  afterCommit?: (() => void) | undefined;
}

export interface MemoryStoreOptions {
  readonly clock?: () => number;
  readonly faults?: StoreFaults;
}

/** A store that keeps every promise but durability. For tests and for hosts that may forget. */
export function openMemoryStore({ clock = Date.now, faults = {} }: MemoryStoreOptions = {}): Store {
  const data = emptyData();
  const watchers = new Set<CommitWatcher>();
  const taskWatchers = new Set<() => void>();

  function notify(units: readonly WriteUnit[]): void {
    for (const unit of units) {
      if (unit.kind !== 'run' || unit.events.length === 0) continue;
      for (const watcher of watchers)
        callIsolated(() => watcher(unit.runId, unit.expectedSeq + unit.events.length));
    }
  }

  const tasks = memoryTasks(data, clock, {
    offered: () => queueMicrotask(() => taskWatchers.forEach((watcher) => callIsolated(watcher))),
    changed: (runId) => watchers.forEach((watcher) => callIsolated(() => watcher(runId, 0, true))),
  });

  function writeAll(units: readonly WriteUnit[]): WriteResult[] {
    return units.map((unit) => {
      if (!isStorableUnit(unit)) return { state: 'failed', cause: new UnstorableTextError() };
      const refusal = unitRejection(data, unit, clock());
      if (refusal) return { state: 'refused', ...refusal };
      applyUnit(data, unit, clock());
      return { state: 'committed' };
    });
  }

  return {
    async commit(units) {
      let results: WriteResult[];
      try {
        faults.beforeCommit?.();
        results = writeAll(units);
        faults.afterCommit?.();
      } catch (cause) {
        return units.map(() => ({ state: 'unknown', cause }));
      }
      notify(units.filter((_, index) => results[index]?.state === 'committed'));
      return results;
    },
    async committed(unit) {
      const isCommitted = wasCommitted(data, unit);
      if (isCommitted) notify([unit]);
      return isCommitted;
    },
    watch(onCommit) {
      watchers.add(onCommit);
      return () => watchers.delete(onCommit);
    },

    async readRun(runId, tenant) {
      const run = data.runs.get(runId);
      return run && (tenant === undefined || run.record.tenant === tenant)
        ? runRow(data, run, clock())
        : undefined;
    },
    async readEvents(runId, fromSeq, limit, maxBytes) {
      const run = data.runs.get(runId);
      return run ? takeEvents(run.events, fromSeq - firstSeq(run.record), limit, maxBytes) : [];
    },
    readCheckpoint: async (runId) => data.runs.get(runId)?.checkpoint,
    readTombstone: async (runId, tenant) => tombstoneAt(data, runId, tenant, clock()),
    listExpired: async (tenant, before, page) => listExpired(data, tenant, before, page),
    listRuns: async (...asked) => listedRows(data, listRuns(data, ...asked), clock()),
    countRuns: async (...asked) => countRuns(data, ...asked),
    readCosts: async (tenant, query) => readCosts(data, tenant, query),

    async heartbeat(holder, ttlMs, about) {
      data.holders.set(holder, { deadline: clock() + ttlMs, about });
    },
    holders: async () => listHolders(data, clock()),
    claim: async (runId, holder) => claimRun(data, runId, holder, clock()),
    claimDue: async (holder, limit, bounds) => claimDue(data, holder, { ...bounds, limit }, clock()),
    async nextDueAt() {
      const times = unheldRuns(data, clock()).map(({ at }) => at);
      return times.length === 0 ? undefined : Math.min(...times);
    },
    countQuarantined: async () => [...data.runs.values()].filter(isQuarantined).length,
    async heldBy(holder) {
      return [...data.runs.values()]
        .filter((run) => run.holder === holder && !isTerminalStatus(run.head.status))
        .map(({ record, epoch }) => ({ runId: record.runId, epoch }));
    },
    async releaseAll(holder) {
      for (const run of data.runs.values()) if (run.holder === holder) run.holder = undefined;
      data.holders.delete(holder);
    },

    async readInbox(runId) {
      const run = data.runs.get(runId);
      return run ? pendingCommands(run) : [];
    },
    readCommand: async (runId, commandId) => data.runs.get(runId)?.commands.get(commandId),

    async readIdempotency(tenant, operation, keyHash) {
      const record = data.idempotency.get(idempotencyKey(tenant, operation, keyHash));
      return record && isLive(record.expiresAt, clock()) ? record : undefined;
    },

    async readWorkflow(tenant, id, version) {
      return data.workflows.find(
        (row) =>
          row.tenant === tenant &&
          row.id === id &&
          (version === undefined ? row.current : row.version === version),
      );
    },
    readDefinition: async (digest) => data.definitions.get(digest),
    async listWorkflows(tenant, page) {
      const after = page.cursor === undefined ? -1 : decodeCursor(page.cursor)[0];
      const rows = data.workflows
        .map((row, order) => ({ row, order }))
        .filter(({ row, order }) => row.tenant === tenant && order > after);
      const listed = takePage(rows, page.limit, ({ order }) => encodeCursor([order, 0]));
      return { ...listed, rows: listed.rows.map(({ row }) => row) };
    },

    readKeyByHash: async (hash) => [...data.keys.values()].find((key) => key.hash === hash),
    listKeys: async (tenant) => [...data.keys.values()].filter((key) => key.tenant === tenant),

    readSetting: async (name) => data.settings.get(name),

    readDocument: async (place) => documentAt(data, place, clock()),
    listDocuments: async (tenant, collection, scope, page) =>
      listDocuments(data, { tenant, collection, scope }, page, clock()),
    claimDueDocuments: async (collection, limit, leaseMs) =>
      claimDueDocuments(data, { collection, limit, leaseMs }, clock()),
    async readBlob(tenant, runId, blobId, index) {
      const bytes = data.blobs.get(blobKey(tenant, runId, blobId, index));
      return bytes && Uint8Array.from(bytes);
    },

    claimOutbox: async (limit, leaseMs, except = []) =>
      claimOutbox(data, { limit, leaseMs, except: new Set(except) }, clock()),
    async readAudit(fromId, limit) {
      return data.audit
        .slice(Math.max(fromId - 1, 0))
        .slice(0, limit)
        .map(({ entry }) => entry);
    },

    ...tasks,
    watchTasks(onOffered) {
      taskWatchers.add(onOffered);
      return () => taskWatchers.delete(onOffered);
    },

    async prune() {
      const expired = [...data.idempotency].filter(([, record]) => !isLive(record.expiresAt, clock()));
      for (const [key] of expired) data.idempotency.delete(key);
      return (
        expired.length + pruneDocuments(data, clock()) + pruneTombstones(data, clock()) + pruneTasks(data)
      );
    },
    async ping() {},
    async close() {
      watchers.clear();
      taskWatchers.clear();
    },
  };
}

/** A listener's failure is its own: it must not turn a committed write into a failed one. */
function callIsolated(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function takeEvents(
  events: readonly StoredEvent[],
  from: number,
  limit: number,
  maxBytes: number,
): StoredEvent[] {
  const taken: StoredEvent[] = [];
  let bytes = 0;
  for (let index = Math.max(from, 0); index < events.length && taken.length < limit; index += 1) {
    const event = events[index];
    if (!event) break;
    bytes += Buffer.byteLength(event.payload) + Buffer.byteLength(event.overlay ?? '');
    if (taken.length > 0 && bytes > maxBytes) break;
    taken.push(event);
  }
  return taken;
}

function claimRun(data: MemoryData, runId: string, holder: string, now: number): ClaimResult {
  const run = data.runs.get(runId);
  if (!run) return { state: 'missing' };
  const obstacle = claimObstacle(run.head, holderAt(data, run, now));
  return obstacle ?? { state: 'claimed', epoch: takeOver(run, holder) };
}

function takeOver(run: MemoryRun, holder: string): number {
  if (run.holder !== undefined) {
    const seq = nextSeq(run);
    run.lost = { seq, times: run.lost?.seq === seq ? run.lost.times + 1 : 1 };
  }
  run.holder = holder;
  run.epoch += 1;
  return run.epoch;
}

function unheldRuns(data: MemoryData, now: number): { run: MemoryRun; at: number }[] {
  return [...data.runs.values()].flatMap((run) => {
    const at = runDueAt(run);
    const isFree = holderAt(data, run, now) === undefined && isClaimable(run);
    return at === null || !isFree ? [] : [{ run, at }];
  });
}

function claimDue(
  data: MemoryData,
  holder: string,
  { limit, maxBytes = Number.POSITIVE_INFINITY, after = '', except = [] }: ClaimBounds & { limit: number },
  now: number,
): DueRun[] {
  const due = unheldRuns(data, now)
    .filter(({ at, run }) => at <= now && !except.includes(run.record.tenant))
    .sort((a, b) => a.at - b.at);
  const tenants = [...new Set(due.map(({ run }) => run.record.tenant))].sort();
  const turns = createFairQueue<MemoryRun>();
  for (const tenant of [
    ...tenants.filter((name) => name > after),
    ...tenants.filter((name) => name <= after),
  ])
    for (const { run } of due) if (run.record.tenant === tenant) turns.push(run, tenant);
  const claimed: DueRun[] = [];
  let bytes = 0;
  for (let run = turns.next(); run !== undefined && claimed.length < limit; run = turns.next()) {
    const { runId, tenant } = run.record;
    const own = JSON.stringify(run.record).length + (run.checkpoint?.state.length ?? 0);
    if (claimed.length > 0 && bytes + own > maxBytes) break;
    turns.take()?.leave();
    claimed.push({ runId, tenant, bytes: own, epoch: takeOver(run, holder) });
    bytes += own;
  }
  return claimed;
}

interface OutboxClaim {
  readonly limit: number;
  readonly leaseMs: number;
  readonly except: ReadonlySet<string>;
}

function claimOutbox(data: MemoryData, { limit, leaseMs, except }: OutboxClaim, now: number): OutboxRow[] {
  return firstOfLanes(data)
    .filter(({ row, nextAt }) => nextAt <= now && !except.has(row.topic))
    .sort((a, b) => a.row.dueAt - b.row.dueAt)
    .slice(0, limit)
    .map((stored) => {
      stored.nextAt = now + leaseMs;
      stored.row = { ...stored.row, attempts: stored.row.attempts + 1 };
      return stored.row;
    });
}

/** Living rows without those that have one before them in their lane. A map remembers the order of writing. */
function firstOfLanes(data: MemoryData): MemoryOutboxRow[] {
  const lanes = new Set<string>();
  return [...data.outbox.values()].filter(({ dead, row: { lane } }) => {
    if (dead || (lane !== undefined && lanes.has(lane))) return false;
    if (lane !== undefined) lanes.add(lane);
    return true;
  });
}

function listedRows(data: MemoryData, { rows, ...cursor }: Listed<MemoryRun>, now: number): Listed<RunRow> {
  return { rows: rows.map((run) => runRow(data, run, now)), ...cursor };
}
