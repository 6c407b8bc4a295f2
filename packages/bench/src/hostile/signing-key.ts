import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { JsonObject } from '@weft/protocol';

export interface SigningKey {
  readonly document: JsonObject;
  readonly privateKey: KeyObject;
}

/** A key of an author, as keychains have it, with what is wrong with it. */
export function newKey(change: JsonObject): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const document = {
    kid: 'hostile-1',
    algorithm: 'ed25519',
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64'),
    validFrom: '2020-01-01T00:00:00Z',
    ...change,
  };
  return { document, privateKey };
}
