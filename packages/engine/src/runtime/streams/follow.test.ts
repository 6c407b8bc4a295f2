import { afterEach, describe, expect, it } from 'vitest';
import { chain, node } from '../../core/testing/definitions.ts';
import type { HostOptions } from '../../host/create-host.ts';
import type { Cursor, FollowedEvent, FollowOptions } from '../../host/host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { Store } from '../../ports/store.ts';
import { alice, startHost, stranger, type TestHost, until } from '../testing/test-host.ts';

const opened: TestHost[] = [];

async function open(options: Partial<HostOptions> = {}): Promise<TestHost> {
  const test = await startHost(options);
  opened.push(test);
  return test;
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

function following(rest: Partial<FollowOptions> = {}): FollowOptions {
  return {
    afterSeq: -1,
    keepaliveMs: 10_000,
    signal: new AbortController().signal,
    snapshots: false,
    ...rest,
  };
}

async function sequences(cursor: Cursor | undefined): Promise<number[]> {
  const seen: number[] = [];
  for (let batch = await cursor?.next(); batch !== undefined; batch = await cursor?.next()) {
    seen.push(...batch.map(({ event }) => event.seq));
  }
  return seen;
}

interface ShownRun {
  readonly status: string;
  readonly atSeq: number;
  readonly nodeStates: Readonly<Record<string, { readonly status: string } | undefined>>;
  readonly variables: Readonly<Record<string, unknown>>;
}

function shown(text: string | undefined): ShownRun | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as ShownRun);
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

const ids = Array.from({ length: 60 }, (_, index) => `n${String(index).padStart(2, '0')}`);
const LONG = {
  nodes: [node('call', 'test.effect'), ...ids.map((id) => node(id))],
  edges: chain('call', ...ids),
};

const TEXT = [{ name: 'text', type: 'string', defaultValue: '' }] as const;

