import type { ApiKeyRow, Checkpoint, IdempotencyRecord, OutboxUnit, Suspicion } from '@weft/engine';
import { listedTags } from '@weft/engine/store-rules';
import { checkpointSum } from '../../checksum.ts';
import { batchUuid, isRunId, suspicionText } from '../runs/codec.ts';
import { statusNumber } from '../../status-number.ts';
import type { Draft, DraftRun, RunUsage, Writes } from './draft.ts';
import { lockKey } from '../connections/migrations.ts';
import type { Origins, StoredRecord } from '../runs/origins.ts';
import { eventColumns } from './plain-group.ts';
import { arrayText, type Column, insertInto, type Statement, updateRows } from '../runs/rows.ts';
import type { DocumentPlace } from './units.ts';
import { retentionStatements } from '../retention/write-retention.ts';

export interface WriteOptions {
  readonly schema: string;
  readonly origins: Origins;
}

/**
 * The statements that write a evaluated group, in order; few, however many units. Rows that must not be there yet are inserted
 * plainly: if another process was faster, the unique index fails the transaction, and the group is evaluated again from the start.
 */
export function writeStatements(draft: Draft, { schema, origins }: WriteOptions): Statement[] {
  const { found, writes } = draft;
  const inserts = writes.newRuns.map((run) => newRunRow(run, origins));
  const changed = [...found.runs.values()].filter(({ isChanged, created }) => isChanged && !created);
  const tags = writes.newRuns.flatMap((run) =>
    [...new Set(run.created ? listedTags(run.created) : [])].map((tag) => ({ run, tag })),
  );
  return [
    ...unlessEmpty(insertRuns, inserts),
    ...unlessEmpty(insertTags, tags),
    ...unlessEmpty(updateRuns, changed),
    ...unlessEmpty(putSuspicions, [...writes.suspicions]),
    ...unlessEmpty(insertEvents, writes.events),
    ...unlessEmpty(putCheckpoints, [...writes.checkpoints]),
    ...unlessEmpty(insertCommands(found.now), writes.commands),
    ...unlessEmpty(setCommandResults, writes.commandResults),
    ...unlessEmpty(insertOutbox, writes.outbox),
    ...unlessEmpty(addCosts, [...writes.usage.values()]),
    ...settleStatements(writes, found.now),
    ...unlessEmpty(dropExpired(found.now), writes.idempotency),
    ...unlessEmpty(insertIdempotency, writes.idempotency),
    ...registryStatements(writes),
    ...documentStatements(writes),
    ...unlessEmpty(insertBlobs, [...writes.blobs.values()]),
    ...retentionStatements(draft),
    ...auditStatements(writes, schema),
  ];
}

function unlessEmpty<Row>(statement: (rows: readonly Row[]) => Statement, rows: readonly Row[]): Statement[] {
  return rows.length === 0 ? [] : [statement(rows)];
}

const headColumns: readonly Column<DraftRun>[] = [
  ['status', 'smallint', (run) => statusNumber(run.status)],
  ['next_seq', 'int', (run) => run.nextSeq],
  ['epoch', 'int', (run) => run.epoch],
  ['holder', 'text', (run) => run.holder],
  ['inbox', 'int', (run) => run.inbox],
  ['accepted', 'int', (run) => run.accepted],
  ['due_at', 'bigint', (run) => run.dueAt],
  ['wake_at', 'bigint', (run) => run.wakeAt],
  ['started_at', 'bigint', (run) => run.startedAt],
  ['ended_at', 'bigint', (run) => run.endedAt],
  ['node', 'text', (run) => run.node],
  ['error', 'text', (run) => run.error],
  ['last_batch', 'uuid', (run) => run.batch],
];

interface NewRunRow extends DraftRun {
  readonly stored: StoredRecord;
}

function newRunRow(run: DraftRun, origins: Origins): NewRunRow {
  const stored = run.created ? origins.stored(run.created) : { origin: null, record: '{}', sum: 0 };
  return { ...run, stored };
}

const insertRuns = insertInto<NewRunRow>('runs', [
  ['id', 'uuid', (run) => run.id],
  ['tenant', 'text', (run) => run.tenant],
  ['workflow', 'text', ({ created }) => created?.workflowId ?? ''],
  ['created_at', 'bigint', ({ created }) => created?.createdAt ?? 0],
  ['scope', 'text', ({ created }) => created?.scopeId ?? null],
  ['source', 'uuid', ({ created }) => runIdOrNull(created?.fork?.sourceRunId)],
  ['parent', 'uuid', ({ created }) => runIdOrNull(created?.parent?.runId)],
  ['origin', 'int', ({ stored }) => stored.origin],
  ['record', 'json', ({ stored }) => stored.record],
  ['sum', 'int', ({ stored }) => stored.sum],
  ...headColumns,
]);

