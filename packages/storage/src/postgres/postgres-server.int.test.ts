import type { Store } from '@weft/engine';
import {
  appendUnit,
  commitOne,
  createUnit,
  event,
  events,
  given,
  givenHeldRun,
  newRunId,
  readAll,
} from '@weft/engine/store-contract';
import { describe, expect, it, vi } from 'vitest';
import { openPostgresStore } from './index.ts';
import { ConnectionLostError, SchemaTooNewError, UnsafeDatabaseError } from './connections/errors.ts';
import { SCHEMA_VERSIONS } from './connections/migrations.ts';
import { testServer } from './testing/postgres-test-server.ts';
import { isRetryable, reasonNotOpened } from './connections/connect-errors.ts';

const { newSchema, openSession, openStore, server } = testServer();
/** Room for slow machines. */
const PATIENCE = { timeout: 15_000 };

describe('opening', () => {
  it('migrates once when four processes start at the same time', async () => {
    const schema = newSchema();

    const stores = await Promise.all([1, 2, 3, 4].map(() => openStore(schema)));

    const runId = newRunId();
    await given(stores[0] as Store, createUnit(runId, { events: events(0, 1) }));
    for (const store of stores) expect(await readAll(store, runId)).toHaveLength(1);
    const versions = await openSession().unsafe(`SELECT version FROM ${schema}.schema_versions`);
    expect(versions.map(({ version }) => version)).toEqual(SCHEMA_VERSIONS);
  });

  it('refuses a schema that is newer than the program, and says what to do', async () => {
    const schema = newSchema();
    await openStore(schema);
    await openSession().unsafe(`INSERT INTO ${schema}.schema_versions (version) VALUES (99)`);

    const attempt = openPostgresStore({ url: server().url, schema });

    await expect(attempt).rejects.toBeInstanceOf(SchemaTooNewError);
    await expect(attempt).rejects.toThrow(/version 99.*Upgrade the program/);
  });

  it('keeps schemas apart, whatever they are commanded', async () => {
    const [one, two] = [await openStore(newSchema()), await openStore('it\'s "odd", 🧵')];
    const runId = newRunId();
    await given(one, createUnit(runId));

    expect(await two.readRun(runId, undefined)).toBeUndefined();
    await given(two, createUnit(runId));
    expect(await two.readRun(runId, undefined)).toBeDefined();
  });

  it('refuses a name for a schema that PostgreSQL would cut off', async () => {
    const attempt = openPostgresStore({ url: server().url, schema: 'x'.repeat(64) });

    await expect(attempt).rejects.toThrow('schema must be a name of 1 to 63 bytes; it has 64.');
    await expect(openStore('y'.repeat(63)).then((store) => store.ping())).resolves.toBeUndefined();
  });

  it('refuses a connection that would not wait for the disk', async () => {
    const url = `${server().url}?synchronous_commit=off`;

    await expect(openPostgresStore({ url, schema: newSchema() })).rejects.toBeInstanceOf(UnsafeDatabaseError);
  });

  it('fails with what went wrong when there is no server, without its address', async () => {
    const attempt = openPostgresStore({ url: 'postgres://weft:secret@127.0.0.1:1/none' });

    await expect(attempt).rejects.toBeInstanceOf(ConnectionLostError);
    await expect(attempt).rejects.toMatchObject({ reason: 'PostgreSQL cannot be reached: ECONNREFUSED' });
  });

  it('names the parameter of the URL that the server does not know, and the way out', async () => {
    const attempt = openPostgresStore({ url: `${server().url}?pgbouncer=true`, schema: newSchema() });

    const error: unknown = await attempt.catch((caught: unknown) => caught);
    expect(reasonNotOpened(error)).toMatch(
      /unrecognized configuration parameter "pgbouncer"\. Take it out of the URL/,
    );
    expect(isRetryable(error)).toBe(false);
  });

  it('has the settings that durability needs on every connection', async () => {
    const schema = newSchema();
    const session = openSession();
    const store = await openStore(schema, { maxConnections: 4, statementTimeoutMs: 7_000 });
    await session.unsafe(
      `CREATE TABLE ${schema}.seen (pid int PRIMARY KEY, sync text, timeout text, idle text, isolation text);
       CREATE FUNCTION ${schema}.see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         INSERT INTO ${schema}.seen SELECT pg_backend_pid(), current_setting('synchronous_commit'),
           current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'),
           current_setting('transaction_isolation') ON CONFLICT DO NOTHING;
         RETURN NULL; END $$;
       CREATE TRIGGER see AFTER INSERT ON ${schema}.runs EXECUTE FUNCTION ${schema}.see()`,
    );

    await Promise.all(Array.from({ length: 40 }, () => given(store, createUnit(newRunId()))));

    const seen = await session.unsafe(`SELECT sync, timeout, idle, isolation FROM ${schema}.seen`);
    expect(seen).toHaveLength(4);
    expect(new Set(seen.map((row) => Object.values(row).join(' ')))).toEqual(
      new Set(['on 7s 7s read committed']),
    );
  });
});

