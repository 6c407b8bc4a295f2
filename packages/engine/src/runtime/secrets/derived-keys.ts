import { hkdfSync } from 'node:crypto';

const KEY_BYTES = 32;

/** A key for one purpose, derived from the host's secrets key: knowing it reveals neither that one nor another purpose's. */
export function deriveKey(secretsKey: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secretsKey, 'weft', purpose, KEY_BYTES));
}
