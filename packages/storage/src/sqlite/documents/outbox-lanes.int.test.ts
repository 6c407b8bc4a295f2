import { appendUnit, given, givenHeldRun, newBatchId, START } from '@weft/engine/store-contract';
import { expect, it } from 'vitest';
import { openDatabase } from '../file/driver.ts';
import { openSqliteStore } from '../index.ts';
import { testFolder } from '../testing/sqlite-test-folder.ts';

const { newPath } = testFolder();

it('has only the first row of a lane due, so that a blocked lane costs nothing', async () => {
  const path = newPath();
  const store = openSqliteStore({ path, clock: () => START });
  const runId = await givenHeldRun(store);
  const outbox = ['a1', 'a2', 'a3'].map((id) => ({ id, topic: 't', lane: 'a', dueAt: 10, body: {} }));
  const due = (): unknown => {
    const db = openDatabase(path, { busyTimeoutMs: 0 });
    try {
      return db.prepare('SELECT count(*) AS rows FROM outbox WHERE next_at <= ?').get(START);
    } finally {
      db.close();
    }
  };

  await given(store, appendUnit(runId, 0, { outbox }));
  expect(due()).toEqual({ rows: 1 });
  await given(store, { kind: 'outbox', batchId: newBatchId(), settle: [{ id: 'a1', state: 'dead' }] });
  expect(due()).toEqual({ rows: 1 });
  await given(store, { kind: 'outbox', batchId: newBatchId(), settle: [{ id: 'a2', state: 'done' }] });

  expect((await store.claimOutbox(10, 1_000)).map(({ id }) => id)).toEqual(['a3']);
  await store.close();
});
