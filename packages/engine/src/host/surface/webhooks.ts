import type { DeadDelivery } from '@weft/protocol';
import type { Caller, IdempotencyClaim, ReplayedAnswer } from './caller.ts';
import type { Listed, Page } from '../../ports/store.ts';

/** Webhooks, callbacks and what became of their deliveries. */
export interface Webhooks {
  /** From now on events of the tenant's runs are sent there, signed with a secret that is returned once. */
  register(
    caller: Caller,
    request: NewWebhook,
    idempotency?: IdempotencyClaim<RegisteredWebhook>,
  ): Promise<CreatedWebhook | ReplayedAnswer>;
  list(caller: Caller): Promise<readonly WebhookSummary[]>;
  /** False when it does not exist. Nothing more is sent after it resolves, also of what was waiting. */
  remove(caller: Caller, webhookId: string, tenantId?: string): Promise<boolean>;
  /** What the tenant's callbacks are signed with; made when first asked for. */
  callbackSecret(caller: Caller): Promise<SigningSecret>;
  /** Deliveries that were given up, newest first. */
  deadDeliveries(caller: Caller, page: Page): Promise<Listed<DeadDelivery>>;
  /** Tries a dead delivery again, from its first attempt. False when it does not exist. */
  replay(caller: Caller, deliveryId: string): Promise<boolean>;
}

export interface NewWebhook {
  readonly url: string;
  /** Event types; `*` stands for all. */
  readonly events: readonly string[];
  /** Only runs with one of these tags; empty = all runs. */
  readonly tags: readonly string[];
  readonly tenantId?: string;
}

export interface SigningSecret {
  readonly secret: string;
  /** The first 8 hex characters of the secret's SHA-256. */
  readonly secretFingerprint: string;
  readonly signatureAlgorithm: string;
}

export interface CreatedWebhook extends SigningSecret {
  readonly replayed: false;
  readonly webhookId: string;
}

/** What a repeat shows: everything but the secret. */
export type RegisteredWebhook = Omit<CreatedWebhook, 'replayed' | 'secret'>;

export interface WebhookSummary {
  readonly webhookId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly tags: readonly string[];
  readonly secretFingerprint: string;
  readonly createdAt: number;
  readonly createdBy: string;
}
