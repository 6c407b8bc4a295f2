import type { Caller, IdempotencyClaim, ReplayedAnswer } from './caller.ts';

export interface Secrets {
  /** Keeps a secret, encrypted. From then on only effects see its value. */
  set(
    caller: Caller,
    request: NewSecret,
    idempotency?: IdempotencyClaim<SecretSummary>,
  ): Promise<{ readonly replayed: false; readonly secret: SecretSummary } | ReplayedAnswer>;
  /** The tenant's secrets and the caller's own, by id; never their values. */
  list(caller: Caller): Promise<readonly SecretSummary[]>;
  /** False when it does not exist. */
  remove(caller: Caller, secretId: string, scope: SecretScope): Promise<boolean>;
}

export type SecretScope = 'tenant' | 'user';

export interface NewSecret {
  readonly id: string;
  readonly value: string;
  /** A user's secret is the caller's own, and goes before the tenant's of the same id. */
  readonly scope: SecretScope;
}

export interface SecretSummary {
  readonly id: string;
  readonly scope: SecretScope;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** False when it was stored with another key than the host has now. */
  readonly usable: boolean;
}
