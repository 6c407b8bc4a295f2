import { endpointOf } from '@weft/protocol/plain';
import type { Listing, PageRequest } from './documents.ts';
import type { Transport } from './transport.ts';

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

/** A callback or webhook delivery that was given up. */
export interface DeadDelivery {
  readonly deliveryId: string;
  readonly kind: 'webhook' | 'callback';
  readonly webhookId?: string;
  readonly runId: string;
  readonly sequence: number;
  readonly attempts: number;
  readonly reason: string;
  readonly failedAt: string;
}

export interface Webhooks {
  /** The secret is in this answer and nowhere else. */
  register(webhook: NewWebhook): Promise<CreatedWebhook>;
  list(): Promise<readonly WebhookSummary[]>;
  /** Deliveries stop at once. */
  remove(webhookId: string): Promise<void>;
  /** What the tenant's callbacks are signed with. */
  callbackSecret(): Promise<SigningSecret>;
  deadDeliveries(page?: PageRequest): Promise<Listing<DeadDelivery>>;
  /** Tries a dead delivery again, from its first attempt. */
  replay(deliveryId: string): Promise<void>;
}

export function createWebhooks(transport: Transport): Webhooks {
  return {
    register: (webhook) => transport.json(endpointOf('registerWebhook'), { body: webhook }),
    list: async () =>
      (await transport.json<{ webhooks: WebhookSummary[] }>(endpointOf('listWebhooks'))).webhooks,
    remove: async (webhookId) => {
      await transport.json(endpointOf('unregisterWebhook', { webhookId }));
    },
    callbackSecret: () => transport.json(endpointOf('readCallbackSecret')),
    deadDeliveries: async (page = {}) => {
      const { deliveries, ...rest } = await transport.json<{
        deliveries: DeadDelivery[];
        nextCursor?: string;
      }>(endpointOf('listDeliveries'), { query: { state: 'dead', ...page } });
      return { items: deliveries, ...rest };
    },
    replay: async (deliveryId) => {
      await transport.json(endpointOf('replayDelivery', { deliveryId }));
    },
  };
}
