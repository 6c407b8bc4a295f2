import { DamagedRunError, type Store } from '@weft/engine';
import {
  appendUnit,
  commandUnit,
  createUnit,
  events,
  given,
  newBatchId,
  newRunId,
  readAll,
} from '@weft/engine/store-contract';
import { describe, expect, it } from 'vitest';
import { checkPostgres } from './connections/check-database.ts';
import { testServer } from './testing/postgres-test-server.ts';

const { server, newSchema, openSession, openStore } = testServer();

interface Damaged {
  readonly store: Store;
  readonly bad: string;
  readonly good: string;
  /** What `weft doctor --deep` finds. */
  readonly problems: () => Promise<readonly string[]>;
}

/** Two runs of four events with overlays, a checkpoint and a waiting command each, quarantined; then one of them is changed. */
async function damaged(change: (schema: string, bad: string) => string): Promise<Damaged> {
  const schema = newSchema();
  const [store, session] = [await openStore(schema), openSession()];
  const [bad, good] = [newRunId(), newRunId()];
  for (const runId of [bad, good]) {
    const record = { inputs: { amount: 1 }, principal: 'ada' };
    await given(store, createUnit(runId, { holder: 'h1', events: privateEvents(0, 2), record }));
    const checkpoint = { seq: 4, foldVersion: 1, state: '{"nodes":{}}' };
    await given(store, appendUnit(runId, 2, { events: privateEvents(2, 2), checkpoint, release: true }));
    const suspicion = { reason: 'a test', since: 1, seq: 4, quarantinedAt: 2 };
    await given(store, { kind: 'suspicion', batchId: newBatchId(), runId, suspicion });
    await given(store, commandUnit(runId, `cancel-${runId}`));
  }
  await session.unsafe(change(schema, bad));
  const problems = async () => (await checkPostgres({ url: server().url, schema, deep: true })).problems;
  return { store, bad, good, problems };
}

function privateEvents(from: number, count: number) {
  return events(from, count).map((event) => ({
    ...event,
    nodeId: 'work',
    overlay: `{"secret":${event.seq}}`,
  }));
}

describe('an event in PostgreSQL that is not what was written', () => {
  it.each([
    ['payload', `payload = replace(payload, 'n', 'm')`],
    ['type', `type = 'node.failed'`],
    ['time', 'at = at + 1'],
    ['node', `node = 'walk'`],
    ['overlay', `overlay = '{"secret":9}'`],
    ['missing overlay', 'overlay = NULL'],
  ])('is found by its %s, named, and other runs stay readable', async (_what, change) => {
    const { store, bad, good, problems } = await damaged(
      (schema, runId) => `UPDATE ${schema}.events SET ${change} WHERE run = '${runId}' AND seq = 1`,
    );

    const reading = readAll(store, bad);

    await expect(reading).rejects.toBeInstanceOf(DamagedRunError);
    await expect(reading).rejects.toMatchObject({ details: { runId: bad, sequence: 1 } });
    expect(await readAll(store, good)).toEqual(privateEvents(0, 4));
    expect(await problems()).toEqual([`${bad}: event 1 is not what was written`]);
  });

  it('is found where the record is missing', async () => {
    const { store, bad } = await damaged(
      (schema, runId) => `DELETE FROM ${schema}.events WHERE run = '${runId}' AND seq = 1`,
    );

    await expect(readAll(store, bad)).rejects.toMatchObject({ details: { sequence: 1 } });
  });
});

describe('the rest of a run in PostgreSQL that is not what was written', () => {
  it.each([
    ['inputs', `record = replace(record, '"amount":1', '"amount":7')`],
    ['record that is no JSON any more', 'record = substr(record, 2)'],
    ['time', 'created_at = created_at + 1'],
    ['quarantine', 'suspicion = substr(suspicion, 2)'],
  ])('is found by its %s, and others can still be listed and claimed', async (_what, change) => {
    const { store, bad, good } = await damaged(
      (schema, runId) => `UPDATE ${schema}.runs SET ${change} WHERE id = '${runId}'`,
    );

    const { rows } = await store.listRuns('acme', {}, { limit: 10 });
    await store.heartbeat('h2', 60_000);
    const claimed = await store.claimDue('h2', 10);

    expect(await store.readRun(bad, undefined)).toMatchObject({ isDamaged: true, record: { runId: bad } });
    expect(rows.map(({ record, isDamaged }) => [record.runId, isDamaged === true])).toEqual(
      expect.arrayContaining([
        [bad, true],
        [good, false],
      ]),
    );
    expect(claimed.map(({ runId }) => runId)).toContain(good);
  });

  it('is an error that names the run when it is a waiting command', async () => {
    const { store, bad, good } = await damaged(
      (schema, runId) => `UPDATE ${schema}.commands SET body = substr(body, 2) WHERE run = '${runId}'`,
    );

    await expect(store.readInbox(bad)).rejects.toMatchObject({
      code: 'run_damaged',
      details: { runId: bad },
    });
    expect(await store.readInbox(good)).toHaveLength(1);
  });

  it('is passed over when it is a checkpoint', async () => {
    const { store, bad, good, problems } = await damaged(
      (schema, runId) => `UPDATE ${schema}.checkpoints SET state = '{"nodes":[]}' WHERE run = '${runId}'`,
    );

    expect(await store.readCheckpoint(bad)).toBeUndefined();
    expect(await store.readCheckpoint(good)).toBeDefined();
    expect(await problems()).toEqual([`${bad}: the checkpoint is not what was written`]);
  });
});
