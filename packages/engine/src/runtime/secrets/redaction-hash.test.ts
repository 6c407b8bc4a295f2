import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { deriveKey } from './derived-keys.ts';
import { createRedactionHash } from './redaction-hash.ts';

const KEY = new Uint8Array(32).fill(7);

describe('the hash of masked values', () => {
  it('is the same for the same value of one tenant, and differs between values, tenants and keys', () => {
    const hash = createRedactionHash(KEY);

    expect(hash('acme', '1234')).toBe(createRedactionHash(KEY)('acme', '1234'));
    expect(hash('acme', '1234')).toMatch(/^[0-9a-f]{64}$/);
    const others = [
      hash('acme', '1235'),
      hash('other', '1234'),
      createRedactionHash(new Uint8Array(32).fill(8))('acme', '1234'),
      createHash('sha256').update('1234').digest('hex'),
    ];
    expect(others).not.toContain(hash('acme', '1234'));
  });

  it('takes its key from the secrets key by HKDF, one for each tenant', () => {
    expect(Buffer.from(deriveKey(KEY, 'weft/redaction-hash/acme')).toString('hex')).toBe(
      Buffer.from(deriveKey(KEY, 'weft/redaction-hash/acme')).toString('hex'),
    );
    expect(deriveKey(KEY, 'weft/redaction-hash/acme')).toHaveLength(32);
    expect(deriveKey(KEY, 'weft/redaction-hash/acme')).not.toEqual(
      deriveKey(KEY, 'weft/redaction-hash/other'),
    );
  });
});
