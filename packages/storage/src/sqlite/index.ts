import { randomBytes } from 'node:crypto';
import { closeSync, openSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AuditEntry, CommitWatcher, Store, WriteUnit } from '@weft/engine';
import { documentWrites } from '@weft/engine/store-rules';
import { openBackup, removeStaleCopies } from './file/backup.ts';
import { prepareBlobs } from './documents/blobs.ts';
import { freeAllClaims, prepareClaims } from './claims/claims.ts';
import { type Commit, prepareCommit, type SqliteFaults } from './commits/commit.ts';
import { freeAllTasks, prepareTasks } from './claims/tasks.ts';
import type { Connection } from './file/connection.ts';
import { prepareDocuments } from './documents/documents.ts';
import { prepareClaimDueDocuments } from './documents/due-documents.ts';
import { newHolders } from './claims/holders.ts';
import { prepareListExpired } from './retention/expired-runs.ts';
import { prepareIdempotency } from './commits/idempotency.ts';
import { prepareRetention } from './retention/retention.ts';
import { createKnownRuns } from './runs/known-runs.ts';
import { prepareCosts } from './runs/costs.ts';
import { prepareRunLists } from './runs/list-runs.ts';
import { type StoreLoss, StoreBehindError, StoreDamagedError } from './file/errors.ts';
import { type HighWaterMark, openHighWaterMark } from './file/high-water-mark.ts';
import { findLoss } from './file/loss.ts';
import { openFile } from './file/open-file.ts';
import { takeOwnership } from './file/owner-lock.ts';
import { readProgress } from './file/progress.ts';
import { preparePrune } from './retention/prune.ts';
import { prepareRegistryReader } from './documents/read-registry.ts';
import { prepareRunReader } from './runs/read-run.ts';
import { preparePendingDeletes } from './retention/pending-deletes.ts';
import { prepareSuspicions } from './runs/suspicions.ts';
import { createWalScrub, type WalScrub } from './file/wal-scrub.ts';
import { prepareWasCommitted } from './commits/was-committed.ts';
import { openStringTable } from './runs/string-table.ts';

export { checkSqliteFile, sqliteRejection } from './file/check-file.ts';
export type { Finding } from './file/check-file.ts';
export type { SqliteFaults } from './commits/commit.ts';
export { NotAStoreError, StoreBehindError, StoreInUseError, StoreTooNewError } from './file/errors.ts';
export type { Owner, StoreLoss } from './file/errors.ts';

export interface SqliteStoreOptions {
  /** The file; created when it does not exist. `<path>.lock`, `.owner`, `.mark`, `-wal` and `-shm` appear next to it. */
  readonly path: string;
  readonly clock?: () => number;
  /** How long to wait for readers of other processes, such as a backup, before a write fails. */
  readonly busyTimeoutMs?: number;
  /** Quota in pages of 4 KiB; writes beyond it are refused as `store_full`. */
  readonly maxPageCount?: number;
  /** There was a database before: a missing or empty one is a loss, also where no mark shows it. */
  readonly isExpected?: boolean;
  /**
   * Called when the store has lost something, which is accepted with it; the audit log keeps what it returns. Without it such a
   * store is not opened.
   */
  readonly acceptLoss?: (loss: StoreLoss) => AuditEntry;
  /** What was deleted is gone from the write-ahead log, too, after about this time; default a second. */
  readonly scrubAfterMs?: number;
  /** Called once when that takes much longer, with the reason. */
  readonly onScrubDelayed?: (reason: string) => void;
  /** Called once, when SQLite finds the file damaged, with what it says. From then on `ping` fails. */
  readonly onDamage?: (reason: string) => void;
  /** For tests. */
  readonly faults?: SqliteFaults;
}

const SCRUB_AFTER_MS = 1_000;

