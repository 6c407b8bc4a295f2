import type { ApiKeyRow, Listed, OutboxRow, Page, StoredAuditEntry, WorkflowRow } from '@weft/engine';
import { runIdText } from '../runs/codec.ts';
import { type Connection, inTransaction } from '../file/connection.ts';
import { decodeCursor, encodeCursor } from '../runs/cursor.ts';

export interface RegistryReader {
  readWorkflow(tenant: string, id: string, version: string | undefined): WorkflowRow | undefined;
  readDefinition(digest: string): string | undefined;
  listWorkflows(tenant: string, page: Page): Listed<WorkflowRow>;
  readKeyByHash(hash: string): ApiKeyRow | undefined;
  listKeys(tenant: string): ApiKeyRow[];
  readSetting(name: string): string | undefined;
  claimOutbox(limit: number, leaseMs: number, except: readonly string[]): OutboxRow[];
  readAudit(fromId: number, limit: number): StoredAuditEntry[];
}

interface StoredWorkflow {
  readonly ord: number;
  readonly tenant: string;
  readonly id: string;
  readonly version: string;
  readonly digest: string;
  readonly registered_at: number;
  readonly is_current: number;
}

const MAX_KNOWN_WORKFLOWS = 10_000;

/** What was registered last is current. */
const WORKFLOW = `SELECT ord, tenant, id, version, digest, registered_at,
  ord = (SELECT max(ord) FROM workflows AS other WHERE other.tenant = workflows.tenant AND other.id = workflows.id) AS is_current
  FROM workflows WHERE tenant = ?`;

interface StoredKey {
  readonly body: string;
  readonly revoked_at: number | null;
}

interface StoredAudit extends Omit<StoredAuditEntry, 'details'> {
  readonly details: string | null;
}

interface StoredOutbox extends Omit<OutboxRow, 'runId' | 'body' | 'lane'> {
  readonly lane: string | null;
  readonly run_id: Uint8Array;
  readonly body: string;
}

export function prepareRegistryReader(connection: Connection): RegistryReader {
  const { db, clock } = connection;
  const versionOf = db.prepare<StoredWorkflow>(`${WORKFLOW} AND id = ? AND version = ?`);
  const currentOf = db.prepare<StoredWorkflow>(`${WORKFLOW} AND id = ? ORDER BY ord DESC LIMIT 1`);
  const workflows = db.prepare<StoredWorkflow>(`${WORKFLOW} AND ord > ? ORDER BY ord LIMIT ?`);
  const definition = db.prepare<{ body: string }>('SELECT body FROM definitions WHERE digest = ?');
  const keyByHash = db.prepare<StoredKey>('SELECT body, revoked_at FROM api_keys WHERE hash = ?');
  const keys = db.prepare<StoredKey>('SELECT body, revoked_at FROM api_keys WHERE tenant = ? ORDER BY ord');
  const setting = db.prepare<{ value: string }>('SELECT value FROM settings WHERE name = ?');
  const dueOutbox = db.prepare<StoredOutbox>(
    `SELECT outbox.id, runs.id AS run_id, topic, lane, outbox.due_at AS dueAt, attempts + 1 AS attempts, body
     FROM outbox JOIN runs USING (rid)
     WHERE next_at <= ? AND topic NOT IN (SELECT value FROM json_each(?))
       AND (lane IS NULL OR NOT EXISTS (SELECT 1 FROM outbox AS earlier
         WHERE earlier.lane = outbox.lane AND earlier.rowid < outbox.rowid AND earlier.next_at IS NOT NULL))
     ORDER BY next_at LIMIT ?`,
  );
  const leaseOutbox = db.prepare('UPDATE outbox SET next_at = ?, attempts = attempts + 1 WHERE id = ?');
  const audit = db.prepare<StoredAudit>(
    'SELECT id, at, tenant, actor, action, target, details FROM audit WHERE id >= ? ORDER BY id LIMIT ?',
  );

  return {
    readWorkflow(tenant, id, version) {
      if (version !== undefined) {
        const row = versionOf.get(tenant, id, version);
        return row && workflowFrom(row);
      }
      const key = JSON.stringify([tenant, id]);
      const known = connection.currentWorkflows.get(key);
      if (known !== undefined) return known;
      const row = currentOf.get(tenant, id);
      if (row === undefined) return undefined;
      const found = workflowFrom(row);
      if (connection.currentWorkflows.size >= MAX_KNOWN_WORKFLOWS) connection.currentWorkflows.clear();
      connection.currentWorkflows.set(key, found);
      return found;
    },
    readDefinition: (digest) => definition.get(digest)?.body,
    listWorkflows(tenant, page) {
      const [after = 0] = page.cursor === undefined ? [] : decodeCursor(page.cursor, 1);
      const found = workflows.all(tenant, after, page.limit + 1);
      const rows = found.slice(0, page.limit);
      const last = rows.at(-1);
      const isMore = found.length > page.limit && last !== undefined;
      return { rows: rows.map(workflowFrom), ...(isMore && { nextCursor: encodeCursor([last.ord]) }) };
    },
    readKeyByHash(hash) {
      const row = keyByHash.get(hash);
      return row && keyFrom(row);
    },
    listKeys: (tenant) => keys.all(tenant).map(keyFrom),
    readSetting: (name) => setting.get(name)?.value,
    claimOutbox(limit, leaseMs, except) {
      const due = dueOutbox.all(clock(), JSON.stringify(except), limit);
      if (due.length === 0) return [];
      inTransaction(connection, () => due.forEach(({ id }) => leaseOutbox.run(clock() + leaseMs, id)));
      return due.map(({ run_id, lane, body, ...row }) => ({
        ...row,
        ...(lane !== null && { lane }),
        runId: runIdText(run_id),
        body: JSON.parse(body),
      }));
    },
    readAudit: (fromId, limit) => audit.all(fromId, limit).map(auditFrom),
  };
}

function workflowFrom({
  tenant,
  id,
  version,
  digest,
  registered_at,
  is_current,
}: StoredWorkflow): WorkflowRow {
  return { tenant, id, version, digest, registeredAt: registered_at, current: is_current === 1 };
}

function keyFrom({ body, revoked_at }: StoredKey): ApiKeyRow {
  const key: ApiKeyRow = JSON.parse(body);
  return revoked_at === null ? key : { ...key, revokedAt: revoked_at };
}

function auditFrom({ details, ...entry }: StoredAudit): StoredAuditEntry {
  return details === null ? entry : { ...entry, details: JSON.parse(details) };
}
