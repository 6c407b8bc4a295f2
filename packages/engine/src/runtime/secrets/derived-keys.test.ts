import { describe, expect, it } from 'vitest';
import { deriveKey } from './derived-keys.ts';

const secretsKey = new Uint8Array(32).fill(7);

describe('a derived key', () => {
  it('is HKDF-SHA-256 (RFC 5869) over the secrets key with the salt "weft" and the purpose', () => {
    const key = deriveKey(secretsKey, 'weft/links/1');

    expect(Buffer.from(key).toString('hex')).toBe(
      '7d5c0f57a725c9f138bacb581ce80f002a1013a7c6a685c0820436ba7ee7ee81',
    );
  });

  it('is another one for every purpose and every secrets key', () => {
    const keys = [
      deriveKey(secretsKey, 'weft/links/1'),
      deriveKey(secretsKey, 'weft/links/2'),
      deriveKey(new Uint8Array(32).fill(8), 'weft/links/1'),
    ].map((key) => Buffer.from(key).toString('hex'));

    expect(new Set(keys).size).toBe(3);
  });
});
