import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EMPTY_FRONTIER, extendFrontier, rootOf } from './merkle.ts';

const hash = (...parts: readonly Uint8Array[]): Buffer =>
  createHash('sha256').update(Buffer.concat(parts)).digest();

/** RFC 6962, section 2.1, written down as it stands there. */
function treeHash(leaves: readonly Buffer[]): Buffer {
  const [only] = leaves;
  if (only === undefined) return hash();
  if (leaves.length === 1) return hash(Buffer.from([0]), only);
  let half = 1;
  while (half * 2 < leaves.length) half *= 2;
  return hash(Buffer.from([1]), treeHash(leaves.slice(0, half)), treeHash(leaves.slice(half)));
}

describe('the frontier of the tree', () => {
  it('gives the root of RFC 6962 at every size', () => {
    const leaves = Array.from({ length: 70 }, (_, index) => hash(Buffer.from(String(index))));

    for (let size = 0; size <= leaves.length; size += 1) {
      const covered = leaves.slice(0, size);
      const frontier = extendFrontier(
        EMPTY_FRONTIER,
        covered.map((leaf) => leaf.toString('hex')),
      );

      expect(Buffer.from(rootOf(frontier)).equals(treeHash(covered))).toBe(true);
    }
  });

  it('is the same however its entries are cut into batches (U-3)', () => {
    const entryHash = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((bytes) => Buffer.from(bytes).toString('hex'));

    fc.assert(
      fc.property(fc.array(fc.array(entryHash, { maxLength: 5 }), { maxLength: 20 }), (batches) => {
        const inBatches = batches.reduce(extendFrontier, EMPTY_FRONTIER);

        expect(inBatches).toEqual(extendFrontier(EMPTY_FRONTIER, batches.flat()));
      }),
    );
  });
});
