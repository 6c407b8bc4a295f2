import { setTimeout as pause } from 'node:timers/promises';
import type { OutboxUnit, RunUnit, WriteUnit } from '@weft/engine';
import { hasEventsOf, isSameRecord } from '@weft/engine/store-rules';
import { batchUuid, isRunId, suspicionText } from '../runs/codec.ts';
import type { Backend } from '../connections/connection.ts';
import { ConnectionLostError, isServerError } from '../connections/errors.ts';
import type { Pool } from '../connections/pool.ts';
import { readRows } from '../runs/read-rows.ts';
import type { RunReader } from '../runs/read-run.ts';
import type { Scalar } from '../runs/rows.ts';
import type { BlobUnit, DocumentUnit } from './units.ts';

/** Who decides a unit's fate: a transaction whose id is known, or the server's process that executes it as one statement. */
export type DecidedBy = { readonly transaction: string } | { readonly backend: Backend };

export interface InDoubtUnits {
  add(inDoubt: ReadonlyMap<string, DecidedBy>): void;
  wasCommitted(unit: WriteUnit): Promise<boolean>;
}

/** More than any process has in flight; beyond it the oldest are evaluated by what they left in the tables. */
const MOST_IN_DOUBT = 10_000;
const LOOK_EVERY_MS = 50;
/** invalid_parameter_value: what pg_xact_status says of an id that the server has not given out. */
const IN_THE_FUTURE = '22023';