describe('a group', () => {
  it('with a text that PostgreSQL cannot keep fails alone', async () => {
    const store = await openStore(newSchema());
    const [good, bad, last] = [newRunId(), newRunId(), newRunId()];

    const results = await store.commit([
      createUnit(good),
      createUnit(bad, { record: { tags: ['nul \0 inside'] } }),
      createUnit(last),
    ]);

    expect(results.map(({ state }) => state)).toEqual(['committed', 'failed', 'committed']);
    expect(await store.readRun(bad, undefined)).toBeUndefined();
    expect(await store.listRuns('acme', { tag: '\0' }, { limit: 5 })).toEqual({ rows: [] });
  });

  it('with one row that exists already, from any writer, loses that unit alone', async () => {
    const schema = newSchema();
    const store = await openStore(schema);
    const runs = await Promise.all([1, 2, 3].map(() => givenHeldRun(store)));
    // As a defect or another program would leave it: an event beyond what the run's row says.
    await openSession().unsafe(
      `INSERT INTO ${schema}.events (run, seq, at, type, payload) VALUES ('${runs[1]}', 0, 0, 'orphan', '{}')`,
    );

    const results = await store.commit(runs.map((runId) => appendUnit(runId, 0)));

    expect(results.map(({ state }) => state)).toEqual(['committed', 'failed', 'committed']);
    expect(await store.commit([appendUnit(runs[1] ?? '', 0)])).toMatchObject([{ state: 'failed' }]);
  });

  it('is of unknown fate when the server takes nothing at all', async () => {
    const schema = newSchema();
    const store = await openStore(schema);
    const runId = await givenHeldRun(store);
    const tables = ['events', 'settings'];
    const session = openSession();
    await session.unsafe(
      `CREATE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
       ${tables.map((table) => `CREATE TRIGGER refuse BEFORE INSERT OR DELETE ON ${schema}.${table} EXECUTE FUNCTION ${schema}.refuse();`).join('')}`,
    );

    expect(await store.commit([appendUnit(runId, 0)])).toMatchObject([{ state: 'unknown' }]);
    expect(await store.committed(appendUnit(runId, 0))).toBe(false);
  });

  it('is refused as a whole when there is no room, which other groups survive', async () => {
    const schema = newSchema();
    const store = await openStore(schema);
    const runId = await givenHeldRun(store);
    // The error a full disk gives, where the disk cannot be filled.
    await openSession().unsafe(
      `CREATE FUNCTION ${schema}.full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
       CREATE TRIGGER full_disk BEFORE INSERT ON ${schema}.events FOR EACH ROW WHEN (NEW.type = 'large')
         EXECUTE FUNCTION ${schema}.full()`,
    );

    const results = await store.commit([
      appendUnit(runId, 0),
      createUnit(newRunId(), { events: [event(0, 'large')] }),
    ]);

    expect(results).toEqual([
      { state: 'refused', reason: 'store_full' },
      { state: 'refused', reason: 'store_full' },
    ]);
    expect(await readAll(store, runId)).toEqual([]);
    expect(await commitOne(store, appendUnit(runId, 0))).toEqual({ state: 'committed' });
  });

  it('gives up when a lock is held for longer than the statement timeout allows, again and again', async () => {
    const schema = newSchema();
    const store = await openStore(schema, { statementTimeoutMs: 100 });
    const runId = await givenHeldRun(store);
    const session = openSession();
    await session.unsafe('BEGIN');
    await session.unsafe(`SELECT 1 FROM ${schema}.runs FOR UPDATE`);

    await expect(store.commit([appendUnit(runId, 0)])).rejects.toMatchObject({ code: '57014' });
    await session.unsafe('ROLLBACK');

    expect(await commitOne(store, appendUnit(runId, 0))).toEqual({ state: 'committed' });
  });

  it('whose connection is killed in the middle is tried again on another one', async () => {
    const schema = newSchema();
    const store = await openStore(schema);
    const runId = await givenHeldRun(store);
    const [locking, killing] = [openSession(), openSession()];
    await locking.unsafe('BEGIN');
    await locking.unsafe(`SELECT 1 FROM ${schema}.runs FOR UPDATE`);

    const commit = store.commit([appendUnit(runId, 0)]);
    await vi.waitFor(async () => {
      const killed =
        await killing`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
      expect(killed).toHaveLength(1);
    }, PATIENCE);
    await locking.unsafe('ROLLBACK');

    expect(await commit).toEqual([{ state: 'committed' }]);
    expect(await readAll(store, runId)).toHaveLength(1);
  });

  it('whose connection is killed during COMMIT is unknown until its fate is decided', async () => {
    const schema = newSchema();
    const store = await openStore(schema);
    const [first, second] = [await givenHeldRun(store), await givenHeldRun(store)];
    const session = openSession();
    // A deferred trigger runs inside COMMIT; it is where the session can be killed while the outcome is unknown.
    await session.unsafe(
      `CREATE FUNCTION ${schema}.die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); RETURN NULL; END $$;
       CREATE CONSTRAINT TRIGGER die AFTER INSERT ON ${schema}.events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
         WHEN (NEW.type = 'killed') EXECUTE FUNCTION ${schema}.die()`,
    );
    const lost = appendUnit(first, 0, { events: [event(0, 'killed')] });

    const [result] = await store.commit([lost]);

    expect(result).toMatchObject({ state: 'unknown' });
    expect(await store.committed(lost)).toBe(false);
    expect(await commitOne(store, appendUnit(first, 0))).toEqual({ state: 'committed' });
    expect(await commitOne(store, appendUnit(second, 0))).toEqual({ state: 'committed' });
  });
});

describe('a server that is restarted', () => {
  it.each(['SIGINT', 'SIGQUIT'] as const)(
    'by %s under load: calls fail clearly, then work again, and everything acknowledged is there',
    async (signal) => {
      const schema = newSchema();
      const store = await openStore(schema);
      const runs = await Promise.all(Array.from({ length: 8 }, () => givenHeldRun(store)));
      const acknowledged = new Map(runs.map((runId) => [runId, 0]));
      const failures: unknown[] = [];
      let isOver = false;

      /** Appends one event after the other; after a failure or an unknown outcome it reads the head and continues from there. */
      async function write(runId: string): Promise<void> {
        let seq = 0;
        while (!isOver) {
          const unit = appendUnit(runId, seq);
          try {
            const result = await commitOne(store, unit);
            const isDurable = result.state === 'committed' || (await truth(unit));
            if (isDurable) acknowledged.set(runId, (seq += 1));
          } catch (error) {
            failures.push(error);
            if (await truth(unit)) acknowledged.set(runId, (seq += 1));
          }
        }
      }
      async function truth(unit: Parameters<Store['committed']>[0]): Promise<boolean> {
        return vi.waitFor(() => store.committed(unit), { timeout: 30_000, interval: 20 });
      }

      const writing = Promise.all(runs.map(write));
      await vi.waitFor(() => expect(Math.min(...acknowledged.values())).toBeGreaterThan(3), PATIENCE);
      await server().stop(signal);
      await expect(store.ping()).rejects.toBeInstanceOf(ConnectionLostError);
      const before = new Map(acknowledged);
      await server().start();
      await vi.waitFor(
        () => {
          for (const [runId, count] of before) expect(acknowledged.get(runId)).toBeGreaterThan(count + 3);
        },
        { timeout: 30_000 },
      );
      isOver = true;
      await writing;

      for (const error of failures) expect(error).toBeInstanceOf(ConnectionLostError);
      for (const [runId, count] of acknowledged) {
        const log = await readAll(store, runId);
        expect(log.map(({ seq }) => seq)).toEqual([...log.keys()]);
        expect(log).toHaveLength(count);
      }
    },
  );
});