describe('a live cursor', () => {
  it.each([
    ['from memory', { ringEvents: 256 }],
    ['from the store, having fallen out of a small ring', { ringEvents: 3 }],
  ])('attached at any moment sees every event once and in order, %s (F-3, F-5)', async (_, limits) => {
    const { host, effects, register, run } = await open({ limits: { ...limits, batchNodes: 3 } });
    const runId = await run(await register(LONG));
    const total = 2 + 2 * (ids.length + 1);
    const readers: { afterSeq: number; seen: Promise<number[]> }[] = [];
    const attach = async (afterSeq: number): Promise<void> => {
      const cursor = await host.runs.follow(alice, runId, following({ afterSeq }));
      readers.push({ afterSeq, seen: sequences(cursor) });
    };

    await attach(-1);
    await attach(0);
    (await until(() => effects.calls[0])).succeed();
    const isRunning = async (): Promise<boolean> =>
      (await host.runs.snapshot(alice, runId))?.snapshot.status === 'running';
    // Bounded: on a busy machine readers would otherwise be attached faster than the run moves.
    for (let seq = -1; readers.length < 50 && (await isRunning()); seq += 7) {
      await attach(Math.min(seq, total - 2));
    }
    await until(async () => ((await isRunning()) ? undefined : true));
    await attach(-1);
    await attach(total - 1);

    for (const { afterSeq, seen } of readers) expect(await seen).toEqual(range(afterSeq + 1, total));
    expect(readers.length).toBeGreaterThan(5);
    expect(host.stats()).toMatchObject({ listeners: 0 });
  });

  it('gives the same bytes live, as history and as a poll', async () => {
    const { host, effects, register, run } = await open();
    const runId = await run(await register(LONG));
    const live = await host.runs.follow(alice, runId, following());
    (await until(() => effects.calls[0])).succeed();
    const documents: string[] = [];
    for (let batch = await live?.next(); batch !== undefined; batch = await live?.next()) {
      documents.push(...batch.map(({ event }) => event.document));
    }

    const page = await host.runs.events(alice, runId, -1, 10_000);

    expect(page?.events.map(({ document }) => document)).toEqual(documents);
    expect(page).toMatchObject({ complete: true, status: 'completed', nextSeq: documents.length });
  });

  it('answers with nothing after the keepalive time, and ends when its client leaves', async () => {
    const { host, register, run } = await open();
    const runId = await run(await register(LONG));
    const leaving = new AbortController();
    const cursor = await host.runs.follow(
      alice,
      runId,
      following({ keepaliveMs: 5, signal: leaving.signal }),
    );
    expect(await cursor?.next()).toHaveLength(2);

    expect(await cursor?.next()).toEqual([]);
    leaving.abort();

    expect(await cursor?.next()).toBeUndefined();
    expect(host.stats()).toMatchObject({ listeners: 0 });
  });

  it('ends at once behind the end of a finished run, and waits behind the end of a live one (F-6)', async () => {
    const { host, effects, register, run, status } = await open();
    const runId = await run(await register({ nodes: [node('call', 'test.effect')] }));
    const ahead = await host.runs.follow(alice, runId, following({ afterSeq: 2, snapshots: true }));
    const first = ahead?.next();

    (await until(() => effects.calls[0])).succeed();

    expect((await first)?.map(({ event, snapshot }) => [event.seq, shown(snapshot)?.status])).toEqual([
      [3, 'completed'],
    ]);
    await until(async () => (await status(runId)) === 'completed');
    expect(await sequences(await host.runs.follow(alice, runId, following({ afterSeq: 99 })))).toEqual([]);
  });

  it('is not given to another tenant', async () => {
    const { host, register, run } = await open();
    const runId = await run(await register(LONG));

    expect(await host.runs.follow(stranger, runId, following())).toBeUndefined();
  });

  it('brings with each event the run as of that event (F-8)', async () => {
    const { host, effects, register, run } = await open();
    const runId = await run(await register({ nodes: [node('call', 'test.effect')] }));
    const cursor = await host.runs.follow(alice, runId, following({ afterSeq: 0, snapshots: true }));
    const baseline = await cursor?.baseline();
    expect([baseline?.seq, shown(baseline?.text)]).toMatchObject([0, { status: 'running', atSeq: 0 }]);
    (await until(() => effects.calls[0])).succeed();
    const seen: unknown[] = [];
    for (let batch = await cursor?.next(); batch !== undefined; batch = await cursor?.next()) {
      for (const { event, snapshot } of batch) {
        const run = shown(snapshot);
        seen.push([event.type, run?.status, run?.nodeStates['call']?.status]);
      }
    }

    expect(seen).toEqual([
      ['node.started', 'running', 'running'],
      ['node.completed', 'running', 'completed'],
      ['run.completed', 'completed', 'completed'],
    ]);
  });

  it('hands over snapshots by bytes, every one of a run that is not large (F-10)', async () => {
    const { host, effects, register, run } = await open();
    const runId = await run(await register({ ...LONG, variables: TEXT }), {
      inputs: { text: 'x'.repeat(60_000) },
    });
    (await until(() => effects.calls[0])).succeed();
    const cursor = await host.runs.follow(alice, runId, following({ snapshots: true }));

    const seen: number[] = [];
    for (let batch = await cursor?.next(); batch !== undefined; batch = await cursor?.next()) {
      const bytes = batch.reduce((sum, { snapshot }) => sum + (snapshot?.length ?? 0), 0);
      expect(bytes).toBeLessThan(400_000);
      for (const { snapshot } of batch) if (snapshot !== undefined) seen.push(shown(snapshot)?.atSeq ?? -1);
    }

    expect(seen).toEqual(range(0, 2 + 2 * (ids.length + 1)));
  });

  it('shows a large run as it is by now to all of its readers, folded once for them, up to its end (F-9)', async () => {
    const store = openMemoryStore();
    let rebuilt = 0;
    const counting: Store = {
      ...store,
      readCheckpoint(runId) {
        rebuilt += 1;
        return store.readCheckpoint(runId);
      },
    };
    const { host, effects, register, run } = await open({ store: counting });
    const runId = await run(await register({ ...LONG, variables: TEXT }), {
      inputs: { text: 'x'.repeat(600_000) },
    });
    const readers = await Promise.all(
      Array.from({ length: 20 }, () => host.runs.follow(alice, runId, following({ snapshots: true }))),
    );
    for (const reader of readers)
      expect(shown((await reader?.next())?.at(-1)?.snapshot)?.status).toBe('running');
    const before = rebuilt;

    (await until(() => effects.calls[0])).succeed();
    const ends = await Promise.all(
      readers.map(async (reader) => {
        let last: FollowedEvent | undefined;
        let snapshots = 0;
        for (let batch = await reader?.next(); batch !== undefined; batch = await reader?.next()) {
          expect(batch.length).toBeLessThanOrEqual(1);
          snapshots += batch.length;
          last = batch.at(-1) ?? last;
        }
        return { snapshots, last };
      }),
    );

    for (const { snapshots, last } of ends) {
      expect(last?.event.type).toBe('run.completed');
      expect(shown(last?.snapshot)).toMatchObject({ status: 'completed', atSeq: last?.event.seq });
      expect(snapshots).toBeLessThan(ids.length);
    }
    // Not once per reader and event: they share what was rebuilt.
    expect(rebuilt - before).toBeLessThan(40);
  });

  it('loses nothing when no signal comes from the process that carries the run on (F-7)', async () => {
    const store = openMemoryStore();
    const holder = await open({ store });
    const onlooker = await open({ store: { ...store, watch: () => () => undefined } });
    const runId = await holder.run(await holder.register(LONG));
    const cursor = await onlooker.host.runs.follow(alice, runId, following({ keepaliveMs: 5 }));
    const seen = sequences(cursor);

    (await until(() => holder.effects.calls[0])).succeed();

    expect(await seen).toEqual(range(0, 2 + 2 * (ids.length + 1)));
  });

  it('follows a run that another process carries on', async () => {
    const store = openMemoryStore();
    const holder = await open({ store });
    const onlooker = await open({ store });
    const runId = await holder.run(await holder.register(LONG));
    const cursor = await onlooker.host.runs.follow(alice, runId, following());
    const seen = sequences(cursor);

    (await until(() => holder.effects.calls[0])).succeed();

    expect(await seen).toEqual(range(0, 2 + 2 * (ids.length + 1)));
  });
});

