import { describe, expect, it } from 'vitest';
import { createAdmissionQueue } from './admission-queue.ts';

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('an admission queue', () => {
  it('admits a few at once and a few in each later tick, in order of arrival', async () => {
    const queue = createAdmissionQueue(2);
    const passed: number[] = [];
    const come = async (name: number): Promise<void> => {
      await queue.admit('t');
      passed.push(name);
    };

    const all = Promise.all([0, 1, 2, 3, 4].map(come));

    const seen: number[][] = [];
    for (let i = 0; i < 3; i += 1) {
      await tick();
      seen.push([...passed]);
    }
    await all;
    expect(seen).toEqual([
      [0, 1, 2, 3],
      [0, 1, 2, 3, 4],
      [0, 1, 2, 3, 4],
    ]);
  });

  it('alternates between tenants, however many of one are waiting', async () => {
    const queue = createAdmissionQueue(2);
    const passed: string[] = [];
    const come = async (tenant: string): Promise<void> => {
      await queue.admit(tenant);
      passed.push(tenant);
    };
    const greedy = Array.from({ length: 100 }, () => come('greedy'));

    await come('modest');

    expect(passed.length).toBeLessThanOrEqual(6);
    await Promise.all(greedy);
  });

  it('has room again in the next tick', async () => {
    const queue = createAdmissionQueue(1);

    expect(queue.admit('t')).toBeUndefined();
    const second = queue.admit('t');
    expect(second).toBeDefined();
    await second;
    await tick();
    await tick();

    expect(queue.admit('t')).toBeUndefined();
  });
});
