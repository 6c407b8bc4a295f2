import { type DeadDelivery, endpointOf } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import type { PageRequest } from '../documents.ts';
import { type ListPromise, type PagePromise, pagedList, wholeList } from '../requests/page-promise.ts';
import type { Transport } from '../requests/transport.ts';

export interface NewWebhook {
  readonly url: string;
  /** Event types; `*` stands for all. */
  readonly events: readonly string[];
  /** Only runs with one of these tags. */
  readonly tags?: readonly string[];
}

export interface SigningSecret {
  /** 64 hex characters; the text itself is the key of the HMAC. */
  readonly secret: string;
  readonly secretFingerprint: string;
  readonly signatureAlgorithm: string;
}

export interface CreatedWebhook extends SigningSecret {
  readonly webhookId: string;
}

export interface WebhookSummary {
  readonly webhookId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly tags: readonly string[];
  readonly secretFingerprint: string;
  readonly createdAt: string;
  readonly createdBy: string;
}

export interface Webhooks {
  /** The secret is in this answer and nowhere else. */
  register(webhook: NewWebhook): ApiPromise<CreatedWebhook>;
  list(): ListPromise<WebhookSummary>;
  /** Deliveries stop at once. */
  remove(webhookId: string): ApiPromise<void>;
  /** What the tenant's callbacks are signed with. */
  callbackSecret(): ApiPromise<SigningSecret>;
  deadDeliveries(page?: PageRequest): PagePromise<DeadDelivery>;
  /** Tries a dead delivery again, from its first attempt. */
  replay(deliveryId: string): ApiPromise<void>;
}

export function createWebhooks(transport: Transport): Webhooks {
  return {
    // A repeat is answered without the secret, which is shown once: that its answer was lost is the caller's to know.
    register: (webhook) => transport.json(endpointOf('registerWebhook'), { body: webhook, maxRetries: 0 }),
    list: () => wholeList(transport, endpointOf('listWebhooks'), 'webhooks'),
    remove: (webhookId) => transport.json(endpointOf('unregisterWebhook', { webhookId })),
    callbackSecret: () => transport.json(endpointOf('readCallbackSecret')),
    deadDeliveries: (page) =>
      pagedList(transport, endpointOf('listDeliveries'), 'deliveries', { state: 'dead', ...page }),
    replay: (deliveryId) => transport.json(endpointOf('replayDelivery', { deliveryId })),
  };
}
