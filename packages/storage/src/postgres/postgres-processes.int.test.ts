import type { Store } from '@weft/engine';
import {
  appendUnit,
  auditEntry,
  commandUnit,
  commitOne,
  completed,
  createUnit,
  event,
  events,
  given,
  givenHeldRun,
  idempotencyRecord,
  newBatchId,
  newRunId,
  readAll,
  workflowUnit,
} from '@weft/engine/store-contract';
import { describe, expect, it, vi } from 'vitest';
import { testServer } from './testing/postgres-test-server.ts';

const { newSchema, openSession, openStore } = testServer();
/** Room for slow machines. */
const PATIENCE = { timeout: 15_000 };

describe('two processes on one database', () => {
  it('claim every due run once and lose no append', async () => {
    const schema = newSchema();
    const stores = [await openStore(schema), await openStore(schema)];
    const [first = stores[0]] = stores;
    if (!first) throw new Error('no store');
    const runs = Array.from({ length: 60 }, () => newRunId());
    await given(first, ...runs.map((runId) => createUnit(runId)));
    await Promise.all(stores.map((store, index) => store.heartbeat(`h${index}`, 60_000)));

    async function work(store: Store, holder: string): Promise<string[]> {
      const mine: string[] = [];
      for (;;) {
        const claimed = await store.claimDue(holder, 3);
        if (claimed.length === 0) return mine;
        const written = claimed.map(({ runId, epoch }) =>
          appendUnit(runId, 0, { epoch, events: events(0, 3) }),
        );
        const ended = claimed.map(({ runId, epoch }) =>
          appendUnit(runId, 3, { epoch, events: [event(3, 'run.completed')], head: completed }),
        );
        await given(store, ...written);
        await given(store, ...ended);
        mine.push(...claimed.map(({ runId }) => runId));
      }
    }
    const shares = await Promise.all(
      stores.flatMap((store, index) => [work(store, `h${index}`), work(store, `h${index}`)]),
    );

    expect(shares.flat().sort()).toEqual([...runs].sort());
    for (const runId of runs) expect(await readAll(first, runId)).toHaveLength(4);
  });

  it('let one of many writers of a run win, whichever process they are in', async () => {
    const schema = newSchema();
    const stores = [await openStore(schema), await openStore(schema)];
    const runId = await givenHeldRun(await openStore(schema));

    for (let seq = 0; seq < 10; seq += 1) {
      const racing = Array.from({ length: 6 }, (_, writer) =>
        commitOne(
          stores[writer % 2] as Store,
          appendUnit(runId, seq, { events: [event(seq, 'log', { payload: `${writer}` })] }),
        ),
      );
      const results = await Promise.all(racing);

      expect(results.filter(({ state }) => state === 'committed')).toHaveLength(1);
      expect(
        results.filter((result) => 'reason' in result && result.reason === 'sequence_conflict'),
      ).toHaveLength(5);
    }
  });

  it('agree on idempotency records, exclusive scopes, workflows and settings when they write them at the same time', async () => {
    const schema = newSchema();
    const stores = await Promise.all([openStore(schema), openStore(schema)]);
    const both = (unit: (index: number) => Parameters<typeof commitOne>[1]) =>
      Promise.all([0, 1, 2, 3, 4, 5].map((index) => commitOne(stores[index % 2] as Store, unit(index))));
    const winners = (results: Awaited<ReturnType<typeof both>>) =>
      results.filter(({ state }) => state === 'committed').length;
    const expiresAt = Date.now() + 60_000;

    const keyed = await both(() => createUnit(newRunId(), { idempotency: idempotencyRecord({ expiresAt }) }));
    const scoped = await both(() =>
      createUnit(newRunId(), { record: { scopeId: 's', tenant: 'scoped' }, exclusiveScope: true }),
    );
    const versions = await both((index) => workflowUnit('1.0.0', { digest: `${index}`.repeat(64) }));
    const settings = await both((index) => ({
      kind: 'setting',
      batchId: newBatchId(),
      name: 'mode',
      value: `${index}`,
    }));
    const registered = await both((index) => workflowUnit(`2.${index}.0`));

    expect([keyed, scoped, versions, settings].map(winners)).toEqual([1, 1, 1, 1]);
    expect(winners(registered)).toBe(6);
    const rows = (await stores[0].listWorkflows('acme', { limit: 10 })).rows;
    expect(rows.filter(({ current }) => current)).toHaveLength(1);
  });

  it('show a reader of the audit trail every entry, though they commit in another order than they began', async () => {
    const schema = newSchema();
    const [one, two] = await Promise.all([openStore(schema), openStore(schema)]);
    const seen: string[] = [];
    let next = 0;
    async function readOn(): Promise<void> {
      for (const { id, action } of await one.readAudit(next, 100)) {
        seen.push(action);
        next = id + 1;
      }
    }

    const writing = Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        given(index % 2 === 0 ? one : two, {
          kind: 'audit',
          batchId: newBatchId(),
          audit: [auditEntry(`a${index}`)],
        }),
      ),
    );
    let isWritten = false;
    void writing.then(() => {
      isWritten = true;
    });
    while (!isWritten) await readOn();
    await readOn();

    expect([...seen].sort()).toEqual(Array.from({ length: 60 }, (_, index) => `a${index}`).sort());
  });

  it('skip what an open transaction holds, and take it once that is over', async () => {
    const schema = newSchema();
    const store = await openStore(schema);
    const runs = [newRunId(), newRunId(), newRunId()];
    for (const [wakeAt, runId] of runs.entries())
      await given(store, createUnit(runId, { head: { status: 'running', wakeAt } }));
    await store.heartbeat('h1', 60_000);
    const session = openSession();
    await session.unsafe('BEGIN');
    await session.unsafe(`SELECT 1 FROM ${schema}.runs WHERE id = '${runs[0]}' FOR UPDATE`);

    expect((await store.claimDue('h1', 10)).map(({ runId }) => runId)).toEqual(runs.slice(1));
    await session.unsafe('ROLLBACK');
    expect((await store.claimDue('h1', 10)).map(({ runId }) => runId)).toEqual(runs.slice(0, 1));
  });

  it('take over by the clock of the database, whatever their own clocks say', async () => {
    const schema = newSchema();
    const [one, two] = await Promise.all([openStore(schema), openStore(schema)]);
    const runId = newRunId();
    await one.heartbeat('h1', 60_000);
    await given(one, createUnit(runId, { holder: 'h1' }));
    await two.heartbeat('h2', 60_000);
    expect(await two.claim(runId, 'h2')).toEqual({ state: 'held', holder: 'h1' });

    await one.heartbeat('h1', 0);

    await vi.waitFor(
      async () => expect(await two.claim(runId, 'h2')).toEqual({ state: 'claimed', epoch: 2 }),
      PATIENCE,
    );
    expect(await commitOne(one, appendUnit(runId, 0))).toMatchObject({ reason: 'stale_epoch' });
  });

  it('get out of a deadlock, which is tried again', async () => {
    const schema = newSchema();
    const store = await openStore(schema);
    const [low = '', high = ''] = [await givenHeldRun(store), await givenHeldRun(store)].sort();
    const session = openSession();
    await session.unsafe('BEGIN');
    await session.unsafe(`SELECT 1 FROM ${schema}.runs WHERE id = '${high}' FOR UPDATE`);

    const group = store.commit([appendUnit(low, 0), appendUnit(high, 0)]);
    const watching = openSession();
    await vi.waitFor(async () => {
      const waiting = await watching`SELECT 1 FROM pg_locks WHERE NOT granted`;
      expect(waiting.length).toBeGreaterThan(0);
    }, PATIENCE);
    const other = session.unsafe(`SELECT 1 FROM ${schema}.runs WHERE id = '${low}' FOR UPDATE`);
    await other.catch(() => {});
    await session.unsafe('ROLLBACK');

    expect(await group).toEqual([{ state: 'committed' }, { state: 'committed' }]);
  });
});

