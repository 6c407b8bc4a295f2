import { createHmac } from 'node:crypto';
import type { KeyedHash } from '../../core/compile/plan.ts';
import { createBoundedCache } from '../collections/bounded-cache.ts';
import { deriveKey } from './derived-keys.ts';

const KEPT_KEYS = 1_000;

/**
 * What the masking mode `hash` writes in place of a value: the same for the same value of one tenant, so that runs can be
 * compared, and useless without the key: a PIN cannot be found by trying all of them.
 */
export function createRedactionHash(secretsKey: Uint8Array): KeyedHash {
  const keys = createBoundedCache<string, Uint8Array>(KEPT_KEYS);
  return (tenant, text) => {
    let key = keys.get(tenant);
    if (key === undefined) {
      key = deriveKey(secretsKey, `weft/redaction-hash/${tenant}`);
      keys.set(tenant, key);
    }
    return createHmac('sha256', key).update(text, 'utf8').digest('hex');
  };
}