function runIdOrNull(runId: string | undefined): string | null {
  return runId !== undefined && isRunId(runId) ? runId : null;
}

const updateRuns = updateRows<DraftRun>('runs', 1, [['id', 'uuid', (run) => run.id], ...headColumns]);

const putSuspicions = updateRows<readonly [string, Suspicion | undefined]>('runs', 1, [
  ['id', 'uuid', ([runId]) => runId],
  ['suspicion', 'text', ([, suspicion]) => suspicionText(suspicion)],
  ['quarantined', 'bigint', ([, suspicion]) => suspicion?.quarantinedAt ?? null],
]);

const insertTags = insertInto<{ run: DraftRun; tag: string }>('run_tags', [
  ['tenant', 'text', ({ run }) => run.tenant],
  ['tag', 'text', ({ tag }) => tag],
  ['created_at', 'bigint', ({ run }) => run.created?.createdAt ?? 0],
  ['run', 'uuid', ({ run }) => run.id],
]);

const insertEvents = insertInto<Writes['events'][number]>('events', eventColumns);

const putCheckpoints = insertInto<readonly [string, Checkpoint]>(
  'checkpoints',
  [
    ['run', 'uuid', ([run]) => run],
    ['seq', 'int', ([, { seq }]) => seq],
    ['fold_version', 'int', ([, { foldVersion }]) => foldVersion],
    ['state', 'json', ([, { state }]) => state],
    ['sum', 'int', ([run, { seq, foldVersion, state }]) => checkpointSum(run, seq, foldVersion, state)],
  ],
  `ON CONFLICT (run) DO UPDATE SET seq = excluded.seq, fold_version = excluded.fold_version, state = excluded.state,
     sum = excluded.sum`,
);

const insertCommands = (now: number) =>
  insertInto<Writes['commands'][number]>('commands', [
    ['run', 'uuid', ({ run }) => run],
    ['ord', 'int', ({ ord }) => ord],
    ['id', 'text', ({ id }) => id],
    ['kind', 'text', ({ command }) => command.type],
    ['accepted_at', 'bigint', () => now],
    ['body', 'text', ({ command }) => JSON.stringify(command)],
  ]);

const setCommandResults = updateRows<Writes['commandResults'][number]>(
  'commands',
  2,
  [
    ['run', 'uuid', ({ run }) => run],
    ['id', 'text', ({ id }) => id],
    ['verdict', 'text', ({ commandResult }) => JSON.stringify(commandResult)],
  ],
  'AND commands.verdict IS NULL',
);

const insertOutbox = insertInto<Writes['outbox'][number]>(
  'outbox',
  [
    ['id', 'text', ({ row }) => row.id],
    ['run', 'uuid', ({ run }) => run],
    ['topic', 'text', ({ row }) => row.topic],
    ['lane', 'text', ({ row }) => row.lane ?? null],
    ['due_at', 'bigint', ({ row }) => row.dueAt],
    ['next_at', 'bigint', ({ row }) => row.dueAt],
    ['attempts', 'int', () => 0],
    ['body', 'text', ({ row }) => JSON.stringify(row.body)],
  ],
  'ON CONFLICT (id) DO NOTHING',
);

const addCosts = insertInto<RunUsage>(
  'costs',
  [
    ['tenant', 'text', ({ tenant }) => tenant],
    ['day', 'int', ({ day }) => day],
    ['workflow', 'text', ({ workflowId }) => workflowId],
    ['run', 'uuid', ({ run }) => run],
    ['provider', 'text', ({ provider }) => provider],
    ['model', 'text', ({ model }) => model],
    ['calls', 'bigint', ({ calls }) => calls],
    ['input_tokens', 'bigint', ({ inputTokens }) => inputTokens],
    ['output_tokens', 'bigint', ({ outputTokens }) => outputTokens],
    ['nano_usd', 'bigint', ({ nanoUsd }) => nanoUsd],
    ['unpriced_calls', 'bigint', ({ unpricedCalls }) => unpricedCalls],
  ],
  `ON CONFLICT (run, day, provider, model) WHERE run IS NOT NULL DO UPDATE SET calls = costs.calls + excluded.calls,
     input_tokens = costs.input_tokens + excluded.input_tokens, output_tokens = costs.output_tokens + excluded.output_tokens,
     nano_usd = costs.nano_usd + excluded.nano_usd, unpriced_calls = costs.unpriced_calls + excluded.unpriced_calls`,
);