/**
 * Opens the file as its only owner; throws StoreInUseError, StoreTooNewError, StoreBehindError or NotAStoreError when that
 * cannot be.
 */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  const path = resolve(options.path);
  const releaseOwnership = takeOwnership(path);
  let mark: HighWaterMark | undefined;
  try {
    const { busyTimeoutMs = 5_000, maxPageCount } = options;
    removeStaleCopies(path);
    const opened = openHighWaterMark(path);
    mark = opened;
    const loss = findLoss(path, opened.found, options.isExpected ?? false);
    if (loss !== undefined && options.acceptLoss === undefined) throw new StoreBehindError(path, loss);
    createPrivately(path);
    const hasLeftovers = bytesOf(`${path}-wal`) > 0;
    const damage = createDamageNote(options.onDamage);
    const db = openFile({ path, busyTimeoutMs, maxPageCount, onMalformed: damage.note });
    const scrub = createWalScrub(db, {
      afterMs: options.scrubAfterMs ?? SCRUB_AFTER_MS,
      busyTimeoutMs,
      onDelayed: options.onScrubDelayed,
      beforeScrub: options.faults?.beforeScrub,
    });
    // An owner that was killed may have erased something just before.
    if (hasLeftovers) scrub.request();
    const connection: Connection = {
      db,
      strings: openStringTable(db),
      holders: newHolders(),
      currentWorkflows: new Map(),
      knownRuns: createKnownRuns(),
      damaged: damage.note,
      clock: options.clock ?? Date.now,
    };
    freeAllClaims(connection);
    freeAllTasks(connection);
    const closeFile = async (): Promise<void> => {
      scrub.stop();
      // Prepared statements keep the handle alive until they are collected, and with it the WAL; so fold it in now.
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      db.close();
      await opened.close();
      releaseOwnership();
    };
    const commit = prepareCommit(connection, opened, options.faults ?? {});
    if (loss !== undefined && options.acceptLoss !== undefined) {
      recordAcceptance(commit, options.acceptLoss(loss));
      // Not before: what is not on record was not accepted.
      opened.reset(readProgress(db));
    }
    const store = storeOn({ connection, commit, scrub, damage, closeFile });
    return { ...store, openBackup: () => openBackup(path) };
  } catch (error) {
    void mark?.close();
    releaseOwnership();
    throw error;
  }
}

function recordAcceptance(commit: Commit, entry: AuditEntry): void {
  const batchId = randomBytes(16).toString('base64url');
  const [result] = commit([{ kind: 'audit', batchId, audit: [entry] }]);
  if (result?.state === 'committed') return;
  const cause = result !== undefined && 'cause' in result ? result.cause : undefined;
  throw cause instanceof Error ? cause : new Error('The store has no room to record what is accepted.');
}

