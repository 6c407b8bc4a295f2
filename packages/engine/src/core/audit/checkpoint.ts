import { isJsonObject, type Json } from '@weft/protocol';
import { type Ed25519Key, isSignatureOf, signBytes } from '../../crypto/ed25519.ts';
import { isCount, isHash } from './link-batch.ts';
import { type Frontier, rootOf } from './merkle.ts';
import { isSealed, makeSeal, type Seal } from './seal.ts';

/**
 * A signed statement of what the log was: the Merkle root over the entries 0…atSequence. What is signed are the 32 raw bytes
 * of the root. An attacker who rewrites the entries and all their hashes cannot sign the new root. Everything else
 * is under the seal.
 */
export interface AuditCheckpoint {
  readonly checkpoint: string;
  readonly number: number;
  readonly atSequence: number;
  readonly merkleRoot: string;
  /** Base64. */
  readonly signature: string;
  /** When it was made, in milliseconds. */
  readonly ts: number;
  readonly weft: {
    readonly previousRoot: string | null;
    /** Base64; see `seal.ts`. */
    readonly seal: string;
  };
}

export function makeCheckpoint(
  before: AuditCheckpoint | undefined,
  frontier: Frontier,
  ts: number,
  privateKey: Ed25519Key,
): AuditCheckpoint {
  const root = rootOf(frontier);
  const [number, atSequence] = [before === undefined ? 0 : before.number + 1, frontier.size - 1];
  const merkleRoot = Buffer.from(root).toString('hex');
  const previousRoot = before?.merkleRoot ?? null;
  const stated = { number, sequence: atSequence, time: ts, previousRoot, root: merkleRoot };
  return {
    checkpoint: checkpointId(number),
    number,
    atSequence,
    merkleRoot,
    signature: signBytes(root, privateKey),
    ts,
    weft: { previousRoot, seal: makeSeal(stated, privateKey).seal },
  };
}

export function isSigned(checkpoint: AuditCheckpoint, publicKey: Ed25519Key): boolean {
  const { merkleRoot, signature } = checkpoint;
  return (
    isSignatureOf(Buffer.from(merkleRoot, 'hex'), signature, publicKey) &&
    isSealed(sealOf(checkpoint), publicKey)
  );
}

export function sealOf({ number, atSequence, ts, merkleRoot, weft }: AuditCheckpoint): Seal {
  return { number, sequence: atSequence, time: ts, root: merkleRoot, ...weft };
}

/** Whether the one can stand directly behind the other. */
export function follows(checkpoint: AuditCheckpoint, before: AuditCheckpoint): boolean {
  return (
    checkpoint.number === before.number + 1 &&
    checkpoint.atSequence > before.atSequence &&
    checkpoint.weft.previousRoot === before.merkleRoot
  );
}

/** Undefined when it is no checkpoint, or not the one of this number. */
export function readCheckpoint(value: Json | undefined, number: number): AuditCheckpoint | undefined {
  if (!isJsonObject(value) || value['number'] !== number || !isJsonObject(value['weft'])) return undefined;
  const { checkpoint, atSequence, merkleRoot, signature, ts } = value;
  const { previousRoot, seal } = value['weft'];
  if (checkpoint !== checkpointId(number) || !isCount(atSequence) || !isHash(merkleRoot)) return undefined;
  if (typeof signature !== 'string' || signature === '' || !isCount(ts)) return undefined;
  const isFirst = previousRoot === null;
  if (typeof seal !== 'string' || isFirst !== (number === 0) || !(isFirst || isHash(previousRoot)))
    return undefined;
  return { checkpoint, number, atSequence, merkleRoot, signature, ts, weft: { previousRoot, seal } };
}

export function checkpointId(number: number): string {
  return `checkpoint-${number}`;
}
