import { endpointOf } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import { type ListPromise, wholeList } from '../requests/page-promise.ts';
import type { Transport } from '../requests/transport.ts';

export type SecretScope = 'tenant' | 'user';

export interface NewSecret {
  readonly id: string;
  readonly value: string;
  /** Default: `tenant`. A user's secret is the caller's own, and goes before the tenant's. */
  readonly scope?: SecretScope;
}

export interface SecretSummary {
  readonly id: string;
  readonly scope: SecretScope;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** False when it was stored with another key than the host has now. */
  readonly usable: boolean;
}

/** Values go in and never come out again. */
export interface Secrets {
  set(secret: NewSecret): ApiPromise<SecretSummary>;
  list(): ListPromise<SecretSummary>;
  remove(secretId: string, scope?: SecretScope): ApiPromise<void>;
}

export function createSecrets(transport: Transport): Secrets {
  return {
    set: (secret) => transport.json(endpointOf('setSecret'), { body: secret }),
    list: () => wholeList(transport, endpointOf('listSecrets'), 'secrets'),
    remove: (secretId, scope) =>
      transport.json(endpointOf('removeSecret', { secretId }), { query: { scope } }),
  };
}
