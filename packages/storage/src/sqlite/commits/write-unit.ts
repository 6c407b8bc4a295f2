import type { CommandUnit, EnqueuedRow, OutboxUnit, Refusal, WorkflowUnit, WriteUnit } from '@weft/engine';
import {
  commandRejection,
  documentWrites,
  firstRejection,
  guardRejection,
  ownRun,
  revocationRejection,
  type RunFacts,
  settingRejection,
  workflowRejection,
} from '@weft/engine/store-rules';
import { prepareBlobs } from '../documents/blobs.ts';
import { batchBytes, runIdBytes } from '../runs/codec.ts';
import { statusOf } from '../../status-number.ts';
import type { Connection } from '../file/connection.ts';
import { prepareDocuments } from '../documents/documents.ts';
import { prepareIdempotency } from './idempotency.ts';
import { prepareAccept } from '../claims/inbox.ts';
import { prepareRetention } from '../retention/retention.ts';
import { prepareEnqueue, prepareReleaseLane } from '../documents/outbox-lanes.ts';
import { prepareSuspicions } from '../runs/suspicions.ts';
import { prepareRunWriter } from '../runs/write-run.ts';

/** Checks one unit against what is there and writes it, or says why not. Runs inside the group's transaction. */
export function prepareUnitWriter(connection: Connection): (unit: WriteUnit) => Refusal | undefined {
  const writeRun = prepareRunWriter(connection);
  const writeCommand = prepareCommandWriter(connection);
  const writeRegistry = prepareRegistryWriter(connection);
  const documents = prepareDocuments(connection);
  const blobs = prepareBlobs(connection);
  const retention = prepareRetention(connection);
  const suspicions = prepareSuspicions(connection);
  const idempotency = prepareIdempotency(connection);
  const findClaim = prepareFindClaim(connection);
  const enqueue = prepareEnqueueLater(connection);
  const insertAudit = connection.db.prepare(
    'INSERT INTO audit (at, tenant, actor, action, target, details, batch) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );

  function writeByKind(unit: WriteUnit): Refusal | undefined {
    switch (unit.kind) {
      case 'run':
        return writeRun(unit);
      case 'command':
        return writeCommand(unit);
      case 'document':
        return undefined;
      case 'blob':
        blobs.write(unit);
        return undefined;
      case 'purge':
        return retention.purge(unit);
      case 'erase':
        return retention.erase(unit);
      case 'suspicion':
        return suspicions.write(unit);
      case 'workflow':
      case 'key':
      case 'revoke-key':
      case 'setting':
      case 'outbox':
      case 'audit':
        return writeRegistry(unit);
    }
  }

  function writeAudit(unit: WriteUnit): void {
    // Only a unit that consists of nothing else must be found again by its entries.
    const batch = unit.kind === 'audit' ? batchBytes(unit.batchId) : null;
    for (const { at, tenant, actor, action, target, details } of unit.audit ?? []) {
      insertAudit.run(
        at,
        tenant,
        actor,
        action,
        target,
        details === undefined ? null : JSON.stringify(details),
        batch,
      );
    }
  }

  return (unit) => {
    const record = unit.idempotency && idempotency.read(unit.idempotency);
    const claimed = unit.whileHeld && findClaim(unit.whileHeld.runId);
    const written = documentWrites(unit);
    const refusal =
      guardRejection(unit, record, claimed) ??
      firstRejection(written, documents.rejection) ??
      writeByKind(unit);
    if (refusal) return refusal;
    for (const write of written) documents.write(write, unit.batchId);
    for (const row of unit.enqueue ?? []) enqueue(row);
    if (unit.kind === 'run') for (const place of unit.wakes ?? []) documents.wake(place, unit.batchId);
    if (unit.idempotency) idempotency.put(unit.idempotency);
    if (unit.audit) writeAudit(unit);
    return undefined;
  };
}

function prepareEnqueueLater({ db }: Connection): (row: EnqueuedRow) => void {
  const find = db.prepare<{ rid: number }>('SELECT rid FROM runs WHERE id = ?');
  const enqueue = prepareEnqueue(db);
  return (row) => {
    const id = runIdBytes(row.runId);
    const run = id && find.get(id);
    if (run) enqueue(run.rid, row);
  };
}

function prepareFindClaim({
  db,
}: Connection): (runId: string) => Pick<RunFacts, 'epoch' | 'holder'> | undefined {
  const find = db.prepare<{ epoch: number; holder: number | null }>(
    'SELECT epoch, holder FROM runs WHERE id = ?',
  );
  return (runId) => {
    const id = runIdBytes(runId);
    return id && find.get(id);
  };
}

function prepareCommandWriter(connection: Connection): (unit: CommandUnit) => Refusal | undefined {
  const { db, strings } = connection;
  const accept = prepareAccept(connection);
  const findRun = db.prepare<{ rid: number; tenant: number; status: number; inbox: number }>(
    'SELECT rid, tenant, status, inbox FROM runs WHERE id = ?',
  );
  const findCommand = db.prepare('SELECT 1 FROM commands WHERE rid = ? AND id = ?');

  return (unit) => {
    const id = runIdBytes(unit.runId);
    const run = ownRun(id && findRun.get(id), strings.find(unit.tenant));
    const isAccepted = run !== undefined && findCommand.get(run.rid, unit.commandId) !== undefined;
    const facts = run && { status: statusOf(run.status), inbox: run.inbox };
    const refusal = commandRejection(facts, unit, isAccepted);
    if (refusal || !run) return refusal;
    accept({ runId: unit.runId, rid: run.rid }, unit.commandId, unit.command);
    return undefined;
  };
}

type RegistryUnit = Exclude<
  WriteUnit,
  { kind: 'run' | 'command' | 'document' | 'blob' | 'purge' | 'erase' | 'suspicion' }
>;

function prepareRegistryWriter({
  db,
  clock,
  currentWorkflows,
}: Connection): (unit: RegistryUnit) => Refusal | undefined {
  const findDigest = db.prepare<{ digest: string }>(
    'SELECT digest FROM workflows WHERE tenant = ? AND id = ? AND version = ?',
  );
  const insertWorkflow = db.prepare(
    'INSERT INTO workflows (tenant, id, version, digest, registered_at) VALUES (?, ?, ?, ?, ?)',
  );
  const insertDefinition = db.prepare('INSERT OR IGNORE INTO definitions (digest, body) VALUES (?, ?)');
  const insertKey = db.prepare(
    'INSERT OR IGNORE INTO api_keys (key_id, hash, tenant, body, revoked_at) VALUES (?, ?, ?, ?, ?)',
  );
  const findKey = db.prepare<{ tenant: string }>('SELECT tenant FROM api_keys WHERE key_id = ?');
  const revokeKey = db.prepare('UPDATE api_keys SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL');
  const findSetting = db.prepare<{ value: string }>('SELECT value FROM settings WHERE name = ?');
  const insertSetting = db.prepare('INSERT OR IGNORE INTO settings (name, value) VALUES (?, ?)');
  const deleteOutbox = db.prepare('DELETE FROM outbox WHERE id = ?');
  const retryOutbox = db.prepare(
    `UPDATE outbox SET due_at = ?, next_at = ?, attempts = CASE WHEN next_at IS NULL THEN 0 ELSE attempts END
     WHERE id = ?`,
  );
  const deadLetterOutbox = db.prepare('UPDATE outbox SET next_at = NULL WHERE id = ?');
  const laneOfOutbox = db.prepare<{ lane: string | null }>('SELECT lane FROM outbox WHERE id = ?');
  const releaseLane = prepareReleaseLane(db);

  function register(unit: WorkflowUnit): Refusal | undefined {
    const known = findDigest.get(unit.tenant, unit.id, unit.version);
    if (known) return workflowRejection(known.digest, unit);
    currentWorkflows.clear();
    insertWorkflow.run(unit.tenant, unit.id, unit.version, unit.digest, unit.registeredAt);
    insertDefinition.run(unit.digest, unit.definition);
    return undefined;
  }

  function settle({ id, state, dueAt = clock() }: OutboxUnit['settle'][number]): void {
    const lane = laneOfOutbox.get(id)?.lane;
    switch (state) {
      case 'done':
        deleteOutbox.run(id);
        if (typeof lane === 'string') releaseLane(lane);
        return;
      case 'retry':
        retryOutbox.run(dueAt, dueAt, id);
        return;
      case 'dead':
        deadLetterOutbox.run(id);
        if (typeof lane === 'string') releaseLane(lane);
        return;
    }
  }

  return (unit) => {
    switch (unit.kind) {
      case 'workflow':
        return register(unit);
      case 'key': {
        const { revokedAt, ...key } = unit.key;
        insertKey.run(key.keyId, key.hash, key.tenant, JSON.stringify(key), revokedAt ?? null);
        return undefined;
      }
      case 'revoke-key': {
        const refusal = revocationRejection(findKey.get(unit.keyId)?.tenant, unit);
        if (refusal === undefined) revokeKey.run(unit.at, unit.keyId);
        return refusal;
      }
      case 'setting': {
        const refusal = settingRejection(findSetting.get(unit.name)?.value, unit);
        if (refusal === undefined) insertSetting.run(unit.name, unit.value);
        return refusal;
      }
      case 'outbox':
        for (const row of unit.settle) settle(row);
        return undefined;
      case 'audit':
        return undefined;
    }
  };
}
