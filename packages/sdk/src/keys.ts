import type { CreatedKey, KeySummary, NewKey } from './documents.ts';
import type { Transport } from './transport.ts';

const KEYS = '/v1/host/weft/keys';

export interface Keys {
  create(key: NewKey): Promise<CreatedKey>;
  list(): Promise<readonly KeySummary[]>;
  revoke(keyId: string): Promise<void>;
}

export function createKeys(transport: Transport): Keys {
  return {
    create: (key) => transport.json('POST', KEYS, { body: key }),
    list: async () => (await transport.json<{ keys: KeySummary[] }>('GET', KEYS)).keys,
    revoke: async (keyId) => {
      await transport.json('DELETE', `${KEYS}/${encodeURIComponent(keyId)}`);
    },
  };
}