describe('the notifier', () => {
  it('is heard in the other process, for every run of a large group', async () => {
    const schema = newSchema();
    const [one, two] = await Promise.all([openStore(schema), openStore(schema)]);
    const heard = new Map<string, number>();
    two.watch((runId, nextSeq) => heard.set(runId, nextSeq));
    const runs = Array.from({ length: 400 }, () => newRunId());

    await given(one, ...runs.map((runId) => createUnit(runId, { holder: 'h1', events: events(0, 2) })));
    await given(one, commandUnit(runs[0] ?? '', 'c1'));

    await vi.waitFor(() => expect(heard.size).toBe(400), PATIENCE);
    expect(new Set(heard.values())).toEqual(new Set([2]));
  });

  it('is heard in the other process when a run got a command, and there only', async () => {
    const schema = newSchema();
    const [one, two] = await Promise.all([openStore(schema), openStore(schema)]);
    const [here, elsewhere] = [vi.fn(), vi.fn()];
    const runId = await givenHeldRun(one);
    one.watch(here);
    two.watch(elsewhere);

    await given(one, commandUnit(runId, 'c1'));

    await vi.waitFor(() => expect(elsewhere).toHaveBeenCalledWith(runId, 0, true), PATIENCE);
    expect(here).not.toHaveBeenCalled();
  });

  it('makes up for the notices of a process that died before it could send them', {
    timeout: 30_000,
  }, async () => {
    const schema = newSchema();
    const [one, two] = await Promise.all([openStore(schema), openStore(schema)]);
    const appended = vi.fn();
    two.watch(appended);
    const ended = newRunId();
    await one.heartbeat('h1', 1);
    // Written as that process would have, by a session that sends no notice.
    await given(one, createUnit(ended, { head: { ...completed, endedAt: Date.now() } }));
    const session = openSession();
    await session.unsafe(`UPDATE ${schema}.runs SET next_seq = 7`);

    await vi.waitFor(() => expect(appended).toHaveBeenCalledWith(ended, 7, true), PATIENCE);
  });

  it('makes up for what it missed while its connection was gone', async () => {
    const schema = newSchema();
    const [one, two] = await Promise.all([openStore(schema), openStore(schema)]);
    const appended = vi.fn();
    two.watch(appended);
    const [open, ended] = [newRunId(), newRunId()];
    const session = openSession();

    await session`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'weft'`;
    await given(
      one,
      createUnit(open, { events: events(0, 1) }),
      createUnit(ended, { events: events(0, 2), head: { ...completed, endedAt: Date.now() } }),
    );

    await vi.waitFor(() => expect(appended).toHaveBeenCalledWith(open, 1, true), PATIENCE);
    await vi.waitFor(() => expect(appended).toHaveBeenCalledWith(ended, 2, true), PATIENCE);
  });
});