type Settled = OutboxUnit['settle'][number];

function settleStatements({ settled }: Writes, now: number): Statement[] {
  const of = (state: Settled['state']) =>
    [...settled.values()].filter((row) => row.state === state).sort((a, b) => (a.id < b.id ? -1 : 1));
  const ids = (rows: readonly Settled[]) => [arrayText(rows.map(({ id }) => id))];
  // A dead row that is replayed starts counting attempts again.
  const retry = (rows: readonly Settled[]): Statement => ({
    text: `UPDATE outbox SET due_at = changed.at, next_at = changed.at,
        attempts = CASE WHEN next_at IS NULL THEN 0 ELSE attempts END
      FROM unnest($1::text[], $2::bigint[]) AS changed (id, at) WHERE outbox.id = changed.id`,
    values: [...ids(rows), arrayText(rows.map(({ dueAt = now }) => dueAt))],
  });
  return [
    ...unlessEmpty(
      (rows) => ({ text: 'DELETE FROM outbox WHERE id = ANY ($1::text[])', values: ids(rows) }),
      of('done'),
    ),
    ...unlessEmpty(retry, of('retry')),
    ...unlessEmpty(
      (rows) => ({
        text: 'UPDATE outbox SET next_at = NULL WHERE id = ANY ($1::text[])',
        values: ids(rows),
      }),
      of('dead'),
    ),
  ];
}

/** What has expired gives way to the new record of its key. */
const dropExpired = (now: number) => (records: readonly IdempotencyRecord[]) => ({
  text: `DELETE FROM idempotency WHERE (key_hash, tenant, operation) IN
    (SELECT * FROM unnest($1::text[], $2::text[], $3::text[])) AND expires_at <= $4::bigint`,
  values: [
    arrayText(records.map(({ keyHash }) => keyHash)),
    arrayText(records.map(({ tenant }) => tenant)),
    arrayText(records.map(({ operation }) => operation)),
    now,
  ],
});

const insertIdempotency = insertInto<IdempotencyRecord>('idempotency', [
  ['tenant', 'text', ({ tenant }) => tenant],
  ['operation', 'text', ({ operation }) => operation],
  ['key_hash', 'text', ({ keyHash }) => keyHash],
  ['request_digest', 'text', ({ requestDigest }) => requestDigest],
  ['expires_at', 'bigint', ({ expiresAt }) => expiresAt],
  ['status', 'int', ({ response }) => ('status' in response ? response.status : null)],
  ['answer', 'text', ({ response }) => ('status' in response ? response.body : JSON.stringify(response))],
]);

function registryStatements(writes: Writes): Statement[] {
  return [
    ...unlessEmpty(insertWorkflows, writes.workflows),
    ...unlessEmpty(insertDefinitions, writes.workflows),
    ...unlessEmpty(insertSettings, [...writes.settings]),
    ...unlessEmpty(insertKeys, writes.keys),
    ...unlessEmpty(revokeKeys, [...writes.revoked]),
  ];
}

const insertWorkflows = insertInto<Writes['workflows'][number]>('workflows', [
  ['tenant', 'text', ({ unit }) => unit.tenant],
  ['id', 'text', ({ unit }) => unit.id],
  ['version', 'text', ({ unit }) => unit.version],
  ['ord', 'int', ({ ord }) => ord],
  ['registered_at', 'bigint', ({ unit }) => unit.registeredAt],
  ['digest', 'text', ({ unit }) => unit.digest],
]);

const insertDefinitions = insertInto<Writes['workflows'][number]>(
  'definitions',
  [
    ['digest', 'text', ({ unit }) => unit.digest],
    ['body', 'text', ({ unit }) => unit.definition],
  ],
  'ON CONFLICT (digest) DO NOTHING',
);

const insertSettings = insertInto<readonly [string, string]>('settings', [
  ['name', 'text', ([name]) => name],
  ['value', 'text', ([, value]) => value],
]);

