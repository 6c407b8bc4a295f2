import { eventType, HostError, type JsonObject } from '@weft/protocol';
import type {
  Caller,
  CreatedWebhook,
  NewWebhook,
  RegisteredWebhook,
  Webhooks,
  WebhookSummary,
} from '../../host/host.ts';
import type { AuditEntry, DocumentUnit, Store } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committer } from '../commits/committer.ts';
import type { ReceiverCheck } from '../egress/receiver.ts';
import type { Idempotency, Remember } from '../commits/idempotency.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { HostLimits } from '../../host/limits.ts';
import { type Sealing, toStored } from './sealing.ts';
import { newSigningSecret, secretFingerprint, SIGNATURE_ALGORITHM } from './signing.ts';
import { HOST_TENANT, MARKS, type Subscription, type Subscriptions, WEBHOOKS } from './subscriptions.ts';
import { writeFailure } from '../commits/write-failure.ts';

/** Webhooks of a tenant: which receivers get its runs' events. The outbox decides what is sent, and how. */
export type Subscribing = Omit<Webhooks, 'deadDeliveries' | 'replay'>;

export interface WebhookDependencies {
  readonly store: Pick<Store, 'readDocument'>;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
  readonly idempotency: Idempotency;
  readonly subscriptions: Subscriptions;
  readonly checkReceiver: ReceiverCheck;
  readonly callbackSecret: (tenant: string) => Promise<string>;
  readonly sealing?: Sealing | undefined;
}

export function createWebhooks(dependencies: WebhookDependencies): Subscribing {
  const { store, committer, clock, random, limits, subscriptions, sealing } = dependencies;

  async function register(
    caller: Caller,
    request: NewWebhook,
    remember: Remember<RegisteredWebhook>,
  ): Promise<CreatedWebhook> {
    checkTenant(caller, request.tenantId);
    checkRequest(request, dependencies.checkReceiver);
    checkRoom(subscriptions.of(caller.tenant).length, limits.maxWebhooks);

    const secret = newSigningSecret(random);
    const webhookId = `wh_${randomId(random)}`;
    const row: Subscription = {
      webhookId,
      url: request.url,
      events: [...new Set(request.events)],
      tags: [...new Set(request.tags)],
      secret: toStored(sealing, { tenant: caller.tenant, id: webhookId }, secret),
      secretFingerprint: secretFingerprint(secret),
      createdAt: clock.now(),
      createdBy: caller.principal,
    };
    const unit: DocumentUnit = {
      ...placed(caller, row.webhookId),
      body: JSON.stringify(row),
      audit: [entry(caller, 'webhook.register', row.webhookId)],
      // A repeat shows everything but the secret: what can be read from the store must sign nothing.
      ...remember.answer(created(row)),
    };
    const result = await committer.submit(unit);
    if (result.state !== 'committed') throw writeFailure(result);
    await announce(caller.tenant);
    return { replayed: false, secret, ...created(row) };
  }

  /** Marks that the tenant's webhooks have changed, for every process; here they are read again before it resolves. */
  async function announce(tenant: string): Promise<void> {
    const result = await committer.submit({
      kind: 'document',
      batchId: randomId(random),
      tenant: HOST_TENANT,
      collection: MARKS,
      scope: '',
      id: tenant,
      body: JSON.stringify(randomId(random)),
      at: clock.now(),
    });
    if (result.state !== 'committed') throw writeFailure(result);
    await subscriptions.refresh();
  }

  function placed(caller: Caller, id: string): Omit<DocumentUnit, 'body'> {
    const { tenant } = caller;
    return {
      kind: 'document',
      batchId: randomId(random),
      tenant,
      collection: WEBHOOKS,
      scope: '',
      id,
      at: clock.now(),
    };
  }

  function entry(caller: Caller, action: string, target: string): AuditEntry {
    return auditOf(caller, { at: clock.now(), action, target });
  }

  return {
    async register(caller, request, claim) {
      const answer = await dependencies.idempotency.once(caller, claim, (remember) =>
        register(caller, request, remember),
      );
      // A client may ask again because the first answer never came: the webhook was written, and not announced.
      if (answer.replayed) await announce(caller.tenant);
      return answer;
    },
    async list(caller) {
      await subscriptions.refresh();
      return subscriptions.of(caller.tenant).map(summary);
    },
    async remove(caller, webhookId, tenantId) {
      checkTenant(caller, tenantId);
      const place = { tenant: caller.tenant, collection: WEBHOOKS, scope: '', id: webhookId };
      if ((await store.readDocument(place)) === undefined) return false;
      const result = await committer.submit({
        ...placed(caller, webhookId),
        audit: [entry(caller, 'webhook.remove', webhookId)],
      });
      if (result.state !== 'committed') throw writeFailure(result);
      await announce(caller.tenant);
      return true;
    },
    async callbackSecret(caller) {
      const secret = await dependencies.callbackSecret(caller.tenant);
      return {
        secret,
        secretFingerprint: secretFingerprint(secret),
        signatureAlgorithm: SIGNATURE_ALGORITHM,
      };
    },
  };
}

function created({ webhookId, secretFingerprint: fingerprint }: Subscription): RegisteredWebhook {
  return { webhookId, secretFingerprint: fingerprint, signatureAlgorithm: SIGNATURE_ALGORITHM };
}

function summary(row: Subscription): WebhookSummary {
  const { webhookId, url, events, tags, createdAt, createdBy } = row;
  return {
    webhookId,
    url,
    events,
    tags,
    secretFingerprint: row.secretFingerprint,
    createdAt,
    createdBy,
  };
}

function checkTenant(caller: Caller, tenantId: string | undefined): void {
  if (tenantId === undefined || tenantId === caller.tenant) return;
  throw new HostError('forbidden', 'This key belongs to another tenant than tenantId; leave tenantId out.', {
    field: 'tenantId',
  });
}

function checkRequest({ url, events }: NewWebhook, check: ReceiverCheck): void {
  const complaint = check(url);
  if (complaint !== undefined)
    throw new HostError('webhook_url_rejected', `url ${complaint}.`, { field: 'url' });
  if (events.length === 0) throw invalid('events must name at least one event type.', { field: 'events' });
  const unknown = events.findIndex((type) => type !== '*' && eventType(type) === undefined);
  if (unknown === -1) return;
  throw invalid(`events[${unknown}] is no event type of the protocol; "*" stands for all of them.`, {
    field: `events[${unknown}]`,
  });
}

function checkRoom(observed: number, limit: number): void {
  if (observed < limit) return;
  throw new HostError(
    'conflict',
    `This tenant has ${observed} webhooks, which is the limit. Remove one that is not needed.`,
    { limit, observed },
  );
}

function invalid(message: string, details: JsonObject): HostError {
  return new HostError('validation_error', message, details);
}
