import type { Store } from '@weft/engine';
import { createUnit, given, newRunId } from '@weft/engine/store-contract';
import { describe, expect, it, vi } from 'vitest';
import { testServer } from './testing/postgres-test-server.ts';

const { newSchema, openSession, openStore } = testServer();
/** Room for slow machines. */
const PATIENCE = { timeout: 15_000 };

/** Full of what a record may have. */
const FULL = { inputs: { a: 1 }, metadata: { note: 'x' }, configurable: { b: [true] }, principal: 'p' };

describe('what creation records have in common', () => {
  async function givenRun(store: Store, record = {}): Promise<string> {
    const runId = newRunId();
    await given(store, createUnit(runId, { record }));
    return runId;
  }

  it('is stored once as soon as its number is known, and every record reads as it was written', async () => {
    const schema = newSchema();
    const [store, session] = [await openStore(schema), openSession()];
    const whole = await givenRun(store, FULL);
    const short = await vi.waitFor(async () => {
      const runId = await givenRun(store, FULL);
      const [row] = await session.unsafe(`SELECT origin FROM ${schema}.runs WHERE id = '${runId}'`);
      expect(row?.['origin']).not.toBeNull();
      return runId;
    }, PATIENCE);

    const [first, second] = [await store.readRun(whole, undefined), await store.readRun(short, undefined)];

    expect(second?.record).toMatchObject(FULL);
    expect({ ...second?.record, runId: whole, createdAt: 0 }).toEqual({ ...first?.record, createdAt: 0 });
    expect(await session.unsafe(`SELECT 1 FROM ${schema}.origins`)).toHaveLength(1);
  });

  it('stays in every record while a process of an older program is there', async () => {
    const schema = newSchema();
    const [store, session] = [await openStore(schema), openSession()];
    await session.unsafe(
      `INSERT INTO ${schema}.holders (name, deadline) VALUES ('older', extract(epoch FROM now())::bigint * 1000 + 60000)`,
    );

    for (let count = 0; count < 20; count += 1) await givenRun(store);

    expect(await session.unsafe(`SELECT 1 FROM ${schema}.runs WHERE origin IS NOT NULL`)).toHaveLength(0);
    expect(await session.unsafe(`SELECT 1 FROM ${schema}.origins`)).toHaveLength(0);
  });
});
