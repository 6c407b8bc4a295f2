import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { refusal } from '../testing/refusal.ts';
import { newKey } from '../testing/sample-packs.ts';
import { publicKeyPem, publicKeyText, signBytes } from './ed25519.ts';
import { readTrust } from './trust.ts';

const KEY = newKey();

function keyOf(change: JsonObject = {}): JsonObject {
  const publicKey = publicKeyText(KEY);
  return { kid: 'a', algorithm: 'ed25519', publicKey, validFrom: '2026-01-01T00:00:00Z', ...change };
}

function read(...keys: JsonObject[]) {
  return readTrust(JSON.stringify({ keychains: [{ namespace: 'vendor.acme', keys }] }));
}

describe('the trust file', () => {
  it('trusts signatures only, when it says nothing', () => {
    expect(readTrust('{}')).toEqual({ mode: 'verified', allow: [], keys: [] });
  });

  it('takes keys in PEM and in base64', () => {
    const { keys } = read(keyOf(), keyOf({ kid: 'b', publicKey: publicKeyPem(KEY) }));

    expect(keys.map(({ kid, key }) => [kid, publicKeyText(key)])).toEqual([
      ['a', publicKeyText(KEY)],
      ['b', publicKeyText(KEY)],
    ]);
  });

  it('takes a key that follows another one only with the proof of that one', async () => {
    const next = publicKeyText(newKey());
    const [kid, validFrom] = ['b', '2026-06-01T00:00:00Z'];
    const proof = Buffer.from(signBytes(Buffer.from(`${kid}${next}${validFrom}`), KEY)).toString('base64');
    const follower = keyOf({ kid, publicKey: next, validFrom, rotatedFrom: 'a', rotationProof: proof });

    expect(read(keyOf(), follower).keys).toHaveLength(2);
    expect(
      await refusal(() => read(keyOf(), { ...follower, validFrom: '2026-05-01T00:00:00Z' })),
    ).toMatchObject({ code: 'keychain_invalid' });
    expect(await refusal(() => read(follower))).toMatchObject({ code: 'keychain_invalid' });
  });

  it.each<[string, unknown]>([
    ['mode', { mode: 'yolo' }],
    ['keyes', { keyes: [] }],
    ['allow.0', { allow: ['*'] }],
    ['allow.0', { allow: ['core.x.y'] }],
    ['namespace', { keychains: [{ namespace: '*', keys: [] }] }],
    ['algorithm', { keychains: [{ namespace: 'vendor.a', keys: [keyOf({ algorithm: 'rsa' })] }] }],
    [
      'no public Ed25519 key',
      { keychains: [{ namespace: 'vendor.a', keys: [keyOf({ publicKey: 'AAAA' })] }] },
    ],
    ['there twice', { keychains: [{ namespace: 'vendor.a', keys: [keyOf(), keyOf()] }] }],
  ])('is refused with the place: %s', async (place, document) => {
    const refused = await refusal(() => readTrust(JSON.stringify(document)));

    expect(refused.code).toBe('keychain_invalid');
    expect(refused.message).toContain(place);
  });
});
