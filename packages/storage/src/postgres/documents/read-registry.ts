import {
  type ApiKeyRow,
  type IdempotencyRecord,
  isStorable,
  type Listed,
  type OutboxRow,
  type Page,
  type StoredAuditEntry,
  type WorkflowRow,
} from '@weft/engine';
import { decodeCursor } from '../runs/codec.ts';
import { keyOf } from '../commits/draft.ts';
import { gather } from '../connections/gather.ts';
import { idempotencyFrom, type StoredIdempotency } from '../commits/idempotency.ts';
import { pageFrom } from '../runs/list-runs.ts';
import { nowSql } from '../connections/now.ts';
import type { Pool } from '../connections/pool.ts';
import { readRows } from '../runs/read-rows.ts';
import { arrayText, type Scalar } from '../runs/rows.ts';

export interface RegistryReader {
  readWorkflow(tenant: string, id: string, version: string | undefined): Promise<WorkflowRow | undefined>;
  readDefinition(digest: string): Promise<string | undefined>;
  listWorkflows(tenant: string, page: Page): Promise<Listed<WorkflowRow>>;
  readKeyByHash(hash: string): Promise<ApiKeyRow | undefined>;
  listKeys(tenant: string): Promise<ApiKeyRow[]>;
  readSetting(name: string): Promise<string | undefined>;
  readIdempotency(tenant: string, operation: string, keyHash: string): Promise<IdempotencyRecord | undefined>;
  claimOutbox(limit: number, leaseMs: number, except?: readonly string[]): Promise<OutboxRow[]>;
  readAudit(fromId: number, limit: number): Promise<StoredAuditEntry[]>;
}

interface StoredWorkflow {
  readonly tenant: string;
  readonly id: string;
  readonly version: string;
  readonly digest: string;
  readonly registered_at: number;
  readonly is_current: boolean;
}

/** What was registered last is current. */
const WORKFLOW = `SELECT tenant, id, version, digest, registered_at, ord,
  ord = (SELECT max(ord) FROM workflows AS other WHERE other.tenant = workflows.tenant AND other.id = workflows.id) AS is_current
  FROM workflows WHERE tenant = $1::text`;

type Named = Pick<StoredWorkflow, 'tenant' | 'id'>;

const nameOf = ({ tenant, id }: Named) => keyOf(tenant, id);

const CURRENT = `SELECT newest.tenant, newest.id, newest.version, newest.digest, newest.registered_at, true AS is_current
  FROM unnest($1::text[], $2::text[]) AS wanted (tenant, id) CROSS JOIN LATERAL (
    SELECT * FROM workflows WHERE tenant = wanted.tenant AND id = wanted.id ORDER BY ord DESC LIMIT 1) AS newest`;

const KEYS = 'SELECT hash, body, revoked_at FROM api_keys WHERE hash = ANY ($1::text[])';
const MOST_GATHERED = 100;

interface StoredKey {
  readonly body: string;
  readonly revoked_at: number | null;
}

interface StoredAudit extends Omit<StoredAuditEntry, 'details'> {
  readonly details: string | null;
}

interface StoredOutbox extends Omit<OutboxRow, 'body' | 'lane'> {
  readonly lane: string | null;
  readonly body: string;
  readonly was_due: number;
}

const CLAIM_OUTBOX = `
  WITH due AS (
    SELECT id, next_at FROM outbox WHERE next_at <= ${nowSql(1)} AND topic <> ALL ($4::text[])
      AND (lane IS NULL OR NOT EXISTS (SELECT 1 FROM outbox AS earlier
        WHERE earlier.lane = outbox.lane AND earlier.ord < outbox.ord AND earlier.next_at IS NOT NULL))
    ORDER BY next_at LIMIT $2::int FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE outbox SET next_at = ${nowSql(1)} + $3::bigint, attempts = attempts + 1 FROM due WHERE outbox.id = due.id
  RETURNING outbox.id, run AS "runId", topic, lane, due_at AS "dueAt", attempts, body, due.next_at AS was_due`;

