import { describe, expect, it } from 'vitest';
import { createGate } from './gate.ts';

describe('a gate', () => {
  it('lets a few of each tenant pass at the same time, and one that comes late before the rest of another', async () => {
    const gate = createGate({ inAll: 3, perTenant: 2 });
    const order: string[] = [];
    const ends: (() => void)[] = [];
    const pass = (name: string): Promise<void> =>
      gate.pass(name.slice(0, 1), () => {
        order.push(name);
        return new Promise((resolve) => ends.push(resolve));
      });

    const all = ['a0', 'a1', 'a2', 'a3', 'a4', 'b0'].map(pass);
    await Promise.resolve();
    await Promise.resolve();
    expect(order).toEqual(['a0', 'a1', 'b0']);
    for (let ended = 0; ended < 6; ended += 1) {
      await expect.poll(() => ends.length).toBeGreaterThan(ended);
      ends[ended]?.();
    }
    await Promise.all(all);

    expect(order).toEqual(['a0', 'a1', 'b0', 'a2', 'a3', 'a4']);
  });

  it('is left by what fails, too', async () => {
    const gate = createGate({ inAll: 1, perTenant: 1 });

    await expect(gate.pass('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');

    expect(await gate.pass('a', () => Promise.resolve(1))).toBe(1);
  });
});