const insertKeys = insertInto<ApiKeyRow>(
  'api_keys',
  [
    ['key_id', 'text', ({ keyId }) => keyId],
    ['hash', 'text', ({ hash }) => hash],
    ['tenant', 'text', ({ tenant }) => tenant],
    ['revoked_at', 'bigint', ({ revokedAt }) => revokedAt ?? null],
    ['body', 'text', ({ revokedAt: _revokedAt, ...key }) => JSON.stringify(key)],
  ],
  'ON CONFLICT DO NOTHING',
);

const revokeKeys = updateRows<readonly [string, number]>(
  'api_keys',
  1,
  [
    ['key_id', 'text', ([keyId]) => keyId],
    ['revoked_at', 'bigint', ([, at]) => at],
  ],
  'AND api_keys.revoked_at IS NULL',
);

const placeColumns: readonly Column<DocumentPlace>[] = [
  ['tenant', 'text', ({ tenant }) => tenant],
  ['collection', 'text', ({ collection }) => collection],
  ['scope', 'text', ({ scope }) => scope],
  ['id', 'text', ({ id }) => id],
];

type NewDocument = Writes['documents'] extends Map<string, infer Entry> ? Entry : never;

const putDocuments = insertInto<NewDocument>(
  'documents',
  [
    ...placeColumns.map(
      ([name, type, read]): Column<NewDocument> => [name, type, ({ write }) => read(write)],
    ),
    ['at', 'bigint', ({ write }) => write.at],
    ['expires_at', 'bigint', ({ write }) => write.expiresAt ?? null],
    ['due_at', 'bigint', ({ write }) => write.dueAt ?? null],
    ['batch', 'uuid', ({ batchId }) => batchUuid(batchId)],
    ['body', 'text', ({ write }) => write.body ?? ''],
  ],
  `ON CONFLICT (tenant, collection, scope, id) DO UPDATE SET at = excluded.at, ord = excluded.ord,
     expires_at = excluded.expires_at, due_at = excluded.due_at, batch = excluded.batch, body = excluded.body`,
);

type Woken = Writes['woken'] extends Map<string, infer Entry> ? Entry : never;

const wakeDocuments = updateRows<Woken>('documents', placeColumns.length, [
  ...placeColumns.map(([name, type, read]): Column<Woken> => [name, type, ({ place }) => read(place)]),
  ['due_at', 'bigint', () => 0],
  ['batch', 'uuid', ({ batchId }) => batchUuid(batchId)],
]);

function documentStatements({ documents, woken }: Writes): Statement[] {
  const entries = [...documents.values()];
  const remove = (rows: readonly NewDocument[]): Statement => ({
    text: `DELETE FROM documents WHERE (tenant, collection, scope, id) IN
      (SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]))`,
    values: placeColumns.map(([, , read]) => arrayText(rows.map(({ write }) => read(write)))),
  });
  return [
    ...unlessEmpty(
      remove,
      entries.filter(({ write }) => write.body === undefined),
    ),
    ...unlessEmpty(
      putDocuments,
      entries.filter(({ write }) => write.body !== undefined),
    ),
    ...unlessEmpty(wakeDocuments, [...woken.values()]),
  ];
}

const insertBlobs = insertInto<Writes['blobs'] extends Map<string, infer Unit> ? Unit : never>(
  'blobs',
  [
    ['tenant', 'text', ({ tenant }) => tenant],
    ['run', 'uuid', ({ runId }) => runId],
    ['id', 'text', ({ blobId }) => blobId],
    ['piece', 'int', ({ index }) => index],
    ['bytes', 'bytea', ({ bytes }) => bytes],
  ],
  'ON CONFLICT DO NOTHING',
);

const insertAudit = insertInto<Writes['audit'][number]>('audit', [
  ['at', 'bigint', ({ entry }) => entry.at],
  ['tenant', 'text', ({ entry }) => entry.tenant],
  ['actor', 'text', ({ entry }) => entry.actor],
  ['action', 'text', ({ entry }) => entry.action],
  ['target', 'text', ({ entry }) => entry.target],
  ['details', 'text', ({ entry }) => (entry.details === undefined ? null : JSON.stringify(entry.details))],
  ['batch', 'uuid', ({ batch }) => batch],
]);

/** Written last and in turns: an id is given out only when all smaller ones are committed or given up, so a reader misses none. */
function auditStatements({ audit }: Writes, schema: string): Statement[] {
  if (audit.length === 0) return [];
  const turn = {
    text: 'SELECT pg_advisory_xact_lock($1::bigint)',
    values: [String(lockKey(schema, 'audit'))],
  };
  return [turn, insertAudit(audit)];
}
