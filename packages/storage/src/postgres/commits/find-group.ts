import type {
  CommandUnit,
  IdempotencyRecord,
  KeyUnit,
  RevokeKeyUnit,
  RunUnit,
  SettingUnit,
  WorkflowUnit,
  WriteUnit,
} from '@weft/engine';
import { documentWrites } from '@weft/engine/store-rules';
import { batchText, isRunId } from '../runs/codec.ts';
import { statusOf } from '../../status-number.ts';
import { type Connection, together } from '../connections/connection.ts';
import { type DraftRun, documentKey, type Found, idempotencyKey, keyOf } from './draft.ts';
import { findRetention, keptRuns } from '../retention/find-retention.ts';
import { idempotencyFrom, type StoredIdempotency } from './idempotency.ts';
import { lockKey } from '../connections/migrations.ts';
import { nowSql } from '../connections/now.ts';
import { arrayText } from '../runs/rows.ts';
import type { DocumentPlace } from './units.ts';

/** Documents are guarded by as many locks: enough to avoid contention, few enough for the server's table of locks. */
const DOCUMENT_LOCKS = 256n;

export interface FindOptions {
  readonly schema: string;
  readonly clock: (() => number) | undefined;
}

type UnitOf<Kind extends WriteUnit['kind']> = Extract<WriteUnit, { kind: Kind }>;

/** An invalid run id matches no row; one that is to be created is a mistake of the caller. */
export function hasFittingId(unit: WriteUnit): boolean {
  const mustFit = (unit.kind === 'run' && unit.create) || unit.kind === 'blob';
  return !mustFit || isRunId(unit.runId);
}

/**
 * Begins the group's transaction, locks what its units are about, and reads what they must be evaluated by. Locks are taken in the
 * same order by all, so that two groups wait for each other in one direction only: named locks by number, then runs by id.
 * All of it is sent at once. Each statement sees what was committed before it ran, so the reads see what the locks waited for.
 */
export async function findGroup(
  connection: Connection,
  units: readonly WriteUnit[],
  options: FindOptions,
): Promise<Found> {
  const found = emptyFound();
  const moment: { now: number; transaction: string } = { now: 0, transaction: '' };
  await together([
    connection.query('BEGIN'),
    ...takeLocks(connection, units, options.schema),
    findMoment(connection, options, moment),
    ...findRuns(connection, units, found),
    ...findByKind(connection, units, found, options),
  ]);
  return { ...found, ...moment };
}

type Unfinished = Omit<Found, 'now' | 'transaction'>;

function emptyFound(): Unfinished {
  return {
    runs: new Map(),
    commands: new Map(),
    idempotency: new Map(),
    scopes: new Map(),
    workflows: new Map(),
    registrations: new Map(),
    settings: new Map(),
    keys: new Map(),
    keyHashes: new Set(),
    documents: new Map(),
    targets: new Map(),
    forks: new Map(),
  };
}

function takeLocks(connection: Connection, units: readonly WriteUnit[], schema: string): Promise<unknown>[] {
  const keys = new Set<bigint>();
  for (const { tenant, scope } of exclusiveScopes(units)) keys.add(lockKey(schema, 'scope', tenant, scope));
  for (const place of touchedDocuments(units)) {
    const bucket = BigInt.asUintN(64, lockKey(documentKey(place))) % DOCUMENT_LOCKS;
    keys.add(lockKey(schema, 'documents', `${bucket}`));
  }
  if (keys.size === 0) return [];
  const sorted = [...keys].sort((a, b) => (a < b ? -1 : 1));
  const text = 'SELECT pg_advisory_xact_lock(key) FROM unnest($1::bigint[]) AS key';
  return [connection.query(text, [arrayText(sorted.map(String))])];
}

