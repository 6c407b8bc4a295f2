import { setImmediate as turn } from 'node:timers/promises';
import type { Store } from '@weft/engine';
import { newBatchId } from './seed.ts';

const GROUP = 2_000;
const TENANTS = 100;
const DAY_MS = 24 * 60 * 60 * 1_000;
const STEP_MS = 10;

/** Where schedules stand: what is due at a time is one collection. */
export const DUE = 'due';

/** Writes schedules like the pattern that are due in days, one after the other, of many tenants. */
export async function fillSchedules(
  store: Store,
  pattern: { readonly tenant: string; readonly name: string },
  count: number,
): Promise<void> {
  const seed = await store.readDocument({
    ...{ tenant: pattern.tenant, collection: DUE, scope: '', id: pattern.name },
  });
  if (seed === undefined) throw new Error(`the host has not kept schedule ${pattern.name}`);
  const { body, at } = seed;
  for (let done = 0; done < count; done += GROUP) {
    const units = Array.from({ length: Math.min(GROUP, count - done) }, (_, index) => {
      const number = done + index;
      const name = `dormant-${number}`;
      const dueAt = at + 30 * DAY_MS + number * STEP_MS;
      const schedule = { ...(JSON.parse(body) as object), name, uid: newBatchId(), next: dueAt };
      return {
        ...{ kind: 'document' as const, batchId: newBatchId(), tenant: `tenant-${number % TENANTS}` },
        ...{ collection: DUE, scope: '', id: name, body: JSON.stringify(schedule), at, dueAt },
      };
    });
    const results = await store.commit(units);
    const bad = results.find(({ state }) => state !== 'committed');
    if (bad !== undefined) throw new Error(`filling the store: ${JSON.stringify(bad)}`);
    await turn();
  }
}
