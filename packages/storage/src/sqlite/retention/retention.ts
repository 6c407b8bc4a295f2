import { prepareCosts } from '../runs/costs.ts';
import {
  type CreationRecord,
  DamagedRunError,
  erasedRecord,
  type Refusal,
  type Tombstone,
  type WriteUnit,
} from '@weft/engine';
import { listedTags, ownRun, removalRejection } from '@weft/engine/store-rules';
import { recordColumns, recordFrom, runIdBytes, runIdText } from '../runs/codec.ts';
import { statusOf } from '../../status-number.ts';
import type { Connection } from '../file/connection.ts';
import { RUN_COLUMNS, type StoredRun } from '../runs/read-run.ts';
import { prepareMoveAside, REMOVED_AT_ONCE } from './pending-deletes.ts';

type PurgeUnit = Extract<WriteUnit, { kind: 'purge' }>;
type EraseUnit = Extract<WriteUnit, { kind: 'erase' }>;

export interface Retention {
  /** Inside the group's transaction. */
  purge(unit: PurgeUnit): Refusal | undefined;
  /** Inside the group's transaction. */
  erase(unit: EraseUnit): Refusal | undefined;
  readTombstone(runId: string, tenant: string): Tombstone | undefined;
  wasCommitted(unit: PurgeUnit | EraseUnit): boolean;
}

/** What belongs to a run by its number alone, in addition to its log and its row. */
const OWNED = ['checkpoints', 'commands', 'outbox', 'tasks'];

/** Restates openReader. */
const OPEN_READER = `
  WITH RECURSIVE readers (id, status) AS (
    SELECT id, status FROM forks JOIN runs USING (rid) WHERE source = ?
    UNION
    SELECT runs.id, runs.status FROM readers JOIN forks ON forks.source = readers.id JOIN runs USING (rid)
  )
  SELECT id FROM readers WHERE status < 6 LIMIT 1`;

