import { describe, expect, it } from 'vitest';
import { openMemoryStore } from '../memory-store/memory-store.ts';
import type { Store, WriteResult } from '../ports/store.ts';
import { createCommitter } from '../runtime/commits/committer.ts';
import { SYSTEM_CLOCK } from '../ports/clock.ts';
import { createReadiness } from './readiness.ts';

function readinessOf(store: Store, answer: () => WriteResult) {
  const logged: string[] = [];
  const committer = createCommitter({
    store: {
      ...store,
      commit: async (units) => units.map(answer),
      committed: async () => false,
    },
    log: (_level, _fields, message) => logged.push(message),
    maxUnits: 10,
    maxBytes: 1_000,
    askDelaysMs: [0],
  });
  const random = (size: number) => Buffer.alloc(size);
  return { committer, logged, readiness: createReadiness({ store, committer, clock: SYSTEM_CLOCK, random }) };
}

const UNIT = { kind: 'audit', batchId: 'b' } as const;

describe('readiness', () => {
  it.each<[string, WriteResult, string[]]>([
    ['has no room', { state: 'refused', reason: 'store_full' }, []],
    ['fails', { state: 'unknown', cause: new Error('I/O') }, ['a write was lost', 'a write was lost']],
  ])(
    'ends when the store %s, and comes back with the first write that it takes',
    async (_what, result, expected) => {
      let isRefusing = true;
      const { committer, readiness, logged } = readinessOf(openMemoryStore(), () =>
        isRefusing ? result : { state: 'committed' },
      );
      expect(await readiness()).toBeUndefined();

      await committer.submit(UNIT);
      expect(await readiness()).toBe('the store does not take writes');

      isRefusing = false;
      expect(await readiness()).toBeUndefined();
      expect(logged).toEqual(expected);
    },
  );

  it('does not depend on what the rules of the store refuse', async () => {
    const { committer, readiness } = readinessOf(openMemoryStore(), () => ({
      state: 'refused',
      reason: 'run_exists',
    }));

    await committer.submit(UNIT);

    expect(await readiness()).toBeUndefined();
  });

  it('ends when the store does not answer', async () => {
    const store = { ...openMemoryStore(), ping: () => Promise.reject(new Error('gone')) };

    expect(await readinessOf(store, () => ({ state: 'committed' })).readiness()).toBe(
      'the store does not answer',
    );
  });
});
