import { isJsonObject, type JsonObject } from '@weft/protocol';
import {
  type Ed25519Key,
  isSignatureOf,
  publicKeyText,
  readPublicKey,
  signBytes,
} from '../../crypto/ed25519.ts';
import { sha256Bytes, sha256Hex } from '../../crypto/hash.ts';
import { canonicalUtf8Text } from '../json/canonical-utf8-text.ts';

/**
 * Who wrote a bundle. With Ed25519 are signed these 79 bytes of ASCII:
 *
 *     weft-bundle-v1 LF hex(SHA-256(DIGEST LF REST))
 *
 * 1. DIGEST is `weft.digest` as it stands there. It covers everything outside of the member `weft`.
 * 2. REST is the canonical JSON (RFC 8785) of the member `weft` without `digest` and `signature`, in UTF-8. So the definition,
 *    the list of what was masked and the totals are covered as well.
 * 3. The first line keeps it apart from all else that the key signs: what is signed for the audit log has 32 bytes.
 * 4. `weft.signature` holds `algorithm` ("ed25519"), `publicKey` (SPKI, DER, base64) and `value` (the 64 bytes, base64).
 *
 * The key comes with the bundle. That the signature holds therefore says which key has signed, not whose key it is.
 */
const DOMAIN = 'weft-bundle-v1\n';
const ALGORITHM = 'ed25519';

export type SignatureCheck =
  | { readonly state: 'absent' }
  /** Made in a way that is not known here. */
  | { readonly state: 'unknown' }
  | { readonly state: 'wrong' }
  | { readonly state: 'holds'; readonly publicKey: string };

/** The member `weft` with its signature. */
export function withSignature(extras: JsonObject, key: Ed25519Key): JsonObject {
  const value = signBytes(signedBytes(extras), key);
  return { ...extras, signature: { algorithm: ALGORITHM, publicKey: publicKeyText(key), value } };
}

export function checkSignature(extras: JsonObject): SignatureCheck {
  const { signature } = extras;
  if (signature === undefined) return { state: 'absent' };
  if (!isJsonObject(signature)) return { state: 'wrong' };
  const { algorithm, publicKey, value } = signature;
  if (typeof algorithm === 'string' && algorithm !== ALGORITHM) return { state: 'unknown' };
  if (algorithm !== ALGORITHM || typeof publicKey !== 'string' || typeof value !== 'string')
    return { state: 'wrong' };
  const key = readPublicKey(publicKey);
  // One spelling only: a key is compared with others as text.
  if (key === undefined || publicKeyText(key) !== publicKey) return { state: 'wrong' };
  return isSignatureOf(signedBytes(extras), value, key) ? { state: 'holds', publicKey } : { state: 'wrong' };
}

/** Short enough to be read out. To be sure, compare the whole key. */
export function keyFingerprint(publicKey: string): string {
  return sha256Bytes(Buffer.from(publicKey, 'base64')).toString('hex').slice(0, FINGERPRINT_LENGTH);
}

const FINGERPRINT_LENGTH = 16;

function signedBytes({ digest, signature: _signature, ...rest }: JsonObject): Uint8Array {
  return Buffer.from(`${DOMAIN}${sha256Hex(`${String(digest)}\n${canonicalUtf8Text(rest)}`)}`, 'utf8');
}
