import { isJsonObject, type Json } from '@weft/protocol';
import { type Ed25519Key, isSignatureOf, signBytes } from '../../ed25519.ts';
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
  privateKey: Ed25519Key,
): AuditCheckpoint {
  const root = rootOf(frontier);
  return {
    checkpoint: checkpointId(number),
    number,
    atSequence: frontier.size - 1,
    merkleRoot: Buffer.from(root).toString('hex'),
    signature: signBytes(root, privateKey),
    ts,
  };
}

export function isSigned({ merkleRoot, signature }: AuditCheckpoint, publicKey: Ed25519Key): boolean {
  return isSignatureOf(Buffer.from(merkleRoot, 'hex'), signature, publicKey);
}

/** Undefined when it is no checkpoint, or not the one of this number. */
export function readCheckpoint(value: Json | undefined, number: number): AuditCheckpoint | undefined {
  if (!isJsonObject(value) || value['number'] !== number) return undefined;
  const { checkpoint, atSequence, merkleRoot, signature, ts } = value;
  if (checkpoint !== checkpointId(number) || !isCount(atSequence) || !isHash(merkleRoot)) return undefined;
  if (typeof signature !== 'string' || signature === '' || !isCount(ts)) return undefined;
  return { checkpoint, number, atSequence, merkleRoot, signature, ts };
}

function checkpointId(number: number): string {
  return `checkpoint-${number}`;
}
