import { endpointOf } from '@weft/protocol/plain';
import type { CreatedKey, KeySummary, NewKey, RotatedLinkKey } from './documents.ts';
import type { Idempotent } from './runs.ts';
import type { Transport } from './transport.ts';

export interface Keys {
  create(key: NewKey): Promise<CreatedKey>;
  /** Of one's own tenant; of another with host:admin. */
  list(tenant?: string): Promise<readonly KeySummary[]>;
  revoke(keyId: string, tenant?: string): Promise<void>;
  /** Signs interrupt links with a new key; those of the key before stay valid until the next rotation. Needs host:admin. */
  rotateLinks(options?: Idempotent): Promise<RotatedLinkKey>;
}

export function createKeys(transport: Transport): Keys {
  return {
    create: (key) => transport.json(endpointOf('createKey'), { body: key }),
    list: async (tenant) =>
      (await transport.json<{ keys: KeySummary[] }>(endpointOf('listKeys'), { query: { tenant } })).keys,
    revoke: async (keyId, tenant) => {
      await transport.json(endpointOf('revokeKey', { keyId }), { query: { tenant } });
    },
    rotateLinks: (options = {}) =>
      transport.json(endpointOf('rotateLinkKey'), {
        headers: { 'idempotency-key': options.idempotencyKey },
      }),
  };
}