describe('a cursor that pushes', () => {
  it('stops when its taker is full, and continues from there', async () => {
    const { host, effects, register, run } = await open({ limits: { ringEvents: 256, batchNodes: 3 } });
    const runId = await run(await register(LONG));
    const cursor = await host.runs.follow(alice, runId, following());
    const seen: number[] = [];
    let batches = 0;
    const take = (events: readonly FollowedEvent[]): boolean => {
      seen.push(...events.map(({ event }) => event.seq));
      batches += 1;
      return batches % 3 !== 0;
    };

    const first = cursor?.push(take);
    (await until(() => effects.calls[0])).succeed();
    let isOpen = await first;
    while (isOpen === true) isOpen = await cursor?.push(take);

    expect(seen).toEqual(range(0, 2 + 2 * (ids.length + 1)));
    expect(host.stats()).toMatchObject({ listeners: 0 });
  });

  it('fails with what its taker throws', async () => {
    const { host, effects, register, run } = await open();
    const runId = await run(await register(LONG));
    const cursor = await host.runs.follow(alice, runId, following({ afterSeq: 1 }));

    const pushed = cursor?.push(() => {
      throw new Error('no such reader');
    });
    (await until(() => effects.calls[0])).succeed();

    await expect(pushed).rejects.toThrow('no such reader');
  });
});

describe('a long poll', () => {
  it('ends when an event comes, when there is one already, and when the time is up', async () => {
    const { host, effects, register, run } = await open();
    const runId = await run(await register({ nodes: [node('call', 'test.effect')] }));
    const { signal } = new AbortController();

    await host.runs.waitForEvents(runId, 0, 10_000, signal);
    await host.runs.waitForEvents(runId, 1, 5, signal);
    const waiting = host.runs.waitForEvents(runId, 1, 10_000, signal);
    (await until(() => effects.calls[0])).succeed();
    await waiting;

    expect((await host.runs.events(alice, runId, 1, 100))?.events.length).toBeGreaterThan(0);
    await host.runs.waitForEvents(runId, 99, 10_000, signal);
  });
});
