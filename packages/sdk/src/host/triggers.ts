import { endpointOf, type Json, type JsonObject } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import type { PageRequest } from '../documents.ts';
import { type PagePromise, pagedList } from '../requests/page-promise.ts';
import type { Transport } from '../requests/transport.ts';

/** How deliveries are signed: as OpenWOP webhooks, GitHub, Stripe or Slack do, or with a secret in a header. */
export type TriggerScheme = 'hmac' | 'github' | 'stripe' | 'slack' | 'shared-secret';

export interface NewTrigger {
  readonly workflowId: string;
  /** Default: `hmac`. */
  readonly scheme?: TriggerScheme;
  /** The sender's, where the sender makes it (`stripe`, `slack`); otherwise one is made. */
  readonly secret?: string;
  /** A secret that the host keeps, instead. */
  readonly secretId?: string;
  /** By input: a CEL expression over `body`, `headers`, `deliveryId` and `receivedAt`. */
  readonly inputMapping?: Readonly<Record<string, string>>;
  readonly dedupEnabled?: boolean;
  readonly retryPolicy?: {
    readonly maxAttempts?: number;
    readonly backoff?: 'none' | 'fixed' | 'exponential';
  };
}

export interface TriggerSummary {
  readonly id: string;
  readonly workflowId: string;
  readonly scheme: TriggerScheme;
  readonly state: 'active' | 'paused' | 'dead-lettered';
  /** Where deliveries go. */
  readonly ingestUrl: string;
  readonly secretFingerprint?: string;
  readonly secretId?: string;
  readonly inputMapping?: Readonly<Record<string, string>>;
  readonly dedupEnabled: boolean;
  readonly retryPolicy: { readonly maxAttempts: number; readonly backoff: string };
  readonly createdAt: string;
  readonly createdBy: string;
  readonly ownedBy?: { readonly workflowId: string; readonly triggerId: string };
  readonly changes: readonly {
    readonly at: string;
    readonly to: string;
    readonly reason: string;
    readonly by: string;
  }[];
}

export interface CreatedTrigger extends TriggerSummary {
  /** Where this host made it; in this answer and nowhere else. */
  readonly secret?: string;
}

export interface Triggers {
  create(trigger: NewTrigger): ApiPromise<CreatedTrigger>;
  list(page?: PageRequest): PagePromise<TriggerSummary>;
  get(id: string): ApiPromise<TriggerSummary>;
  /** Deliveries are answered with 503 until it is resumed. */
  pause(id: string): ApiPromise<TriggerSummary>;
  resume(id: string): ApiPromise<TriggerSummary>;
  /** The inputs that a delivery with this content would start a run with. */
  test(
    id: string,
    sample: { readonly body: Json; readonly headers?: JsonObject },
  ): ApiPromise<{ readonly inputs: JsonObject }>;
  remove(id: string): ApiPromise<void>;
}

export function createTriggers(transport: Transport): Triggers {
  return {
    // A repeat is answered without the secret, which is shown once: that its answer was lost is the caller's to know.
    create: (trigger) => transport.json(endpointOf('createTrigger'), { body: trigger, maxRetries: 0 }),
    list: (page) => pagedList(transport, endpointOf('listTriggers'), 'triggers', { ...page }),
    get: (triggerId) => transport.json(endpointOf('getTrigger', { triggerId })),
    pause: (triggerId) => transport.json(endpointOf('pauseTrigger', { triggerId })),
    resume: (triggerId) => transport.json(endpointOf('resumeTrigger', { triggerId })),
    test: (triggerId, sample) => transport.json(endpointOf('testTrigger', { triggerId }), { body: sample }),
    remove: (triggerId) => transport.json(endpointOf('removeTrigger', { triggerId })),
  };
}
