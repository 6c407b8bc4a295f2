import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { canonicalJson, type JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { checkSignature, keyFingerprint, withSignature } from './signature.ts';

const EXTRAS: JsonObject = { digest: 'd'.repeat(64), masked: ['/run/inputs/ä'], totals: { events: 3 } };
const { privateKey, publicKey } = generateKeyPairSync('ed25519');

describe('the signature of a bundle', () => {
  it('can be checked from the documented recipe, without this program', () => {
    const { signature, digest, ...rest } = withSignature(EXTRAS, privateKey);
    const { algorithm, publicKey: key, value } = signature as Record<string, string>;

    const hash = createHash('sha256')
      .update(`${String(digest)}\n${canonicalJson(rest)}`)
      .digest('hex');
    const isRight = verify(
      null,
      Buffer.from(`weft-bundle-v1\n${hash}`),
      createPublicKey({ key: Buffer.from(key ?? '', 'base64'), type: 'spki', format: 'der' }),
      Buffer.from(value ?? '', 'base64'),
    );

    expect(algorithm).toBe('ed25519');
    expect(isRight).toBe(true);
  });

  it('holds for what was signed, in whatever order its members stand', () => {
    const { signature, ...rest } = withSignature(EXTRAS, privateKey);
    const turned = Object.fromEntries(Object.entries({ signature, ...rest }).reverse()) as JsonObject;

    expect(checkSignature(turned)).toMatchObject({ state: 'holds' });
  });

  it('does not hold for another digest', () => {
    const changed = { ...withSignature(EXTRAS, privateKey), digest: 'e'.repeat(64) };

    expect(checkSignature(changed)).toEqual({ state: 'wrong' });
  });

  it('is absent from a bundle without a signature', () => {
    expect(checkSignature(EXTRAS)).toEqual({ state: 'absent' });
  });

  it('holds with the key in one spelling only, so that keys can be compared', () => {
    const { signature, ...rest } = withSignature(EXTRAS, privateKey);
    const spelled = { ...(signature as JsonObject) };
    spelled['publicKey'] = `${String(spelled['publicKey'])}\n`;

    expect(checkSignature({ ...rest, signature: spelled })).toEqual({ state: 'wrong' });
  });
});

describe('the fingerprint of a key', () => {
  it('is the beginning of the digest of its DER form', () => {
    const der = publicKey.export({ type: 'spki', format: 'der' });

    expect(keyFingerprint(der.toString('base64'))).toBe(
      createHash('sha256').update(der).digest('hex').slice(0, 16),
    );
  });
});