/** The file holds private overlays, so a new one is its user's alone; SQLite gives the files next to it the same mode. */
function createPrivately(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

interface DamageNote {
  note(error: unknown): Error;
  found(): Error | undefined;
}

function createDamageNote(onDamage: SqliteStoreOptions['onDamage']): DamageNote {
  let found: StoreDamagedError | undefined;
  return {
    note(error) {
      const isFirst = found === undefined;
      found = new StoreDamagedError(error);
      if (isFirst) onDamage?.(error instanceof Error ? error.message : String(error));
      return found;
    },
    found: () => found,
  };
}

interface Parts {
  readonly connection: Connection;
  readonly commit: Commit;
  readonly scrub: WalScrub;
  readonly damage: DamageNote;
  readonly closeFile: () => Promise<void>;
}

/** SQLite answers at once, so every method is synchronous inside; being async turns what it throws into a rejection. */
function storeOn({ connection, commit, scrub, damage, closeFile }: Parts): Store {
  const { db, holders, clock } = connection;
  const runs = prepareRunReader(connection);
  const registry = prepareRegistryReader(connection);
  const claims = prepareClaims(connection);
  const idempotency = prepareIdempotency(connection);
  const documents = prepareDocuments(connection);
  const claimDueDocuments = prepareClaimDueDocuments(connection);
  const blobs = prepareBlobs(connection);
  const runLists = prepareRunLists(connection, runs);
  const costs = prepareCosts(connection);
  const pendingDeletes = preparePendingDeletes(connection);
  const retention = prepareRetention(connection);
  const suspicions = prepareSuspicions(connection);
  const wasCommitted = prepareWasCommitted(connection, runs);
  const alive = db.prepare('SELECT 1');
  const watchers = new Set<CommitWatcher>();
  const taskWatchers = new Set<() => void>();
  let isClosed = false;

  function notify(unit: WriteUnit): void {
    if (unit.kind !== 'run' || unit.events.length === 0) return;
    for (const watcher of watchers)
      callIsolated(() => watcher(unit.runId, unit.expectedSeq + unit.events.length));
  }

  /** What it cannot take away now, on a full disk for one, it takes away after the next purge or start. */
  function moveAside(): void {
    pendingDeletes.clear().then(
      (isCleared) => isCleared && scrub.request(),
      () => undefined,
    );
  }

  /** True when the unit takes something away that was not meant to stay anywhere. */
  const isDeletion = (unit: WriteUnit): boolean =>
    unit.kind === 'purge' ||
    unit.kind === 'erase' ||
    documentWrites(unit).some(({ body }) => body === undefined);

  const prune = preparePrune(connection);
  const tasks = prepareTasks(connection, {
    offered: () => queueMicrotask(() => taskWatchers.forEach((watcher) => callIsolated(watcher))),
    changed: (runId) => watchers.forEach((watcher) => callIsolated(() => watcher(runId, 0, true))),
  });

  moveAside();
  return {
    async commit(units) {
      const results = commit(units);
      if (units.some(isDeletion)) scrub.request();
      if (units.some(({ kind }) => kind === 'purge')) moveAside();
      if (watchers.size > 0)
        units.forEach((unit, index) => results[index]?.state === 'committed' && notify(unit));
      return results;
    },
    async committed(unit) {
      const isCommitted = wasCommitted(unit);
      if (isCommitted) notify(unit);
      return isCommitted;
    },
    watch(onCommit) {
      watchers.add(onCommit);
      return () => watchers.delete(onCommit);
    },

    readRun: async (runId, tenant) => runs.readRun(runId, tenant),
    readEvents: async (runId, fromSeq, limit, maxBytes) => runs.readEvents(runId, fromSeq, limit, maxBytes),
    readCheckpoint: async (runId) => runs.readCheckpoint(runId),
    listRuns: runLists.list,
    countRuns: runLists.count,
    readCosts: costs.read,
    readTombstone: async (runId, tenant) => retention.readTombstone(runId, tenant),
    listExpired: prepareListExpired(connection),

    heartbeat: async (holder, ttlMs, about) => holders.heartbeat(holder, clock() + ttlMs, about),
    holders: async () => claims.holders(),
    claim: async (runId, holder) => claims.claim(runId, holder),
    claimDue: async (holder, limit, bounds) => claims.claimDue(holder, limit, bounds),
    nextDueAt: async () => claims.nextDueAt(),
    countQuarantined: async () => suspicions.count(),
    heldBy: async (holder) => claims.heldBy(holder),
    releaseAll: async (holder) => claims.releaseAll(holder),

    readInbox: async (runId) => runs.readInbox(runId),
    readCommand: async (runId, commandId) => runs.readCommand(runId, commandId),
    readIdempotency: async (tenant, operation, keyHash) => idempotency.read({ tenant, operation, keyHash }),

    readWorkflow: async (tenant, id, version) => registry.readWorkflow(tenant, id, version),
    readDefinition: async (digest) => registry.readDefinition(digest),
    listWorkflows: async (tenant, page) => registry.listWorkflows(tenant, page),
    readKeyByHash: async (hash) => registry.readKeyByHash(hash),
    listKeys: async (tenant) => registry.listKeys(tenant),
    readSetting: async (name) => registry.readSetting(name),
    readDocument: async (place) => documents.read(place),
    listDocuments: async (tenant, collection, scope, page) => documents.list(tenant, collection, scope, page),
    claimDueDocuments: async (collection, limit, leaseMs) => claimDueDocuments(collection, limit, leaseMs),
    readBlob: async (tenant, runId, blobId, index) => blobs.read(tenant, runId, blobId, index),
    claimOutbox: async (limit, leaseMs, except = []) => registry.claimOutbox(limit, leaseMs, except),
    readAudit: async (fromId, limit) => registry.readAudit(fromId, limit),

    ...tasks,
    watchTasks(onOffered) {
      taskWatchers.add(onOffered);
      return () => taskWatchers.delete(onOffered);
    },

    async prune() {
      const removed = await prune();
      if (removed > 0) scrub.request();
      return removed;
    },
    async ping() {
      alive.get();
      const found = damage.found();
      if (found !== undefined) throw found;
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      watchers.clear();
      taskWatchers.clear();
      pendingDeletes.stop();
      await closeFile();
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