async function findMoment(
  connection: Connection,
  { clock }: FindOptions,
  moment: { now: number; transaction: string },
): Promise<void> {
  const text = `SELECT ${nowSql(1)} AS now, pg_current_xact_id()::text AS transaction`;
  const [row] = await connection.query<{ now: number; transaction: string }>(text, [clock?.() ?? null]);
  if (row) Object.assign(moment, row);
}

interface StoredTarget {
  readonly id: string;
  readonly tenant: string;
  readonly status: number;
  readonly next_seq: number;
  readonly epoch: number;
  readonly holder: string | null;
  readonly inbox: number;
  readonly accepted: number;
  readonly due_at: number | null;
  readonly wake_at: number | null;
  readonly started_at: number | null;
  readonly ended_at: number | null;
  readonly node: string | null;
  readonly error: string | null;
  readonly last_batch: string;
  readonly is_erased: boolean;
}

const LOCK_RUNS = `SELECT id, tenant, status, next_seq, epoch, holder, inbox, accepted, due_at, wake_at, started_at, ended_at, node,
  error, last_batch, erased_at IS NOT NULL AS is_erased FROM runs WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE`;

/**
 * A statement that waited for a lock does not see rows that were inserted meanwhile. So runs that get a signal are looked
 * for again: a child that was being created while its parent waited to write its end must get that signal.
 */
function findRuns(connection: Connection, units: readonly WriteUnit[], found: Unfinished): Promise<void>[] {
  return [touchedRuns(units), notifiedRuns(units)].flatMap((ids) =>
    ids.length > 0 ? [lockRuns(connection, ids, found)] : [],
  );
}

async function lockRuns(connection: Connection, ids: readonly string[], found: Unfinished): Promise<void> {
  for (const row of await connection.query<StoredTarget>(LOCK_RUNS, [arrayText(ids)])) {
    found.runs.set(row.id, draftFrom(row));
  }
}

const ABOUT_RUNS: ReadonlySet<WriteUnit['kind']> = new Set(['run', 'command', 'suspicion']);

function touchedRuns(units: readonly WriteUnit[]): string[] {
  const ids = new Set<string>(notifiedRuns(units));
  for (const unit of units) {
    if (ABOUT_RUNS.has(unit.kind) && 'runId' in unit) ids.add(unit.runId);
    // Locked, so that no other holder takes the claim over before the unit is written.
    if (unit.whileHeld) ids.add(unit.whileHeld.runId);
    for (const { runId } of unit.enqueue ?? []) ids.add(runId);
    if (unit.kind === 'run' && unit.create) for (const id of neededBy(unit.create)) ids.add(id);
  }
  for (const id of keptRuns(units)) ids.add(id);
  return [...ids].filter(isRunId);
}

/** A fork's source is locked, so that a purge of the source sees the fork. */
function neededBy({ record, whileOpen, whileKept = [] }: NonNullable<RunUnit['create']>): string[] {
  return [whileOpen, record.fork?.sourceRunId, ...whileKept].filter((id) => id !== undefined);
}

function notifiedRuns(units: readonly WriteUnit[]): string[] {
  const signals = units.flatMap((unit) => (unit.kind === 'run' ? (unit.notify ?? []) : []));
  return [...new Set(signals.map(({ runId }) => runId))].filter(isRunId);
}

function draftFrom(row: StoredTarget): DraftRun {
  return {
    id: row.id,
    tenant: row.tenant,
    status: statusOf(row.status),
    nextSeq: row.next_seq,
    epoch: row.epoch,
    holder: row.holder,
    inbox: row.inbox,
    accepted: row.accepted,
    dueAt: row.due_at,
    wakeAt: row.wake_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    node: row.node,
    error: row.error,
    batch: row.last_batch,
    isErased: row.is_erased,
    isChanged: false,
  };
}

