import { HostError, isHostError, type Json } from '@weft/protocol';
import type { Caller, IngestAnswer, Triggers } from '../../host/host.ts';
import type { DueDocument, Store } from '../../ports/store.ts';
import { fromStored, type Sealing } from '../outbox/sealing.ts';
import type { PreparedRun } from '../runs/create-run.ts';
import { randomId } from '../runs/ids.ts';
import type { FoundLetter } from './dead-letters.ts';
import {
  type Attempt,
  createDelivering,
  type DeliveringDependencies,
  type Kept,
  obstacleOf,
  retryPlace,
  UNREADABLE,
} from './delivering.ts';
import { contentOf, shownHeaders, UnreadableDelivery } from './delivery-content.ts';
import type { DeliveryRate } from './delivery-rate.ts';
import { deliveryIdOf, handshakeOf, isGenuine, type RawDelivery, signatureOf } from './schemes.ts';
import { findTrigger, readTrigger, type ReadTrigger, triggerPlace } from './trigger-records.ts';

/**
 * What is delivered to a trigger.
 *
 * D-10. Nothing is started, kept or read before the signature is verified. A sender without the secret learns nothing: an unknown trigger,
 *       a wrong signature and an old one are answered alike, after the same work.
 */
export interface IngestDependencies extends Omit<DeliveringDependencies, 'store'> {
  readonly store: Pick<Store, 'readDocument' | 'readIdempotency'>;
  readonly rate: DeliveryRate;
  /** A secret of the tenant, by its id. */
  readonly tenantSecret: (tenant: string, secretId: string) => Promise<string | undefined>;
  readonly sealing?: Sealing | undefined;
  readonly onIngested: (outcome: IngestAnswer['outcome'] | 'refused') => void;
}

export interface Ingesting {
  readonly ingest: Triggers['ingest'];
  /** Tries a kept delivery again. */
  redeliver(row: DueDocument): Promise<void>;
  replay(caller: Caller, triggerId: string, found: FoundLetter): Promise<PreparedRun>;
}

/** Stands in for an unknown trigger, so that it costs what a known one does. */
const DECOY_SECRET = 'no trigger has this secret';

export function createIngesting(dependencies: IngestDependencies): Ingesting {
  const { store, committer, clock, random, limits } = dependencies;
  const { deliver, keep, prepare, seenBefore } = createDelivering(dependencies);

  async function secretOf({ tenant, trigger }: ReadTrigger): Promise<string | undefined> {
    if (trigger.secretId !== undefined) return await dependencies.tenantSecret(tenant, trigger.secretId);
    return trigger.secret && fromStored(dependencies.sealing, { tenant, id: trigger.id }, trigger.secret);
  }

  /** D-10. */
  async function authenticated(triggerId: string, delivery: RawDelivery): Promise<ReadTrigger> {
    const found = await findTrigger(store, triggerId);
    const secret = found && (await secretOf(found));
    const times = { now: clock.now(), toleranceMs: limits.deliveryToleranceMs };
    const isTrue = isGenuine(found?.trigger.scheme ?? 'hmac', delivery, secret ?? DECOY_SECRET, times);
    if (found !== undefined && secret !== undefined && isTrue) return found;
    dependencies.onIngested('refused');
    throw new HostError(
      'unauthenticated',
      'No trigger of this address takes a delivery with this signature.',
    );
  }

  async function ingest({
    triggerId,
    ...delivery
  }: Parameters<Triggers['ingest']>[0]): Promise<IngestAnswer> {
    const found = await authenticated(triggerId, delivery);
    const { trigger } = found;
    dependencies.rate.take(trigger.id);
    if (trigger.isPaused) throw pausedNow();
    const receivedAt = clock.now();
    const idIn = (content: Json): { deliveryId?: string } => {
      const deliveryId = trigger.dedupEnabled ? deliveryIdOf(trigger.scheme, delivery, content) : undefined;
      return deliveryId === undefined ? {} : { deliveryId };
    };
    const signature = trigger.dedupEnabled ? signatureOf(trigger.scheme, delivery) : undefined;
    const arrived = { attempt: 1, bytes: delivery.body.length, signature };
    let content: Json;
    try {
      content = contentOf(delivery);
    } catch (error) {
      if (!(error instanceof UnreadableDelivery)) throw error;
      const obstacle = { reason: 'body_unreadable', message: error.message, isPassing: false };
      const kept = { ...UNREADABLE, ...idIn(null), receivedAt };
      return await keep(found, { kept, ...arrived }, obstacle);
    }
    const answer = handshakeOf(trigger.scheme, delivery, content);
    if (answer !== undefined) return { outcome: 'answered', answer };
    const named = idIn(content);
    const earlier = named.deliveryId !== undefined && (await seenBefore(found, named.deliveryId));
    if (earlier) return earlier;
    const kept = { headers: shownHeaders(delivery.headers), content, receivedAt, ...named };
    return await deliver(found, { kept, ...arrived });
  }

  return {
    async ingest(delivery) {
      const answer = await ingest(delivery);
      dependencies.onIngested(answer.outcome);
      return answer;
    },
    async redeliver(row) {
      const { triggerId, ...attempt } = JSON.parse(row.body) as Attempt & { triggerId: string };
      const stored = await store.readDocument(triggerPlace(row.tenant, triggerId));
      const from = { id: row.id, version: row.version };
      if (stored === undefined) {
        await committer.submit({
          kind: 'document',
          batchId: randomId(random),
          ...retryPlace(row.tenant, row.id),
          at: row.at,
          replaces: row.version,
        });
        return;
      }
      const next = { ...attempt, attempt: attempt.attempt + 1, from };
      const answer = await deliver(readTrigger(row.tenant, stored), next);
      dependencies.onIngested(answer.outcome);
    },
    async replay(caller, triggerId, { letter, content }) {
      const stored = await store.readDocument(triggerPlace(caller.tenant, triggerId));
      if (stored === undefined)
        throw new HostError('not_found', 'No trigger has this id.', { field: 'source' });
      if (content === undefined) {
        const message = `Nothing was kept that a run could be started with (${letter.reason}). Have it sent again, and remove this letter.`;
        throw new HostError('conflict', message, { reason: letter.reason });
      }
      const { kept } = content as { kept?: Kept };
      try {
        return await prepare(readTrigger(caller.tenant, stored), {
          kept: kept ?? UNREADABLE,
          attempt: letter.attempts + 1,
        });
      } catch (error) {
        const { message } = obstacleOf(error);
        throw isHostError(error)
          ? error
          : new HostError('conflict', message, { reason: obstacleOf(error).reason });
      }
    },
  };
}

function pausedNow(): HostError {
  const retryAfter = 60;
  return new HostError(
    'service_unavailable',
    'This trigger is paused; deliver again later.',
    { cause: 'trigger_paused', retryAfter },
    { retryAfter },
  );
}
