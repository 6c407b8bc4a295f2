import { isDeepStrictEqual } from 'node:util';
import type { BlobUnit, OutboxUnit, RunUnit, WriteUnit } from '../ports/store.ts';
import { firstSeq, hasEventsOf, isSameRecord } from '../ports/store-rules.ts';
import type { MemoryData } from './data.ts';
import { blobKey, workflowAt } from './data.ts';
import { wasDocumentCommitted } from './documents.ts';

/** Whether the unit's effect is there, evaluated by what it would have left behind. */
export function wasCommitted(data: MemoryData, unit: WriteUnit): boolean {
  switch (unit.kind) {
    case 'run':
      return wasRunCommitted(data, unit);
    case 'command':
      return data.runs.get(unit.runId)?.commands.has(unit.commandId) ?? false;
    case 'workflow':
      return workflowAt(data, unit.tenant, unit.id, unit.version)?.digest === unit.digest;
    case 'key':
      return data.keys.has(unit.key.keyId);
    case 'revoke-key':
      return data.keys.get(unit.keyId)?.revokedAt !== undefined;
    case 'setting':
      return data.settings.get(unit.name) === unit.value;
    case 'outbox':
      return unit.settle.every((row) => isSettled(data, row));
    case 'audit':
      return data.audit.some((entry) => entry.batchId === unit.batchId);
    case 'document':
      return wasDocumentCommitted(data, unit);
    case 'blob':
      return wasBlobCommitted(data, unit);
    case 'purge':
      return !data.runs.has(unit.runId) && data.tombstones.has(unit.runId);
    case 'erase':
      return data.runs.get(unit.runId)?.erasedAt !== undefined;
    case 'suspicion':
      return isDeepStrictEqual(data.runs.get(unit.runId)?.suspicion, unit.suspicion);
  }
}

/** The newest batch names itself; an older one is known by its events. */
function wasRunCommitted(data: MemoryData, unit: RunUnit): boolean {
  const run = data.runs.get(unit.runId);
  if (!run) return false;
  if (run.lastBatch === unit.batchId) return true;
  if (unit.create) return isSameRecord(unit.create.record, run.record);
  return hasEventsOf(unit, run.events.slice(unit.expectedSeq - firstSeq(run.record)));
}

/** A piece is written once, so the same bytes may come from an earlier write. */
function wasBlobCommitted(data: MemoryData, { tenant, runId, blobId, index, bytes }: BlobUnit): boolean {
  const stored = data.blobs.get(blobKey(tenant, runId, blobId, index));
  return stored !== undefined && Buffer.compare(stored, bytes) === 0;
}

function isSettled(data: MemoryData, settle: OutboxUnit['settle'][number]): boolean {
  const stored = data.outbox.get(settle.id);
  if (!stored) return settle.state === 'done';
  if (settle.state === 'dead') return stored.dead;
  return settle.state === 'retry' && !stored.dead && stored.nextAt === settle.dueAt;
}
