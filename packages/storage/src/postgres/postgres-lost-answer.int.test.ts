import {
  appendUnit,
  createUnit,
  events,
  given,
  givenHeldRun,
  newRunId,
  readAll,
} from '@weft/engine/store-contract';
import { describe, expect, it } from 'vitest';
import { createPool } from './connections/pool.ts';
import { testServer } from './testing/postgres-test-server.ts';
import { prepareRunReader } from './runs/read-run.ts';
import { openProxy } from './testing/test-proxy.ts';
import { prepareInDoubtUnits } from './commits/was-committed.ts';

const { newSchema, openStore, server } = testServer();

/** A way to the server that can be cut between what it has done and what it says about it. */
async function cuttable(): Promise<{
  readonly url: string;
  cutAnswerTo(text: string): void;
  cuts(): number;
}> {
  let fatal: string | undefined;
  let cuts = 0;
  const url = await openProxy(server, ({ client, upstream }) => {
    let isCutting = false;
    client.on('data', (data) => {
      isCutting ||= fatal !== undefined && data.includes(fatal);
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (!isCutting) return void client.write(data);
      fatal = undefined;
      cuts += 1;
      client.destroy();
    });
  });
  return {
    url,
    cutAnswerTo(text) {
      fatal = text;
    },
    cuts: () => cuts,
  };
}

describe('a plain group whose answer is lost', () => {
  it('is found to be durable, and is not written again', async () => {
    const { url, cutAnswerTo, cuts } = await cuttable();
    const store = await openStore(newSchema(), { url, maxConnections: 2 });
    // The statement is known to the connection, so that it is answered once: when it is durable.
    const held = await givenHeldRun(store);
    await given(store, appendUnit(held, 0), createUnit(newRunId(), { holder: 'h1' }));
    const born = newRunId();

    cutAnswerTo(born);
    const results = await store.commit([
      appendUnit(held, 1, { events: events(1, 2) }),
      createUnit(born, { holder: 'h1', events: events(0, 2) }),
      appendUnit(newRunId(), 0),
    ]);

    expect(results).toEqual([
      { state: 'committed' },
      { state: 'committed' },
      { state: 'refused', reason: 'run_missing' },
    ]);
    expect(cuts()).toBe(1);
    expect(await readAll(store, held)).toHaveLength(3);
    expect(await readAll(store, born)).toHaveLength(2);
  });
});

describe('a transaction that the server does not know', () => {
  it('has left nothing: the server crashed, or another took its place', async () => {
    const pool = createPool({
      url: server().url,
      schema: newSchema(),
      maxConnections: 1,
      statementTimeoutMs: 2_000,
      connectTimeoutMs: 2_000,
    });
    const inDoubt = prepareInDoubtUnits(pool, prepareRunReader(pool, undefined), 2_000);
    const unit = createUnit(newRunId());
    inDoubt.add(new Map([[unit.batchId, { transaction: '4000000000' }]]));

    expect(await inDoubt.wasCommitted(unit)).toBe(false);
    await pool.close();
  });
});
