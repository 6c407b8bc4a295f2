import { endpointOf } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import type { CreatedKey, KeySummary, NewKey, RotatedLinkKey } from '../documents.ts';
import { type ListPromise, wholeList } from '../requests/page-promise.ts';
import type { Idempotent } from '../runs/runs.ts';
import type { Transport } from '../requests/transport.ts';

export interface Keys {
  create(key: NewKey): ApiPromise<CreatedKey>;
  /** Of one's own tenant; of another with host:admin. */
  list(tenant?: string): ListPromise<KeySummary>;
  revoke(keyId: string, tenant?: string): ApiPromise<void>;
  /** Signs interrupt links with a new key; those of the key before stay valid until the next rotation. Needs host:admin. */
  rotateLinks(options?: Idempotent): ApiPromise<RotatedLinkKey>;
}

export function createKeys(transport: Transport): Keys {
  return {
    // A repeat is answered without the key, which is shown once: that its answer was lost is the caller's to know.
    create: (key) => transport.json(endpointOf('createKey'), { body: key, maxRetries: 0 }),
    list: (tenant) => wholeList(transport, endpointOf('listKeys'), 'keys', { tenant }),
    revoke: (keyId, tenant) => transport.json(endpointOf('revokeKey', { keyId }), { query: { tenant } }),
    rotateLinks: (options = {}) =>
      transport.json(endpointOf('rotateLinkKey'), {
        headers: { 'idempotency-key': options.idempotencyKey },
      }),
  };
}
