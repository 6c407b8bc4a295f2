import type { Json, JsonObject } from '@weft/protocol';
import type { TriggerScheme } from '../../runtime/triggers/schemes.ts';
import type { Listed, Page } from '../../ports/store.ts';
import type { Caller, IdempotencyClaim, ReplayedAnswer } from './caller.ts';

export type { TriggerScheme } from '../../runtime/triggers/schemes.ts';

/** Runs that start when something is delivered. */
export interface Triggers {
  /** A secret that this host generated is returned once. */
  create(
    caller: Caller,
    request: NewTrigger,
    idempotency?: IdempotencyClaim<TriggerView>,
  ): Promise<CreatedTrigger>;
  list(caller: Caller, page: Page): Promise<Listed<TriggerView>>;
  get(caller: Caller, id: string): Promise<TriggerView | undefined>;
  pause(caller: Caller, id: string): Promise<TriggerView | undefined>;
  resume(caller: Caller, id: string): Promise<TriggerView | undefined>;
  /** False when it does not exist. */
  remove(caller: Caller, id: string): Promise<boolean>;
  /** The inputs that a delivery with this content would start a run with. Starts nothing. */
  test(caller: Caller, id: string, content: SampleDelivery): Promise<JsonObject | undefined>;
  /**
   * Takes a delivery from a holder of the trigger's secret. Throws `unauthenticated` for a wrong signature and
   * for an unknown trigger alike.
   */
  ingest(delivery: Delivery): Promise<IngestAnswer>;
}

export interface NewTrigger {
  readonly workflowId: string;
  readonly scheme: TriggerScheme;
  /** The sender's; one is made when both are left out, where the scheme allows it. */
  readonly secret?: string;
  /** A secret of the tenant that this host keeps. */
  readonly secretId?: string;
  /** By input: a CEL expression over body, headers, deliveryId and receivedAt. Without it the run gets all as `triggerData`. */
  readonly inputMapping?: Readonly<Record<string, string>>;
  readonly dedupEnabled: boolean;
  readonly retryPolicy: RetryPolicy;
}

export interface RetryPolicy {
  readonly maxAttempts: number;
  readonly backoff: 'none' | 'fixed' | 'exponential';
}

export type CreatedTrigger =
  | { readonly replayed: false; readonly trigger: TriggerView; readonly secret?: string }
  | ReplayedAnswer;

export interface TriggerView {
  readonly id: string;
  readonly workflowId: string;
  readonly scheme: TriggerScheme;
  readonly state: TriggerState;
  readonly secretFingerprint?: string;
  readonly secretId?: string;
  readonly inputMapping?: Readonly<Record<string, string>>;
  readonly dedupEnabled: boolean;
  readonly retryPolicy: RetryPolicy;
  readonly createdAt: number;
  readonly createdBy: string;
  /** The workflow that declares it; absent when a client made it. */
  readonly ownedBy?: { readonly workflowId: string; readonly triggerId: string };
  /** Newest first. */
  readonly changes: readonly StateChange[];
}

/** `dead-lettered`: it has as many dead letters as are kept, so nothing more is taken. */
export type TriggerState = 'active' | 'paused' | 'dead-lettered';

export interface StateChange {
  readonly at: number;
  readonly from: TriggerState;
  readonly to: TriggerState;
  readonly reason: 'operator-paused' | 'operator-resumed';
  readonly by: string;
}

export interface SampleDelivery {
  readonly body: Json;
  readonly headers: JsonObject;
}

export interface Delivery {
  readonly triggerId: string;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

export type IngestAnswer =
  | { readonly outcome: 'started'; readonly runId: string }
  /** This delivery came before; what it started then, if it did. */
  | { readonly outcome: 'duplicate'; readonly runId?: string }
  /** It was kept, and will be tried again. */
  | { readonly outcome: 'retrying' }
  /** It was kept for a person to look at. */
  | { readonly outcome: 'dead-lettered'; readonly deadLetterId: string; readonly reason: string }
  /** The sender asked whether there is someone; nothing is started. */
  | { readonly outcome: 'answered'; readonly answer: Json };