/** The reads that only some kinds of units need; most groups need none of them. */
function findByKind(
  connection: Connection,
  units: readonly WriteUnit[],
  found: Unfinished,
  options: FindOptions,
): Promise<void>[] {
  const records = units.flatMap(({ idempotency }) => idempotency ?? []);
  const keys = units.filter((unit) => unit.kind === 'key' || unit.kind === 'revoke-key');
  const needed: [readonly unknown[], () => Promise<void>][] = [
    [namedCommands(units), () => findCommands(connection, namedCommands(units), found)],
    [records, () => findIdempotency(connection, records, found, options)],
    [exclusiveScopes(units), () => findScopes(connection, units, found)],
    [ofKind(units, 'workflow'), () => findWorkflows(connection, ofKind(units, 'workflow'), found)],
    [ofKind(units, 'setting'), () => findSettings(connection, ofKind(units, 'setting'), found)],
    [keys, () => findKeys(connection, keys, found)],
    [keptRuns(units), () => findRetention(connection, keptRuns(units), found)],
    [touchedDocuments(units), () => findDocuments(connection, touchedDocuments(units), found)],
  ];
  return needed.flatMap(([about, find]) => (about.length > 0 ? [find()] : []));
}

function ofKind<Kind extends WriteUnit['kind']>(units: readonly WriteUnit[], kind: Kind): UnitOf<Kind>[] {
  return units.filter((unit): unit is UnitOf<Kind> => unit.kind === kind);
}

type NamedCommand = Pick<CommandUnit, 'runId' | 'commandId'>;

function namedCommands(units: readonly WriteUnit[]): NamedCommand[] {
  return units
    .flatMap((unit): NamedCommand[] => {
      if (unit.kind === 'command') return [unit];
      return unit.kind === 'run' ? [...consumed(unit), ...(unit.notify ?? [])] : [];
    })
    .filter(({ runId }) => isRunId(runId));
}

function consumed({ runId, consume = [] }: RunUnit): NamedCommand[] {
  return consume.map(({ commandId }) => ({ runId, commandId }));
}

async function findCommands(connection: Connection, named: NamedCommand[], found: Unfinished): Promise<void> {
  const rows = await connection.query<{ run: string; id: string; waiting: boolean }>(
    `SELECT run, id, verdict IS NULL AS waiting FROM commands
     WHERE (run, id) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))`,
    [arrayText(named.map(({ runId }) => runId)), arrayText(named.map(({ commandId }) => commandId))],
  );
  for (const { run, id, waiting } of rows) found.commands.set(keyOf(run, id), waiting);
}

async function findIdempotency(
  connection: Connection,
  records: readonly IdempotencyRecord[],
  found: Unfinished,
  { clock }: FindOptions,
): Promise<void> {
  // The last condition restates isLive.
  const rows = await connection.query<StoredIdempotency>(
    `SELECT tenant, operation, key_hash, request_digest, expires_at, status, answer FROM idempotency
     WHERE (key_hash, tenant, operation) IN (SELECT * FROM unnest($1::text[], $2::text[], $3::text[]))
       AND expires_at > ${nowSql(4)}`,
    [
      arrayText(records.map(({ keyHash }) => keyHash)),
      arrayText(records.map(({ tenant }) => tenant)),
      arrayText(records.map(({ operation }) => operation)),
      clock?.() ?? null,
    ],
  );
  for (const record of rows.map(idempotencyFrom)) found.idempotency.set(idempotencyKey(record), record);
}

function exclusiveScopes(units: readonly WriteUnit[]): { tenant: string; scope: string }[] {
  return units.flatMap((unit) => {
    if (unit.kind !== 'run' || !unit.create?.exclusiveScope) return [];
    const { tenant, scopeId } = unit.create.record;
    return scopeId === undefined ? [] : [{ tenant, scope: scopeId }];
  });
}