/** One that has not noticed the loss of its connection would wait for its next statement, or carry out the last one late. */
const STILL_THERE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid = $1::int AND extract(epoch FROM backend_start)::text = $2::text`;

/**
 * Whether a unit is durable, evaluated by what it would have left in the tables. Who decides only says when to look: a transaction
 * may be active although its connection is lost, because the server has not noticed yet. Its id, known from before the COMMIT,
 * is no proof of the contrary: a server that crashed gives the ids of lost transactions out again. Where there is no id, the
 * server's process is ended; once it is gone, nothing of it is active.
 */
export function prepareInDoubtUnits(pool: Pool, runs: RunReader, patienceMs: number): InDoubtUnits {
  const open = new Map<string, DecidedBy>();
  const leftTraces = prepareTraces(pool, runs);

  /** Asks until there is an answer. */
  async function decided<Answer>(look: () => Promise<Answer | undefined>): Promise<Answer> {
    const until = performance.now() + patienceMs;
    for (;;) {
      const answer = await look();
      if (answer !== undefined) return answer;
      if (performance.now() > until)
        throw new ConnectionLostError('PostgreSQL has not ended the transaction in question yet');
      await pause(LOOK_EVERY_MS);
    }
  }

  function isAborted(decidedBy: DecidedBy): Promise<boolean> {
    return decided(async () => {
      if ('backend' in decidedBy) {
        const { pid, began } = decidedBy.backend;
        const rows = await readRows(pool, STILL_THERE, [pid, began]);
        return rows.length > 0 ? undefined : false;
      }
      const status = await statusOf(decidedBy.transaction);
      return status === 'in progress' ? undefined : status === 'aborted';
    });
  }

  /** A server that has crashed, or taken the place of another, may not have come to the transaction: nothing of it is there. */
  async function statusOf(transaction: string): Promise<string | null | undefined> {
    try {
      const text = 'SELECT pg_xact_status($1::text::xid8) AS status';
      const [row] = await readRows<{ status: string | null }>(pool, text, [transaction]);
      return row?.status;
    } catch (error) {
      if (isServerError(error) && error.code === IN_THE_FUTURE) return 'aborted';
      throw error;
    }
  }

  return {
    add(inDoubt) {
      for (const [batchId, decidedBy] of inDoubt) {
        const oldest = open.keys().next();
        if (open.size >= MOST_IN_DOUBT && !oldest.done) open.delete(oldest.value);
        open.set(batchId, decidedBy);
      }
    },
    async wasCommitted(unit) {
      const decidedBy = open.get(unit.batchId);
      const isLost = decidedBy !== undefined && (await isAborted(decidedBy));
      const isCommitted = !isLost && (await leftTraces(unit));
      open.delete(unit.batchId);
      return isCommitted;
    },
  };
}

function prepareTraces(pool: Pool, runs: RunReader): (unit: WriteUnit) => Promise<boolean> {
  const find = async <Row>(text: string, values: readonly Scalar[]) =>
    (await readRows<Row>(pool, text, values))[0];
  const exists = async (text: string, values: readonly Scalar[]) => (await find(text, values)) !== undefined;

  /** The newest batch names itself; an older one is known by its events, which no other batch has. */
  async function hasRunUnit(unit: RunUnit): Promise<boolean> {
    // Waits for a concurrent writer of the run: it may be this very unit.
    const row = await find<{ is_last: boolean }>(
      'SELECT last_batch = $2::uuid AS is_last FROM runs WHERE id = $1::uuid FOR SHARE',
      [unit.runId, batchUuid(unit.batchId)],
    );
    if (!row || row.is_last) return row?.is_last ?? false;
    if (unit.create)
      return isSameRecord(unit.create.record, (await runs.readRun(unit.runId, undefined))?.record);
    const stored = await runs.readEvents(
      unit.runId,
      unit.expectedSeq,
      unit.events.length,
      Number.MAX_SAFE_INTEGER,
    );
    return hasEventsOf(unit, stored);
  }

  async function isSettled({ id, state, dueAt }: OutboxUnit['settle'][number]): Promise<boolean> {
    const row = await find<{ next_at: number | null }>('SELECT next_at FROM outbox WHERE id = $1::text', [
      id,
    ]);
    if (!row) return state === 'done';
    if (state === 'dead') return row.next_at === null;
    return state === 'retry' && row.next_at === dueAt;
  }

  /** A document names the batch that wrote it; a removal has left nothing. */
  async function hasDocument({
    tenant,
    collection,
    scope,
    id,
    body,
    batchId,
  }: DocumentUnit): Promise<boolean> {
    const row = await find<{ is_ours: boolean }>(
      `SELECT batch = $5::uuid AS is_ours FROM documents
       WHERE tenant = $1::text AND collection = $2::text AND scope = $3::text AND id = $4::text`,
      [tenant, collection, scope, id, batchUuid(batchId)],
    );
    return body === undefined ? row === undefined : row?.is_ours === true;
  }

  /** A piece is written once, so these bytes are there, no matter which writer wrote them. */
  function hasBlob({ tenant, runId, blobId, index, bytes }: BlobUnit): Promise<boolean> {
    return exists(
      `SELECT 1 FROM blobs WHERE tenant = $1::text AND run = $2::uuid AND id = $3::text AND piece = $4::int
         AND bytes = $5::bytea`,
      [tenant, runId, blobId, index, bytes],
    );
  }

  async function allSettled(unit: OutboxUnit): Promise<boolean> {
    for (const row of unit.settle) if (!(await isSettled(row))) return false;
    return true;
  }

  return async (unit) => {
    if ('runId' in unit && !isRunId(unit.runId)) return false;
    switch (unit.kind) {
      case 'run':
        return hasRunUnit(unit);
      case 'command':
        return (await runs.readCommand(unit.runId, unit.commandId)) !== undefined;
      case 'workflow':
        return exists(
          `SELECT 1 FROM workflows WHERE tenant = $1::text AND id = $2::text AND version = $3::text AND digest = $4::text`,
          [unit.tenant, unit.id, unit.version, unit.digest],
        );
      case 'key':
        return exists('SELECT 1 FROM api_keys WHERE key_id = $1::text', [unit.key.keyId]);
      case 'revoke-key':
        return exists('SELECT 1 FROM api_keys WHERE key_id = $1::text AND revoked_at IS NOT NULL', [
          unit.keyId,
        ]);
      case 'setting':
        return exists('SELECT 1 FROM settings WHERE name = $1::text AND value = $2::text', [
          unit.name,
          unit.value,
        ]);
      case 'outbox':
        return allSettled(unit);
      case 'audit':
        return exists('SELECT 1 FROM audit WHERE batch = $1::uuid', [batchUuid(unit.batchId)]);
      case 'purge':
        return exists(
          `SELECT 1 FROM tombstones WHERE run = $1::uuid AND NOT EXISTS (SELECT 1 FROM runs WHERE id = $1::uuid)`,
          [unit.runId],
        );
      case 'erase':
        return exists('SELECT 1 FROM runs WHERE id = $1::uuid AND erased_at IS NOT NULL', [unit.runId]);
      case 'suspicion':
        return exists('SELECT 1 FROM runs WHERE id = $1::uuid AND suspicion IS NOT DISTINCT FROM $2::text', [
          unit.runId,
          suspicionText(unit.suspicion),
        ]);
      case 'document':
        return hasDocument(unit);
      case 'blob':
        return hasBlob(unit);
    }
  };
}
