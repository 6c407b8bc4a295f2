import { describe, expect, it } from 'vitest';
import type { Connection } from './connection.ts';
import { createFreshPlans } from './fresh-plans.ts';

/** A connection that records in which of its uses its plans were discarded. */
function countingConnection() {
  const forgotten: number[] = [];
  let uses = 0;
  const connection: Pick<Connection, 'query'> = {
    query: async (text) => {
      expect(text).toBe('DISCARD PLANS');
      forgotten.push(uses);
      return [];
    },
  };
  return {
    forgotten,
    async use(freshen: ReturnType<typeof createFreshPlans>) {
      uses += 1;
      await freshen(connection);
    },
  };
}

describe('plans of a connection', () => {
  it('are forgotten after twice as many uses each time', async () => {
    const freshen = createFreshPlans();
    const busy = countingConnection();

    for (let use = 0; use < 1_000; use += 1) await busy.use(freshen);

    expect(busy.forgotten).toEqual([64, 128, 256, 512]);
  });

  it('are counted for each connection by itself', async () => {
    const freshen = createFreshPlans();
    const [busy, idle] = [countingConnection(), countingConnection()];

    for (let use = 0; use < 100; use += 1) await busy.use(freshen);
    for (let use = 0; use < 63; use += 1) await idle.use(freshen);

    expect(busy.forgotten).toEqual([64]);
    expect(idle.forgotten).toEqual([]);
  });
});