/** Open ones; the group itself may end some of a scope's runs, so one more than it touches tells whether there is another. */
async function findScopes(
  connection: Connection,
  units: readonly WriteUnit[],
  found: Unfinished,
): Promise<void> {
  const scopes = exclusiveScopes(units);
  const rows = await connection.query<{ tenant: string; scope: string; id: string }>(
    `SELECT wanted.tenant, wanted.scope, active.id
     FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[])) AS wanted (tenant, scope) CROSS JOIN LATERAL (
       SELECT id, ord FROM runs WHERE tenant = wanted.tenant AND scope = wanted.scope AND scope IS NOT NULL AND status < 6
       ORDER BY ord LIMIT $3::int) AS active
     ORDER BY active.ord`,
    [
      arrayText(scopes.map(({ tenant }) => tenant)),
      arrayText(scopes.map(({ scope }) => scope)),
      touchedRuns(units).length + 1,
    ],
  );
  for (const { tenant, scope, id } of rows) {
    const key = keyOf(tenant, scope);
    found.scopes.set(key, [...(found.scopes.get(key) ?? []), id]);
  }
}

async function findWorkflows(
  connection: Connection,
  units: readonly WorkflowUnit[],
  found: Unfinished,
): Promise<void> {
  const rows = await connection.query<{
    tenant: string;
    id: string;
    version: string;
    ord: number;
    digest: string;
  }>(
    `SELECT tenant, id, version, ord, digest FROM workflows
     WHERE (tenant, id) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
    [arrayText(units.map(({ tenant }) => tenant)), arrayText(units.map(({ id }) => id))],
  );
  for (const { tenant, id, version, ord, digest } of rows) {
    found.workflows.set(keyOf(tenant, id, version), digest);
    const workflow = keyOf(tenant, id);
    found.registrations.set(workflow, Math.max(found.registrations.get(workflow) ?? 0, ord));
  }
}

async function findSettings(
  connection: Connection,
  units: readonly SettingUnit[],
  found: Unfinished,
): Promise<void> {
  const rows = await connection.query<{ name: string; value: string }>(
    'SELECT name, value FROM settings WHERE name = ANY ($1::text[])',
    [arrayText(units.map(({ name }) => name))],
  );
  for (const { name, value } of rows) found.settings.set(name, value);
}

async function findKeys(
  connection: Connection,
  units: readonly (KeyUnit | RevokeKeyUnit)[],
  found: Unfinished,
): Promise<void> {
  const ids = units.map((unit) => (unit.kind === 'key' ? unit.key.keyId : unit.keyId));
  const hashes = units.flatMap((unit) => (unit.kind === 'key' ? [unit.key.hash] : []));
  const rows = await connection.query<{ key_id: string; hash: string; tenant: string }>(
    'SELECT key_id, hash, tenant FROM api_keys WHERE key_id = ANY ($1::text[]) OR hash = ANY ($2::text[])',
    [arrayText(ids), arrayText(hashes)],
  );
  for (const { key_id, hash, tenant } of rows) {
    found.keys.set(key_id, tenant);
    found.keyHashes.add(hash);
  }
}

/** Under the locks that their writers take. */
function touchedDocuments(units: readonly WriteUnit[]): DocumentPlace[] {
  return units.flatMap((unit): readonly DocumentPlace[] => [
    ...documentWrites(unit),
    ...(unit.kind === 'run' ? (unit.wakes ?? []) : []),
  ]);
}

async function findDocuments(
  connection: Connection,
  units: readonly DocumentPlace[],
  found: Unfinished,
): Promise<void> {
  const rows = await connection.query<{
    tenant: string;
    collection: string;
    scope: string;
    id: string;
    expires_at: number | null;
    batch: string;
  }>(
    `SELECT tenant, collection, scope, id, expires_at, batch FROM documents
     WHERE (tenant, collection, scope, id) IN (SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]))`,
    [
      arrayText(units.map(({ tenant }) => tenant)),
      arrayText(units.map(({ collection }) => collection)),
      arrayText(units.map(({ scope }) => scope)),
      arrayText(units.map(({ id }) => id)),
    ],
  );
  for (const row of rows) {
    found.documents.set(documentKey(row), { expiresAt: row.expires_at, version: batchText(row.batch) });
  }
}
