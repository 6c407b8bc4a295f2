import type { ApiKeyRow } from '../../ports/store.ts';
import type { Caller, IdempotencyClaim, ReplayedAnswer } from './caller.ts';

export interface Keys {
  create(
    caller: Caller,
    request: NewKey,
    idempotency?: IdempotencyClaim<PublicKey>,
  ): Promise<CreatedKey | ReplayedAnswer>;
  /** Of the caller's tenant; of another with `host:admin`. */
  list(caller: Caller, tenant?: string): Promise<readonly ApiKeyRow[]>;
  revoke(caller: Caller, keyId: string, tenant?: string): Promise<boolean>;
  /** From now on interrupt links are signed with a new key. Those of the key before stay valid until the next rotation. */
  rotateLinks(caller: Caller): Promise<RotatedLinkKey>;
}

export interface NewKey {
  readonly tenant?: string;
  readonly principal: string;
  /** Default: the caller's own. */
  readonly workspace?: string;
  readonly kind: 'service' | 'user';
  readonly scopes: readonly string[];
  readonly expiresAt?: number;
  readonly label?: string;
}

/** What may be shown of a key again and again. */
export type PublicKey = Omit<ApiKeyRow, 'hash'>;

export interface CreatedKey {
  readonly replayed: false;
  /** Shown once. */
  readonly key: string;
  readonly row: ApiKeyRow;
}

/** Names a key that signs interrupt links; the key itself is derived from the secrets key. */
export interface LinkKey {
  readonly keyId: string;
  /** When it became the current one. */
  readonly since: number;
}

export interface RotatedLinkKey extends LinkKey {
  /** Its links are still accepted, until the next rotation. */
  readonly previousKeyId?: string;
}
