import type { OutboxUnit, RunUnit, WriteUnit } from '@weft/engine';
import { hasEventsOf, isSameRecord } from '@weft/engine/store-rules';
import { prepareBlobs } from '../documents/blobs.ts';
import { batchBytes, runIdBytes, sameBytes } from '../runs/codec.ts';
import type { Connection } from '../file/connection.ts';
import { prepareDocuments } from '../documents/documents.ts';
import { prepareRetention } from '../retention/retention.ts';
import type { RunReader } from '../runs/read-run.ts';
import { prepareSuspicions } from '../runs/suspicions.ts';

/** Whether a unit's effect is in the file, evaluated by what it would have left there. */
export function prepareWasCommitted(connection: Connection, runs: RunReader): (unit: WriteUnit) => boolean {
  const { db } = connection;
  const documents = prepareDocuments(connection);
  const blobs = prepareBlobs(connection);
  const retention = prepareRetention(connection);
  const suspicions = prepareSuspicions(connection);
  const lastBatch = db.prepare<{ last_batch: Uint8Array }>('SELECT last_batch FROM runs WHERE id = ?');
  const hasWorkflow = db.prepare(
    'SELECT 1 FROM workflows WHERE tenant = ? AND id = ? AND version = ? AND digest = ?',
  );
  const hasKey = db.prepare('SELECT 1 FROM api_keys WHERE key_id = ?');
  const hasRevokedKey = db.prepare('SELECT 1 FROM api_keys WHERE key_id = ? AND revoked_at IS NOT NULL');
  const hasSetting = db.prepare('SELECT 1 FROM settings WHERE name = ? AND value = ?');
  const findOutbox = db.prepare<{ next_at: number | null }>('SELECT next_at FROM outbox WHERE id = ?');
  const hasAudit = db.prepare('SELECT 1 FROM audit WHERE batch = ?');

  /** The newest batch names itself; an older one is known by its events. */
  function hasRunUnit(unit: RunUnit): boolean {
    const id = runIdBytes(unit.runId);
    const row = id && lastBatch.get(id);
    if (!row) return false;
    if (sameBytes(row.last_batch, batchBytes(unit.batchId))) return true;
    if (unit.create) return isSameRecord(unit.create.record, runs.readRun(unit.runId, undefined)?.record);
    const stored = runs.readEvents(unit.runId, unit.expectedSeq, unit.events.length, Number.MAX_SAFE_INTEGER);
    return hasEventsOf(unit, stored);
  }

  function isSettled({ id, state, dueAt }: OutboxUnit['settle'][number]): boolean {
    const row = findOutbox.get(id);
    if (!row) return state === 'done';
    if (state === 'dead') return row.next_at === null;
    return state === 'retry' && row.next_at === dueAt;
  }

  return (unit) => {
    switch (unit.kind) {
      case 'run':
        return hasRunUnit(unit);
      case 'command':
        return runs.readCommand(unit.runId, unit.commandId) !== undefined;
      case 'workflow':
        return hasWorkflow.get(unit.tenant, unit.id, unit.version, unit.digest) !== undefined;
      case 'key':
        return hasKey.get(unit.key.keyId) !== undefined;
      case 'revoke-key':
        return hasRevokedKey.get(unit.keyId) !== undefined;
      case 'setting':
        return hasSetting.get(unit.name, unit.value) !== undefined;
      case 'outbox':
        return unit.settle.every(isSettled);
      case 'audit':
        return hasAudit.get(batchBytes(unit.batchId)) !== undefined;
      case 'document':
        return documents.wasCommitted(unit);
      case 'blob':
        return blobs.wasCommitted(unit);
      case 'purge':
      case 'erase':
        return retention.wasCommitted(unit);
      case 'suspicion':
        return suspicions.wasCommitted(unit);
    }
  };
}
