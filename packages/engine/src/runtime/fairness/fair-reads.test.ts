import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { RunRow, Store } from '../../ports/store.ts';
import { fairReads } from './fair-reads.ts';

/** A store in which every read of a run takes 2 ms of the event loop. */
function slowStore(read: (tenant: string) => void): Store {
  return {
    ...openMemoryStore(),
    readRun(_runId, tenant = '') {
      read(tenant);
      for (const until = performance.now() + 2; performance.now() < until; );
      return Promise.resolve({ record: { tenant } } as RunRow);
    },
  };
}

describe('reads of runs', () => {
  it('of a tenant with one come before the second turn of another with a hundred', async () => {
    const order: string[] = [];
    const store = fairReads(slowStore((tenant) => order.push(tenant)));

    const greedy = Array.from({ length: 100 }, () => store.readRun('g', 'greedy'));
    await store.readRun('m', 'modest');

    // As many of the first as fit into the turn in which all have asked, then by turns.
    expect(order.length).toBeLessThanOrEqual(8);
    await Promise.all(greedy);
    expect(order).toHaveLength(101);
  });
});

describe('lists of runs', () => {
  it('are read two at a time for a tenant, and another tenant does not wait for them', async () => {
    const begun: string[] = [];
    const answers: (() => void)[] = [];
    const store = fairReads({
      ...openMemoryStore(),
      listRuns(tenant) {
        begun.push(tenant);
        return new Promise((resolve) => answers.push(() => resolve({ rows: [] })));
      },
    });
    const list = (tenant: string): Promise<unknown> => store.listRuns(tenant, {}, { limit: 1 });

    const all = [...Array.from({ length: 20 }, () => list('greedy')), list('modest')];
    await expect.poll(() => [...begun].sort()).toEqual(['greedy', 'greedy', 'modest']);

    for (let read = 0; read < all.length; read += 1) {
      await expect.poll(() => answers.length, { interval: 1 }).toBeGreaterThan(0);
      answers.shift()?.();
    }
    await Promise.all(all);
    expect(begun).toHaveLength(21);
  });
});