export function prepareRetention(connection: Connection): Retention {
  const { db, strings, clock } = connection;
  const findRun = db.prepare<StoredRun>(`SELECT ${RUN_COLUMNS} FROM runs WHERE id = ?`);
  const findOpenReader = db.prepare<{ id: Uint8Array }>(OPEN_READER);
  const findOpen = db.prepare('SELECT 1 FROM runs WHERE id = ? AND status < 6');
  const costs = prepareCosts(connection);
  const moveAside = prepareMoveAside(connection);
  const removeLog = ['events', 'runs'].map((table) => db.prepare(`DELETE FROM ${table} WHERE rid = ?`));
  const removals = OWNED.map((table) => db.prepare(`DELETE FROM ${table} WHERE rid = ?`));
  const removeTag = db.prepare(
    'DELETE FROM run_tags WHERE tenant = ? AND tag = ? AND created_at = ? AND rid = ?',
  );
  const removeFork = db.prepare('DELETE FROM forks WHERE source = ? AND rid = ?');
  /** Where tags and source are no longer known, everything is searched. */
  const removeUnknown = ['run_tags', 'forks'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE rid = ?`),
  );
  const removeBlobs = db.prepare('DELETE FROM blobs WHERE run = ? AND tenant = ?');
  const nextCollection = db.prepare<{ collection: number | null }>(
    'SELECT min(collection) AS collection FROM documents WHERE tenant = ? AND collection > ?',
  );
  const removeDocuments = db.prepare(
    'DELETE FROM documents WHERE tenant = ? AND collection = ? AND scope = ?',
  );
  const putTombstone = db.prepare(
    'INSERT OR REPLACE INTO tombstones (id, tenant, purged_at, until) VALUES (?, ?, ?, ?)',
  );
  const findTombstone = db.prepare<{ purged_at: number; until: number }>(
    'SELECT purged_at, until FROM tombstones WHERE id = ? AND tenant = ? AND until > ?',
  );
  const hasTombstone = db.prepare('SELECT 1 FROM tombstones WHERE id = ?');
  const removeOverlays = db.prepare(
    'UPDATE events SET overlay = NULL, overlay_sum = NULL WHERE rid = ? AND overlay IS NOT NULL',
  );
  const removeCheckpoint = db.prepare('DELETE FROM checkpoints WHERE rid = ?');
  const removeTasks = db.prepare('DELETE FROM tasks WHERE rid = ?');
  const removeValues = db.prepare(
    `UPDATE commands SET body = CASE json_extract(body, '$.type')
       WHEN 'child' THEN json_remove(body, '$.outputs', '$.variables')
       ELSE json_replace(body, '$.value', NULL) END
     WHERE rid = ? AND json_extract(body, '$.type') IN ('resolve', 'channel', 'child')`,
  );
  const markErased = db.prepare(
    'UPDATE runs SET more = ?, sum = ?, erased = coalesce(erased, ?) WHERE rid = ?',
  );

  function runOf(runId: string, tenant: string): StoredRun | undefined {
    const id = runIdBytes(runId);
    return ownRun(id && findRun.get(id), strings.find(tenant));
  }

  /** Undefined when it is damaged: such a run can still be removed. */
  function knownRecord(runId: string, run: StoredRun): CreationRecord | undefined {
    try {
      return recordFrom(runId, run, strings);
    } catch (error) {
      if (error instanceof DamagedRunError) return undefined;
      throw error;
    }
  }

  function rejectionOf(
    kind: (PurgeUnit | EraseUnit)['kind'],
    run: StoredRun,
    record: CreationRecord | undefined,
  ): Refusal | undefined {
    const facts = { status: statusOf(run.status), isImported: record?.imported !== undefined };
    return removalRejection(facts, kind, {
      openParent() {
        const parentRunId = record?.parent?.runId;
        const id = parentRunId === undefined ? undefined : runIdBytes(parentRunId);
        return id && findOpen.get(id) ? parentRunId : undefined;
      },
      openReader() {
        const reader = findOpenReader.get(run.id);
        return reader && runIdText(reader.id);
      },
    });
  }

  /** Where a run is found by its tags and by its source. */
  function removeLinks(run: StoredRun, record: CreationRecord | undefined): void {
    if (record === undefined) for (const remove of removeUnknown) remove.run(run.rid);
    for (const tag of record ? listedTags(record) : [])
      removeTag.run(run.tenant, tag, run.created_at, run.rid);
    const source = record?.fork?.sourceRunId;
    if (source !== undefined) removeFork.run(runIdBytes(source) ?? source, run.rid);
  }

  /** Without an index over scopes alone: from one collection of the tenant to the next, and there are few. */
  function purgeDocuments(tenant: number, runId: string): void {
    for (let last = -1; ; ) {
      const collection = nextCollection.get(tenant, last)?.collection ?? null;
      if (collection === null) return;
      removeDocuments.run(tenant, collection, runId);
      last = collection;
    }
  }

  return {
    purge({ kind, tenant, runId, at, tombstoneUntil }) {
      const run = runOf(runId, tenant);
      if (run === undefined) return { reason: 'run_missing' };
      const record = knownRecord(runId, run);
      const refusal = rejectionOf(kind, run, record);
      if (refusal) return refusal;
      for (const remove of removals) remove.run(run.rid);
      if (run.next_seq > REMOVED_AT_ONCE) moveAside(run.rid);
      else for (const remove of removeLog) remove.run(run.rid);
      removeLinks(run, record);
      removeBlobs.run(run.id, run.tenant);
      costs.detach(run.id);
      purgeDocuments(run.tenant, runId);
      putTombstone.run(run.id, run.tenant, at, tombstoneUntil);
      return undefined;
    },
    erase({ kind, tenant, runId, at }) {
      const run = runOf(runId, tenant);
      if (run === undefined) return { reason: 'run_missing' };
      const record = recordFrom(runId, run, strings);
      const refusal = rejectionOf(kind, run, record);
      if (refusal) return refusal;
      const { more, sum } = recordColumns(erasedRecord(record), strings);
      removeOverlays.run(run.rid);
      removeCheckpoint.run(run.rid);
      removeValues.run(run.rid);
      removeTasks.run(run.rid);
      markErased.run(more, sum, at - run.created_at, run.rid);
      return undefined;
    },
    readTombstone(runId, tenant) {
      const [id, owner] = [runIdBytes(runId), strings.find(tenant)];
      if (id === undefined || owner === undefined) return undefined;
      const row = findTombstone.get(id, owner, clock());
      return row && { purgedAt: row.purged_at, until: row.until };
    },
    wasCommitted({ kind, tenant, runId }) {
      const run = runOf(runId, tenant);
      if (kind === 'erase') return run !== undefined && run.erased !== null;
      const id = runIdBytes(runId);
      return run === undefined && id !== undefined && hasTombstone.get(id) !== undefined;
    },
  };
}
