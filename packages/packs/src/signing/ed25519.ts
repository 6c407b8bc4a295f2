import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { PackError } from '../pack-error.ts';

/** Ed25519 only: an attacker who may choose the algorithm would choose a weak one. */

export const SIGNATURE_BYTES = 64;
const RAW_KEY_BYTES = 32;

/** From PEM, or the 32 bytes in base64. Throws `keychain_invalid`. */
export function publicKeyOf(text: string, place: string): KeyObject {
  try {
    const key = text.includes('-----BEGIN')
      ? createPublicKey(text)
      : createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: rawKey(text) }, format: 'jwk' });
    if (key.asymmetricKeyType === 'ed25519' && !text.includes('PRIVATE')) return key;
  } catch (cause) {
    throw notAKey(place, cause);
  }
  throw notAKey(place);
}

function rawKey(text: string): string {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== RAW_KEY_BYTES || bytes.toString('base64') !== text) throw new Error('not 32 bytes');
  return bytes.toString('base64url');
}

function notAKey(place: string, cause?: unknown): PackError {
  return new PackError(
    'keychain_invalid',
    `${place} is no public Ed25519 key, in PEM or as 32 bytes in base64.`,
    { cause },
  );
}

/** Throws `keychain_invalid`; the message never repeats the text. */
export function privateKeyOf(pem: string, place: string): KeyObject {
  const wayOut = 'Make one with: openssl genpkey -algorithm ed25519';
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    throw new PackError('keychain_invalid', `${place} is no private key in PEM. ${wayOut}`);
  }
  throw new PackError('keychain_invalid', `${place} is no Ed25519 key. ${wayOut}`);
}

/** The public half as the 32 bytes in base64. */
export function publicKeyText(key: KeyObject): string {
  const { x = '' } = publicHalf(key).export({ format: 'jwk' });
  return Buffer.from(x, 'base64url').toString('base64');
}

export function publicKeyPem(key: KeyObject): string {
  return String(publicHalf(key).export({ type: 'spki', format: 'pem' }));
}

function publicHalf(key: KeyObject): KeyObject {
  return key.type === 'private' ? createPublicKey(key) : key;
}

export function signBytes(bytes: Uint8Array, key: KeyObject): Uint8Array {
  return sign(null, bytes, key);
}

export function isSignedBy(bytes: Uint8Array, signature: Uint8Array, key: KeyObject): boolean {
  return signature.length === SIGNATURE_BYTES && verify(null, bytes, key, signature);
}
