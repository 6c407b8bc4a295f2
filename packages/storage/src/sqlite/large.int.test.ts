import {
  createUnit,
  documentUnit,
  event,
  given,
  idempotencyRecord,
  newRunId,
  readAll,
  START,
} from '@weft/engine/store-contract';
import { describe, expect, it } from 'vitest';
import { openSqliteStore } from './index.ts';
import { testFolder } from './testing/sqlite-test-folder.ts';

const { newPath } = testFolder();

describe('an SQLite store with more than fits one step', () => {
  it('keeps more node ids than its dictionary has room for, and ids too long for it', async () => {
    const path = newPath();
    const runId = newRunId();
    const log = Array.from({ length: 66_000 }, (_, seq) =>
      event(seq, 'log', { nodeId: `node-${seq}`, payload: '{}' }),
    );
    const long = event(log.length, 'log', { nodeId: 'x'.repeat(5_000) });
    const store = openSqliteStore({ path });
    await given(store, createUnit(runId, { events: [...log, long] }));
    await store.close();

    const reopened = openSqliteStore({ path });

    expect(await readAll(reopened, runId)).toEqual([...log, long]);
    await reopened.close();
  });

  it('lists the few runs that match among many, over several steps and pages', async () => {
    const store = openSqliteStore({ path: newPath() });
    const rare: string[] = [];
    const units = Array.from({ length: 3_500 }, (_, index) => {
      const isRare = index % 700 === 13;
      const runId = newRunId(START + index);
      if (isRare) rare.unshift(runId);
      const head = isRare
        ? ({ status: 'failed', wakeAt: null } as const)
        : ({ status: 'running', wakeAt: 0 } as const);
      return createUnit(runId, { head, record: { createdAt: START + index, tags: ['all'] } });
    });
    await given(store, ...units);

    for (const filter of [{ status: ['failed'] as const }, { status: ['failed'] as const, tag: 'all' }]) {
      const first = await store.listRuns('acme', filter, { limit: 2 });
      const second = await store.listRuns('acme', filter, { limit: 10, cursor: first.nextCursor ?? '' });

      expect([...first.rows, ...second.rows].map(({ record }) => record.runId)).toEqual(rare);
      expect(second.nextCursor).toBeUndefined();
    }
    await store.close();
  });

  it('prunes more records than it removes at once', async () => {
    let now = START;
    const store = openSqliteStore({ path: newPath(), clock: () => now });
    const units = Array.from({ length: 1_200 }, (_, index) =>
      createUnit(newRunId(), {
        idempotency: idempotencyRecord({ keyHash: index.toString(16).padStart(64, '0') }),
      }),
    );
    await given(store, ...units);
    now += 5_000;

    expect(await store.prune()).toBe(1_200);
    await store.close();
  });

  it('prunes more documents than it removes at once', async () => {
    let now = START;
    const store = openSqliteStore({ path: newPath(), clock: () => now });
    const units = Array.from({ length: 1_200 }, (_, index) =>
      documentUnit(`${index}`, index % 6 === 0 ? {} : { expiresAt: START + 1 }),
    );
    await given(store, ...units);
    now += 5_000;

    expect(await store.prune()).toBe(1_000);
    expect((await store.listDocuments('acme', 'notes', '', { limit: 1_000 })).rows).toHaveLength(200);
    await store.close();
  });
});
