import { describe, expect, it } from 'vitest';
import { createTurns } from './turns.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('turns', () => {
  it('let a few pass at once and a few in each later turn, in the order they came', async () => {
    const turns = createTurns(2);
    const passed: number[] = [];
    const come = async (name: number): Promise<void> => {
      await turns.take('t');
      passed.push(name);
    };

    const all = Promise.all([0, 1, 2, 3, 4].map(come));

    const seen: number[][] = [];
    for (let i = 0; i < 3; i += 1) {
      await turn();
      seen.push([...passed]);
    }
    await all;
    expect(seen).toEqual([
      [0, 1, 2, 3],
      [0, 1, 2, 3, 4],
      [0, 1, 2, 3, 4],
    ]);
  });

  it('alternate between tenants, however many of one are waiting', async () => {
    const turns = createTurns(2);
    const passed: string[] = [];
    const come = async (tenant: string): Promise<void> => {
      await turns.take(tenant);
      passed.push(tenant);
    };
    const greedy = Array.from({ length: 100 }, () => come('greedy'));

    await come('modest');

    expect(passed.length).toBeLessThanOrEqual(6);
    await Promise.all(greedy);
  });

  it('have room again in the next turn', async () => {
    const turns = createTurns(1);

    expect(turns.take('t')).toBeUndefined();
    const second = turns.take('t');
    expect(second).toBeDefined();
    await second;
    await turn();
    await turn();

    expect(turns.take('t')).toBeUndefined();
  });
});
