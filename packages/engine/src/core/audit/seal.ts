import { canonicalJson, isJsonObject, type Json, toIso } from '@weft/protocol';
import { type Ed25519Key, isSignatureOf, signBytes } from '../../crypto/ed25519.ts';
import { isCount, isHash } from './link-batch.ts';

/**
 * What a checkpoint's signature over the bare root leaves open: which checkpoint it was, when, up to where, and after which
 * other. The seal is a second signature, over all of that. Seals hang together by their roots, so none can be moved, left out
 * or given another time; and the last one, kept outside the database, tells whether the log still holds what it held then.
 */
export interface Seal {
  /** The number of its checkpoint. */
  readonly number: number;
  /** The newest entry that it covers. */
  readonly sequence: number;
  /** Milliseconds. */
  readonly time: number;
  /** Of the checkpoint before it; null for the first. */
  readonly previousRoot: string | null;
  readonly root: string;
  /** Ed25519 over RFC 8785 JSON of everything above, base64. */
  readonly seal: string;
}

export function makeSeal(stated: Omit<Seal, 'seal'>, privateKey: Ed25519Key): Seal {
  return { ...stated, seal: signBytes(sealedBytes(stated), privateKey) };
}

export function isSealed(seal: Seal, publicKey: Ed25519Key): boolean {
  return isSignatureOf(sealedBytes(seal), seal.seal, publicKey);
}

/** The last that can be written as a date. */
const LAST_TIME = 8.64e15;

/** Undefined when it is none. */
export function readSeal(value: Json | undefined): Seal | undefined {
  if (!isJsonObject(value)) return undefined;
  const { number, sequence, time, previousRoot, root, seal } = value;
  if (!isCount(number) || !isCount(sequence) || !isCount(time) || time > LAST_TIME || !isHash(root))
    return undefined;
  if (previousRoot !== null && !isHash(previousRoot)) return undefined;
  if (typeof seal !== 'string' || seal === '') return undefined;
  return { number, sequence, time, previousRoot, root, seal };
}

/** The same root up to the same entry is the same log; a checkpoint that had to be made again has another time. */
export function sealsSameLog(one: Seal, other: Seal): boolean {
  return one.number === other.number && one.sequence === other.sequence && one.root === other.root;
}

/** The key signs roots and bundles as well; what it signs here can be taken for neither. */
function sealedBytes({ number, sequence, time, previousRoot, root }: Omit<Seal, 'seal'>): Uint8Array {
  const stated = { kind: 'weft.seal', number, previousRoot, root, sequence, time, version: 1 };
  return Buffer.from(canonicalJson(stated), 'utf8');
}

export function describeSeal({ number, sequence, time }: Pick<Seal, 'number' | 'sequence' | 'time'>): string {
  return `checkpoint ${number} up to sequence ${sequence}, of ${toIso(time)}`;
}
