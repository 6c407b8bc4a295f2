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

/** Sign-in of people by a link: a code that is valid once and for a minute, exchanged for a key that lasts for a working day. */
export interface Sessions {
  /** A code for a session with what the caller may do, and no more. Throws `forbidden` for a caller that is in a session itself. */
  createCode(caller: Caller): Promise<SignInCode>;
  /** Throws `sign_in_code_invalid` when there is no such code, or it was used, or its time is over. */
  open(code: string, address?: string): Promise<OpenedSession>;
  /** Ends the caller's own session. False when it is in none. */
  end(caller: Caller): Promise<boolean>;
}

export interface SignInCode {
  readonly code: string;
  readonly expiresAt: number;
}

export interface OpenedSession {
  /** Shown once; the store holds its hash. */
  readonly key: string;
  readonly caller: Caller;
  readonly expiresAt: number;
}
