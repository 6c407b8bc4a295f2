import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { isJsonObject, type Json } from '@weft/protocol';
import { isCount, isHash } from './link-batch.ts';
import { type Frontier, rootOf } from './merkle.ts';

/**
 * A signed statement of what the log was: the Merkle root over the entries 0…atSequence. What is signed are the 32 raw bytes
 * of the root. Whoever rewrites the entries and all their hashes cannot sign the root that follows from them.
 */
export interface AuditCheckpoint {
  readonly checkpoint: string;
  readonly number: number;
  readonly atSequence: number;
  readonly merkleRoot: string;
  /** Base64. */
  readonly signature: string;
  /** When it was made, in milliseconds. Not signed. */
  readonly ts: number;
}

export function makeCheckpoint(
  number: number,
  frontier: Frontier,
  ts: number,
  privateKey: KeyObject,
): AuditCheckpoint {
  const root = rootOf(frontier);
  return {
    checkpoint: checkpointId(number),
    number,
    atSequence: frontier.size - 1,
    merkleRoot: Buffer.from(root).toString('hex'),
    signature: sign(null, root, privateKey).toString('base64'),
    ts,
  };
}

export function isSigned({ merkleRoot, signature }: AuditCheckpoint, publicKey: KeyObject): boolean {
  return verify(null, Buffer.from(merkleRoot, 'hex'), publicKey, Buffer.from(signature, 'base64'));
}

/** Undefined when it is no checkpoint, or not the one of this number. */
export function readCheckpoint(value: Json | undefined, number: number): AuditCheckpoint | undefined {
  if (!isJsonObject(value) || value['number'] !== number) return undefined;
  const { checkpoint, atSequence, merkleRoot, signature, ts } = value;
  if (checkpoint !== checkpointId(number) || !isCount(atSequence) || !isHash(merkleRoot)) return undefined;
  if (typeof signature !== 'string' || signature === '' || !isCount(ts)) return undefined;
  return { checkpoint, number, atSequence, merkleRoot, signature, ts };
}

/** The public half as it stands in discovery: SPKI, DER, base64. */
export function publicKeyText(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
}

/** Undefined when the text is no Ed25519 public key. */
export function readPublicKey(text: string): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(text, 'base64'), type: 'spki', format: 'der' });
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined; // whatever OpenSSL dislikes about it, it is not a key
  }
}

function checkpointId(number: number): string {
  return `checkpoint-${number}`;
}
