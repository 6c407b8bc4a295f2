import { describe, expect, it } from 'vitest';
import { createTurns } from './turns.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('turns', () => {
  it('let a few pass at once and a few in each later turn, in the order they came', async () => {
    const turns = createTurns(2);
    const passed: number[] = [];
    const come = async (name: number): Promise<void> => {
      await turns.take();
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

  it('have room again in the next turn', async () => {
    const turns = createTurns(1);

    expect(turns.take()).toBeUndefined();
    const second = turns.take();
    expect(second).toBeDefined();
    await second;
    await turn();
    await turn();

    expect(turns.take()).toBeUndefined();
  });
});
