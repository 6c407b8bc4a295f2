import { createUnit, events, newRunId } from '@weft/engine/store-contract';
import type { Store } from '@weft/engine';
import postgres from 'postgres';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { openConnection } from './connections/connection.ts';
import { ConnectionLostError } from './connections/errors.ts';
import { openPostgresStore } from './index.ts';
import { type TestServer, testServers } from './testing/postgres-test-server.ts';
import { openProxy } from './testing/test-proxy.ts';
import { isRetryable, reasonNotOpened } from './connections/connect-errors.ts';

/**
 * Two real servers, one of which repeats what the other does and waits to take its place; in front of both a name that leads to one
 * of them, as a provider has it.
 */
const start = testServers();
let primary: TestServer;
let standby: TestServer;
/** Where `leadsTo` leads. */
let address: string;
let leadsTo: TestServer;
const PATIENCE = { timeout: 20_000 };

async function ask(server: TestServer, ...statements: readonly string[]): Promise<readonly postgres.Row[]> {
  const session = postgres(server.url, { max: 1, onnotice: () => {} });
  try {
    let rows: readonly postgres.Row[] = [];
    for (const statement of statements) rows = await session.unsafe(statement);
    return rows;
  } finally {
    await session.end({ timeout: 0 });
  }
}

beforeAll(async () => {
  primary = await start();
  await primary.stop('SIGINT');
  standby = await start({ standbyOf: primary });
  await primary.start();
  await vi.waitFor(async () => {
    expect(await ask(primary, 'SELECT 1 FROM pg_stat_replication')).toHaveLength(1);
  }, PATIENCE);
  // From now on nothing is acknowledged that the standby has not written.
  await ask(primary, `ALTER SYSTEM SET synchronous_standby_names = '*'`, 'SELECT pg_reload_conf()');
  leadsTo = primary;
  address = await openProxy(
    () => leadsTo,
    ({ client, upstream }) => client.pipe(upstream).pipe(client),
  );
});

const open = (url = address): Promise<Store> =>
  openPostgresStore({ url, schema: 'weft', maxConnections: 3, statementTimeoutMs: 3_000 });

/** The replica first. */
function bothUrl(): string {
  const [one, two] = [standby, primary].map(({ url }) => new URL(url).host);
  return `postgres://weft@${one},${two}/postgres?target_session_attrs=read-write`;
}

describe('a failover', () => {
  it('is an outage, after which every acknowledged run is there', async () => {
    const [store, listing] = [await open(), await open(bothUrl())];
    const acknowledged: string[] = [];
    const commitNext = async () => {
      const runId = newRunId();
      const results = await store.commit([createUnit(runId, { events: events(0, 2) })]);
      if (results[0]?.state === 'committed') acknowledged.push(runId);
    };
    for (let count = 0; count < 20; count += 1) await commitNext();
    for (const runId of acknowledged) expect(await listing.readRun(runId, undefined)).toBeDefined();

    await primary.stop('SIGQUIT');
    leadsTo = standby;
    // What is sent before the loss is noticed has no known outcome, which is no rejection.
    await vi.waitFor(() => expect(store.ping()).rejects.toBeInstanceOf(ConnectionLostError), PATIENCE);

    // The name leads to a read-only server: no one may read there, and no connection is opened.
    await expect(commitNext()).rejects.toBeInstanceOf(ConnectionLostError);
    await expect(store.readRun(acknowledged[0] ?? '', undefined)).rejects.toBeInstanceOf(ConnectionLostError);
    const refused: unknown = await open().catch((error: unknown) => error);
    expect(isRetryable(refused)).toBe(true);
    expect(reasonNotOpened(refused)).toMatch(/is read-only: it is a replica/);

    await ask(standby, 'SELECT pg_promote()');
    await vi.waitFor(commitNext, PATIENCE);
    for (let count = 0; count < 5; count += 1) await commitNext();

    expect(acknowledged.length).toBeGreaterThan(20);
    for (const one of [store, listing]) {
      await vi.waitFor(() => one.ping(), PATIENCE);
      for (const runId of acknowledged) expect(await one.readRun(runId, undefined)).toBeDefined();
      await one.close();
    }
  });

  it('that makes a server a replica under an open connection ends its use, and its owner is notified', async () => {
    const onClose = vi.fn();
    const connection = await openConnection({
      url: address,
      schema: 'weft',
      statementTimeoutMs: 3_000,
      connectTimeoutMs: 3_000,
      onClose,
    });
    await connection.query('SET default_transaction_read_only = on');
    await connection.query('SELECT 1');

    const write = connection.query('DELETE FROM runs');

    await expect(write).rejects.toBeInstanceOf(ConnectionLostError);
    expect(connection.isOpen()).toBe(false);
    expect(onClose).toHaveBeenCalledTimes(1);
  });
});
