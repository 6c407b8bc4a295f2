import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createRunIds, poolRandom, randomId } from './ids.ts';

describe('run ids', () => {
  it('are version 7 UUIDs that carry the time', () => {
    const next = createRunIds(() => 0x0190_1234_5678, randomBytes);

    expect(next()).toMatch(/^01901234-5678-7000-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('grow strictly, within one millisecond and when the clock steps back', () => {
    const times = [5, 5, 5, 3, 3, 9];
    const next = createRunIds(() => times.shift() ?? 2, randomBytes);

    const ids = Array.from({ length: 10_000 }, () => next());

    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('random ids', () => {
  it('are 22 characters of base64url', () => {
    expect(randomId(randomBytes)).toMatch(/^[A-Za-z0-9_-]{22}$/);
  });
});

describe('pooled random bytes', () => {
  it('are never given out twice', () => {
    let drawn = 0;
    const pooled = poolRandom((size) => Uint8Array.from({ length: size }, () => drawn++ % 256), 16);

    const given = [6, 6, 6, 20, 6].map((size) => [...pooled(size)]);

    const flat = given.flat();
    expect(given.map((bytes) => bytes.length)).toEqual([6, 6, 6, 20, 6]);
    expect(new Set(flat).size).toBe(flat.length);
  });
});
