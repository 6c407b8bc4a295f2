import { type DeadDelivery, toIso } from '@weft/protocol';
import type { Documents, DocumentUnit, OutboxRow, RunLog } from '../../ports/store.ts';
import type { Webhooks } from '../../host/host.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committer } from '../commits/committer.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import { writeFailure } from '../commits/write-failure.ts';
import { PEER_TOPIC, PUSH_TOPIC, seqOf, TASK_TOPIC, WEBHOOK_TOPIC } from './rows.ts';

/**
 * Deliveries that were given up. The row stays in the outbox as dead; a document of the tenant says what it was and
 * why, for people to find. The document is written with the row's death and removed after it lives again, so that no dead row
 * is ever without one; one that is left over does no harm.
 */
export interface DeadLetters extends Pick<Webhooks, 'deadDeliveries' | 'replay'> {
  /** The document for a row that is about to die. Undefined when its run is gone, or the row was not for a client's receiver. */
  letterFor(row: OutboxRow, reason: string): Promise<DocumentUnit | undefined>;
}

export interface DeadLetterDependencies {
  readonly store: RunLog & Documents;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** A row has come back to life. */
  readonly wake: () => void;
}

const COLLECTION = 'dead-delivery';

export function createDeadLetters(dependencies: DeadLetterDependencies): DeadLetters {
  const { store, committer, clock, random } = dependencies;
  const placeOf = (tenant: string, id: string) => ({ tenant, collection: COLLECTION, scope: '', id });

  return {
    async letterFor(row, reason) {
      if (row.topic === PEER_TOPIC || row.topic.startsWith(TASK_TOPIC)) return undefined;
      const run = await store.readRun(row.runId, undefined);
      if (run === undefined) return undefined;
      const at = clock.now();
      return {
        kind: 'document',
        batchId: randomId(random),
        ...placeOf(run.record.tenant, row.id),
        body: JSON.stringify(deadDelivery(row, reason, at)),
        at,
      };
    },

    async deadDeliveries(caller, page) {
      const { rows, nextCursor } = await store.listDocuments(caller.tenant, COLLECTION, '', page);
      const found = rows.map(({ body }) => JSON.parse(body) as DeadDelivery);
      return { rows: found, ...(nextCursor !== undefined && { nextCursor }) };
    },

    async replay(caller, deliveryId) {
      const place = placeOf(caller.tenant, deliveryId);
      if ((await store.readDocument(place)) === undefined) return false;
      const at = clock.now();
      const revived = await committer.submit({
        kind: 'outbox',
        batchId: randomId(random),
        settle: [{ id: deliveryId, state: 'retry', dueAt: at }],
        audit: [auditOf(caller, { at, action: 'delivery.replay', target: deliveryId })],
      });
      if (revived.state !== 'committed') throw writeFailure(revived);
      const removed = await committer.submit({ kind: 'document', batchId: randomId(random), ...place, at });
      if (removed.state !== 'committed') throw writeFailure(removed);
      dependencies.wake();
      return true;
    },
  };
}

function deadDelivery(row: OutboxRow, reason: string, at: number): DeadDelivery {
  const isWebhook = row.topic.startsWith(WEBHOOK_TOPIC);
  return {
    deliveryId: row.id,
    kind: kindOf(row),
    ...(isWebhook && { webhookId: row.topic.slice(WEBHOOK_TOPIC.length) }),
    runId: row.runId,
    sequence: seqOf(row.body),
    attempts: row.attempts,
    reason,
    failedAt: toIso(at),
  };
}

function kindOf({ topic }: OutboxRow): DeadDelivery['kind'] {
  if (topic.startsWith(PUSH_TOPIC)) return 'push';
  return topic.startsWith(WEBHOOK_TOPIC) ? 'webhook' : 'callback';
}
