import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeCheckpoint, readCheckpoint, sealOf } from './checkpoint.ts';
import { EMPTY_FRONTIER, extendFrontier } from './merkle.ts';
import { isSealed, makeSeal, readSeal, type Seal } from './seal.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const publicKey = createPublicKey(privateKey);
const hash = (digit: string): string => digit.repeat(64);

const stated = { number: 3, sequence: 41, time: 1_900_000_000_000, previousRoot: hash('a'), root: hash('b') };

describe('a seal', () => {
  it('is right for what was sealed, and for nothing else', () => {
    const seal = makeSeal(stated, privateKey);
    const changes: Partial<Seal>[] = [
      { number: 4 },
      { sequence: 40 },
      { time: stated.time + 1 },
      { previousRoot: hash('c') },
      { previousRoot: null },
      { root: hash('c') },
      { seal: makeSeal({ ...stated, number: 4 }, privateKey).seal },
      { seal: makeSeal(stated, generateKeyPairSync('ed25519').privateKey).seal },
      { seal: 'nonsense' },
    ];

    expect(isSealed(seal, publicKey)).toBe(true);
    for (const change of changes)
      expect([change, isSealed({ ...seal, ...change }, publicKey)]).toEqual([change, false]);
  });

  it('is read back as it was written, and not when something is missing or no date', () => {
    const seal = makeSeal(stated, privateKey);

    expect(readSeal({ ...seal })).toEqual(seal);
    for (const name of Object.keys(seal)) expect(readSeal({ ...seal, [name]: false })).toBeUndefined();
    expect(readSeal({ ...seal, time: Number.MAX_SAFE_INTEGER })).toBeUndefined();
    expect(readSeal('seal')).toBeUndefined();
  });

  it('stands on every checkpoint and names the one before it', () => {
    const frontier = extendFrontier(EMPTY_FRONTIER, [hash('1')]);
    const first = makeCheckpoint(undefined, frontier, 5, privateKey);
    const second = makeCheckpoint(first, extendFrontier(frontier, [hash('2')]), 6, privateKey);

    expect(sealOf(second)).toMatchObject({ number: 1, sequence: 1, time: 6, previousRoot: first.merkleRoot });
    expect([first, second].every((each) => isSealed(sealOf(each), publicKey))).toBe(true);
    const { weft: _seal, ...bare } = JSON.parse(JSON.stringify(second)) as Record<string, never>;
    expect(readCheckpoint(bare, 1)).toBeUndefined();
  });
});
