import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/** Signatures, for the pure core as hashes are: the same key and bytes always give the same signature. */
export type Ed25519Key = KeyObject;

export function signBytes(bytes: Uint8Array, privateKey: Ed25519Key): string {
  return sign(null, bytes, privateKey).toString('base64');
}

export function isSignatureOf(bytes: Uint8Array, signature: string, publicKey: Ed25519Key): boolean {
  return verify(null, bytes, publicKey, Buffer.from(signature, 'base64'));
}

/** The public half as it stands in discovery: SPKI, DER, base64. */
export function publicKeyText(key: Ed25519Key): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
}

/** Undefined when the text is no Ed25519 public key. */
export function readPublicKey(text: string): Ed25519Key | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(text, 'base64'), type: 'spki', format: 'der' });
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined; // whatever OpenSSL dislikes about it, it is not a key
  }
}