export function prepareRegistryReader(pool: Pool, clock: (() => number) | undefined): RegistryReader {
  const query = <Row>(text: string, values: readonly Scalar[]) => readRows<Row>(pool, text, values);
  const now = () => clock?.() ?? null;

  /** Every run that is created asks for it, and most ask for the same few. */
  const readCurrent = gather<Named, StoredWorkflow | undefined>(MOST_GATHERED, async (asked) => {
    const names = new Map(asked.map((named) => [nameOf(named), named]));
    const wanted = [...names.values()].filter(({ tenant, id }) => isStorable(tenant) && isStorable(id));
    const rows = await query<StoredWorkflow>(CURRENT, [
      arrayText(wanted.map(({ tenant }) => tenant)),
      arrayText(wanted.map(({ id }) => id)),
    ]);
    const current = new Map(rows.map((row) => [nameOf(row), row]));
    return asked.map((named) => current.get(nameOf(named)));
  });

  const readKey = gather<string, StoredKey | undefined>(MOST_GATHERED, async (hashes) => {
    const rows = await query<StoredKey & { hash: string }>(KEYS, [arrayText([...new Set(hashes)])]);
    const byHash = new Map(rows.map((row) => [row.hash, row]));
    return hashes.map((hash) => byHash.get(hash));
  });

  return {
    async readWorkflow(tenant, id, version) {
      const row =
        version === undefined
          ? await readCurrent({ tenant, id })
          : (
              await query<StoredWorkflow>(`${WORKFLOW} AND id = $2::text AND version = $3::text`, [
                tenant,
                id,
                version,
              ])
            )[0];
      return row && workflowFrom(row);
    },
    async readDefinition(digest) {
      const [row] = await query<{ body: string }>('SELECT body FROM definitions WHERE digest = $1::text', [
        digest,
      ]);
      return row?.body;
    },
    async listWorkflows(tenant, page) {
      const [id, version] =
        page.cursor === undefined ? ['', ''] : decodeCursor(page.cursor, ['text', 'text']);
      const found = await query<StoredWorkflow>(
        `${WORKFLOW} AND (id, version) > ($2::text, $3::text) ORDER BY id, version LIMIT $4::int`,
        [tenant, id, version, page.limit + 1],
      );
      return pageFrom(found, page.limit, workflowFrom, (row) => [row.id, row.version]);
    },
    async readKeyByHash(hash) {
      const row = isStorable(hash) ? await readKey(hash) : undefined;
      return row && keyFrom(row);
    },
    async listKeys(tenant) {
      const text = 'SELECT body, revoked_at FROM api_keys WHERE tenant = $1::text ORDER BY ord';
      return (await query<StoredKey>(text, [tenant])).map(keyFrom);
    },
    async readSetting(name) {
      const [row] = await query<{ value: string }>('SELECT value FROM settings WHERE name = $1::text', [
        name,
      ]);
      return row?.value;
    },
    async readIdempotency(tenant, operation, keyHash) {
      const [row] = await query<StoredIdempotency>(
        `SELECT tenant, operation, key_hash, request_digest, expires_at, status, answer FROM idempotency
         WHERE key_hash = $1::text AND tenant = $2::text AND operation = $3::text AND expires_at > ${nowSql(4)}`,
        [keyHash, tenant, operation, now()],
      );
      return row && idempotencyFrom(row);
    },
    async claimOutbox(limit, leaseMs, except = []) {
      const values = [now(), limit, leaseMs, arrayText(except)];
      const rows = await query<StoredOutbox>(CLAIM_OUTBOX, values);
      return [...rows].sort((a, b) => a.was_due - b.was_due).map(outboxFrom);
    },
    async readAudit(fromId, limit) {
      const rows = await query<StoredAudit>(
        `SELECT id, at, tenant, actor, action, target, details FROM audit WHERE id >= $1::bigint
         ORDER BY id LIMIT $2::int`,
        [fromId, limit],
      );
      return rows.map(auditFrom);
    },
  };
}

function workflowFrom(row: StoredWorkflow): WorkflowRow {
  const { tenant, id, version, digest, registered_at, is_current } = row;
  return { tenant, id, version, digest, registeredAt: registered_at, current: is_current };
}

function keyFrom({ body, revoked_at }: StoredKey): ApiKeyRow {
  const key: ApiKeyRow = JSON.parse(body);
  return revoked_at === null ? key : { ...key, revokedAt: revoked_at };
}

function auditFrom({ details, ...entry }: StoredAudit): StoredAuditEntry {
  return details === null ? entry : { ...entry, details: JSON.parse(details) };
}

function outboxFrom({ was_due: _wasDue, lane, body, ...row }: StoredOutbox): OutboxRow {
  return { ...row, ...(lane !== null && { lane }), body: JSON.parse(body) };
}
