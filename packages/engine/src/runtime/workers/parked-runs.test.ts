import { afterEach, describe, expect, it } from 'vitest';
import { edge, node, type WorkflowSpec } from '../../core/testing/definitions.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { decorateStore } from '../../ports/decorate-store.ts';
import type { Store } from '../../ports/store.ts';
import { alice, startHost, type TestHost, until } from '../testing/test-host.ts';
import { connectWorker, SERVED, servedType, type TestWorker } from './testing/test-worker.ts';

const hosts: TestHost[] = [];

async function start(store: Store, maxLiveRuns: number, workerLeaseMs = 10_000): Promise<TestHost> {
  const limits = { maxLiveRuns, workerLeaseMs };
  const test = await startHost({ nodes: [servedType()], store, limits });
  hosts.push(test);
  return test;
}

afterEach(async () => {
  await Promise.all(hosts.splice(0).map(({ host }) => host.stop(0)));
});

const FLOW: WorkflowSpec = {
  nodes: [node('start'), node('work', 'test.served')],
  edges: [edge('start', 'work')],
};
const PURE: WorkflowSpec = { nodes: [node('start')], edges: [] };

/** Runs of a workflow without a worker, more than memory takes. */
async function givenWaiting(test: TestHost, count: number): Promise<string[]> {
  const flow = await test.register(FLOW, 'waits');
  const runIds: string[] = [];
  for (let made = 0; made < count; made += 1) runIds.push(await test.run(flow));
  return runIds;
}

async function areParked(store: Store, runIds: readonly string[], atMost: number): Promise<boolean> {
  const rows = await Promise.all(runIds.map((runId) => store.readRun(runId, undefined)));
  if (rows.some((row) => row?.head.status !== 'running')) return false;
  return rows.filter((row) => row?.holder !== undefined).length <= atMost;
}

/** Performs everything that it is sent; answers how often each run was sent. */
function performAll(worker: TestWorker): ReadonlyMap<string, number> {
  const performed = new Map<string, number>();
  void (async () => {
    for (;;) {
      const task = await worker.next();
      performed.set(task.runId, (performed.get(task.runId) ?? 0) + 1);
      void worker.succeed(task);
    }
  })().catch(() => undefined);
  return performed;
}

async function allEnd(test: TestHost, runIds: readonly string[], status: string): Promise<void> {
  for (const runId of runIds) await until(async () => (await test.status(runId)) === status);
}

describe('runs that only wait for a worker', () => {
  it('leave memory to others, and each is performed once when a worker comes to any process (W-42, S-21)', async () => {
    const store = openMemoryStore();
    const [first, second] = [await start(store, 20), await start(store, 20)];
    const waiting = await givenWaiting(first, 300);

    const pure = await first.register(PURE, 'pure');
    const others = await Promise.all(Array.from({ length: 50 }, () => first.run(pure)));
    await allEnd(first, others, 'completed');
    await until(() => areParked(store, waiting, 40));
    const left = (await Promise.all(waiting.map((runId) => store.readRun(runId, undefined)))).find(
      (row) => row?.holder === undefined,
    );
    expect(await second.host.runs.explain(alice, left?.record.runId ?? '')).toMatchObject({
      waitingFor: 'worker',
      nodeId: 'work',
      task: { ...SERVED, since: expect.stringMatching(/^\d{4}-/) as string },
    });

    const performed = performAll(await connectWorker(second.host, { capacity: 8 }));
    await allEnd(first, waiting, 'completed');

    expect([...performed.keys()].sort()).toEqual([...waiting].sort());
    expect([...performed.values()].every((times) => times === 1)).toBe(true);
    await until(async () => (await store.readTasks(waiting)).length === 0);
  });

  it('can be cancelled', async () => {
    const store = openMemoryStore();
    const test = await start(store, 4);
    const waiting = await givenWaiting(test, 30);
    await until(() => areParked(store, waiting, 4));

    for (const runId of waiting) await test.host.runs.command(alice, runId, { type: 'cancel', by: 'alice' });

    await allEnd(test, waiting, 'cancelled');
    const worker = await connectWorker(test.host, { capacity: 8 });
    expect(worker.tasks()).toEqual([]);
  });

  it('are performed by workers of the version that theirs is mapped to', async () => {
    const store = openMemoryStore();
    const test = await start(store, 4);
    const old = await connectWorker(test.host);
    await old.close();
    const waiting = await givenWaiting(test, 20);
    await until(() => areParked(store, waiting, 4));
    const performed = performAll(
      await connectWorker(test.host, { capacity: 4, types: [{ ...SERVED, version: '2.0.0' }] }),
    );

    await test.host.nodeTypes.map(alice, SERVED.typeId, SERVED.version, '2.0.0');

    await allEnd(test, waiting, 'completed');
    expect(performed.size).toBe(20);
  });

  it('are loaded again where it is not known whether they have left (W-42)', async () => {
    const inner = openMemoryStore();
    let times = 0;
    const store = decorateStore(inner, {
      async parkRun(...left) {
        times += 1;
        if (times % 3 === 0) throw new Error('the answer was lost before the write');
        const isParked = await inner.parkRun(...left);
        if (times % 3 === 1) throw new Error('the answer was lost after the write');
        return isParked;
      },
    });
    const test = await start(store, 4, 500);
    const waiting = await givenWaiting(test, 30);
    await until(() => areParked(inner, waiting, 4));

    const performed = performAll(await connectWorker(test.host, { capacity: 4 }));

    await allEnd(test, waiting, 'completed');
    expect([...performed.values()].filter((count) => count !== 1)).toEqual([]);
  });
});
