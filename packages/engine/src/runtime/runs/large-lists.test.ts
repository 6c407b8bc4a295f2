import { afterEach, describe, expect, it } from 'vitest';
import { node } from '../../core/testing/definitions.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { RunPage, Store } from '../../ports/store.ts';
import { StopSource } from '../effects/stop-source.ts';
import { alice, startHost, type TestHost, until } from '../testing/test-host.ts';

const opened: TestHost[] = [];

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

interface Watched {
  readonly test: TestHost;
  readonly pages: RunPage[];
  /** The most states that were being read from the store at the same time. */
  readonly mostAtOnce: () => number;
}

/** A host that counts what lists ask its store for. */
async function open(): Promise<Watched> {
  const store = openMemoryStore();
  const pages: RunPage[] = [];
  let reading = 0;
  let most = 0;
  const watched: Store = {
    ...store,
    listRuns(tenant, filter, page) {
      pages.push(page);
      return store.listRuns(tenant, filter, page);
    },
    async readCheckpoint(runId) {
      reading += 1;
      most = Math.max(most, reading);
      await new Promise((resolve) => setImmediate(resolve));
      reading -= 1;
      return store.readCheckpoint(runId);
    },
  };
  const test = await startHost({ store: watched });
  opened.push(test);
  return { test, pages, mostAtOnce: () => most };
}

async function givenQuestions({ test }: Watched, count: number, bytes: number): Promise<string[]> {
  const gate = node('gate', 'core.approvalGate', { title: 't'.repeat(200) });
  const workflowId = await test.register({ nodes: [gate] });
  const runs: string[] = [];
  for (let index = 0; index < count; index += 1)
    runs.push(await test.run(workflowId, { inputs: { text: 'x'.repeat(bytes) } }));
  await until(() => test.host.stats()['live'] === 0);
  return runs;
}

async function walk({ test }: Watched, limit: number): Promise<{ pages: number[]; runs: string[] }> {
  const found: { pages: number[]; runs: string[] } = { pages: [], runs: [] };
  let cursor: string | undefined;
  do {
    const page = await test.host.interrupts.list(alice, { limit, ...(cursor !== undefined && { cursor }) });
    found.pages.push(page.rows.length);
    found.runs.push(...page.rows.map(({ runId }) => runId));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found;
}

describe('the list of open questions', () => {
  it('reads the runs behind them one at a time, however many they are and however large', async () => {
    const watched = await open();
    const runs = await givenQuestions(watched, 60, 100_000);

    const found = await walk(watched, 60);

    expect([...found.runs].sort()).toEqual([...runs].sort());
    expect(watched.mostAtOnce()).toBe(1);
    for (const page of watched.pages) {
      expect(page.limit).toBeLessThanOrEqual(16);
      expect(page.maxBytes).toBeLessThanOrEqual(1024 * 1024);
    }
  });

  it('shares one rebuilding of a run among all who ask at the same time', async () => {
    const watched = await open();
    await givenQuestions(watched, 5, 100_000);

    await Promise.all(Array.from({ length: 50 }, () => walk(watched, 5)));

    expect(watched.mostAtOnce()).toBeLessThanOrEqual(5);
  });

  it('ends a page at its limit of bytes, and loses no question', async () => {
    const watched = await open();
    const { test } = watched;
    const gate = node('gate', 'core.approvalGate', { title: 'q'.repeat(120_000) });
    const workflowId = await test.register({ nodes: [gate] });
    const runs: string[] = [];
    for (let index = 0; index < 40; index += 1) runs.push(await test.run(workflowId));

    const found = await walk(watched, 40);

    expect(found.pages.length).toBeGreaterThan(1);
    expect(Math.max(...found.pages)).toBeLessThan(32);
    expect([...found.runs].sort()).toEqual([...runs].sort());
  });
});

describe('a list whose client has gone', () => {
  it('is read no further than the page of the store that is being read', async () => {
    const watched = await open();
    const runs = await givenQuestions(watched, 40, 200_000);
    watched.pages.length = 0;
    const left = new StopSource();
    left.stop();
    const { host } = watched.test;

    const listed = await host.runs.list(alice, {}, { limit: 40 }, left);
    const questions = await host.interrupts.list(alice, { limit: 40 }, left);

    expect(watched.pages).toHaveLength(2);
    for (const { rows, nextCursor } of [listed, questions]) {
      expect(rows.length).toBeLessThan(runs.length);
      expect(nextCursor).toBeDefined();
    }
  });
});

describe('the list of runs', () => {
  it('is as long as asked for, read from the store by bytes', async () => {
    const watched = await open();
    const runs = await givenQuestions(watched, 40, 200_000);
    watched.pages.length = 0;

    const { rows, nextCursor } = await watched.test.host.runs.list(alice, {}, { limit: 30 });

    expect(rows.map(({ runId }) => runId)).toEqual([...runs].reverse().slice(0, 30));
    expect(nextCursor).toBeDefined();
    // Five records of 200 KB are a megabyte.
    expect(watched.pages.length).toBeGreaterThanOrEqual(6);
    for (const page of watched.pages) expect(page.maxBytes).toBe(1024 * 1024);
  });
});
