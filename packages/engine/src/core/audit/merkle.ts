import { sha256Bytes } from '../../crypto/hash.ts';

/**
 * The Merkle tree of RFC 6962 over the hashes of the entries 0…n−1, kept as its frontier: the roots of the full subtrees that
 * the binary digits of n stand for, largest first. One more entry costs O(log n) and needs none of the earlier ones.
 */
export interface Frontier {
  /** How many entries it covers. */
  readonly size: number;
  /** Hex, one per binary one of `size`. */
  readonly peaks: readonly string[];
}

export const EMPTY_FRONTIER: Frontier = { size: 0, peaks: [] };

export function extendFrontier(frontier: Frontier, entryHashes: readonly string[]): Frontier {
  const peaks: Buffer[] = frontier.peaks.map((peak) => Buffer.from(peak, 'hex'));
  let { size } = frontier;
  for (const hash of entryHashes) {
    let node = sha256Bytes(LEAF, Buffer.from(hash, 'hex'));
    for (let left = size; left % 2 === 1; left = (left - 1) / 2) {
      node = sha256Bytes(NODE, peaks.pop() ?? NONE, node);
    }
    peaks.push(node);
    size += 1;
  }
  return { size, peaks: peaks.map((peak) => peak.toString('hex')) };
}

/** The root over everything the frontier covers, as the raw 32 bytes that are signed. */
export function rootOf({ peaks }: Frontier): Uint8Array {
  const smallestFirst = [...peaks].reverse().map((peak) => Buffer.from(peak, 'hex'));
  const [last, ...larger] = smallestFirst;
  if (last === undefined) return sha256Bytes();
  return larger.reduce<Uint8Array>((root, peak) => sha256Bytes(NODE, peak, root), last);
}

/** Leaves and inner nodes never hash the same bytes, so one cannot be passed off as the other. */
const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);
const NONE = Buffer.alloc(0);
