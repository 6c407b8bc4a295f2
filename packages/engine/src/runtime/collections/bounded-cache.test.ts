import { describe, expect, it } from 'vitest';
import { createBoundedCache } from './bounded-cache.ts';

describe('a bounded cache', () => {
  it('keeps what is used, and forgets what was used longest ago', () => {
    const cache = createBoundedCache<number, string>(10);
    cache.set(-1, 'used again and again');

    for (let key = 0; key < 100; key += 1) {
      cache.set(key, `value ${key}`);
      expect(cache.get(-1)).toBe('used again and again');
    }

    expect(cache.get(99)).toBe('value 99');
    expect(cache.get(0)).toBeUndefined();
  });

  it('never holds more than its limit', () => {
    const cache = createBoundedCache<number, number>(10);
    for (let key = 0; key < 100; key += 1) cache.set(key, key);

    const kept = Array.from({ length: 100 }, (_, key) => key).filter((key) => cache.get(key) !== undefined);

    expect(kept.length).toBeLessThanOrEqual(10);
    expect(kept.length).toBeGreaterThanOrEqual(5);
  });

  it('counts what entries weigh, and does not keep what is too heavy', () => {
    const cache = createBoundedCache<string, number>(100);
    cache.set('light', 1, 10);
    cache.set('heavy', 2, 51);
    expect([cache.get('light'), cache.get('heavy')]).toEqual([1, undefined]);

    for (let key = 0; key < 20; key += 1) cache.set(`${key}`, key, 25);

    const kept = Array.from({ length: 20 }, (_, key) => cache.get(`${key}`)).filter((it) => it !== undefined);
    expect(kept.length).toBeLessThanOrEqual(4);
    expect(cache.get('19')).toBe(19);
    cache.set('19', 20, 60);
    expect(cache.get('19')).toBeUndefined();
  });

  it('gives the newest value of a key, whichever it was', () => {
    const cache = createBoundedCache<string, number>(4);
    cache.set('a', 1);
    cache.set('b', 1);
    cache.set('c', 1);

    cache.set('a', 2);

    expect(cache.get('a')).toBe(2);
  });

  it('does not bring back what was deleted', () => {
    const cache = createBoundedCache<string, number>(4);
    for (const key of ['a', 'b', 'c']) cache.set(key, 1);
    cache.get('a');

    cache.delete('a');

    expect(cache.get('a')).toBeUndefined();
  });
});
