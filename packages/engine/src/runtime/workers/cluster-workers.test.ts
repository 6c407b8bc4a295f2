import type { JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { edge, node, type WorkflowSpec } from '../../core/testing/definitions.ts';
import type { HostOptions } from '../../host/create-host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { Store } from '../../ports/store.ts';
import { decorateStore } from '../../ports/decorate-store.ts';
import { alice, startHost, type TestHost, until } from '../testing/test-host.ts';
import { connectWorker, servedType } from './testing/test-worker.ts';

const hosts: TestHost[] = [];

async function start(store: Store, options: Partial<HostOptions> = {}): Promise<TestHost> {
  const test = await startHost({ nodes: [servedType()], ...options, store });
  hosts.push(test);
  return test;
}

afterEach(async () => {
  await Promise.all(hosts.splice(0).map(({ host }) => host.stop(0)));
});

function flow(settings: JsonObject = {}): WorkflowSpec {
  return {
    nodes: [node('start'), node('work', 'test.served', {}, { settings })],
    edges: [edge('start', 'work')],
  };
}

async function ends(test: TestHost, runId: string): Promise<string> {
  return await until(async () => {
    const status = await test.status(runId);
    return status === 'completed' || status === 'failed' || status === 'cancelled' ? status : undefined;
  });
}

/** A host that can be cut off from its store, as if it were killed: nothing it does reaches it any more. */
function cutable(store: Store): { readonly store: Store; cut(): void } {
  let isCut = false;
  const guard =
    <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    (...args: Args): Promise<Result> =>
      isCut ? Promise.reject(new Error('cut off')) : method(...args);
  return {
    store: decorateStore(store, {
      commit: guard(store.commit),
      heartbeat: guard(store.heartbeat),
      claimDue: guard(store.claimDue),
      releaseAll: guard(store.releaseAll),
      offerTask: guard(store.offerTask),
      claimTasks: guard(store.claimTasks),
      settleTask: guard(store.settleTask),
      returnTask: guard(store.returnTask),
      withdrawTask: guard(store.withdrawTask),
    }),
    cut() {
      isCut = true;
    },
  };
}

const QUICK_CLAIMS = { claimTtlMs: 600, heartbeatMs: 20, workerLeaseMs: 600 };

describe('a worker of another process', () => {
  it('performs a task of a run that is held here, and nothing is left in the store (H-11, H-12)', async () => {
    const store = openMemoryStore();
    const [holder, other] = [await start(store), await start(store)];
    const worker = await connectWorker(other.host);
    const runId = await holder.run(await holder.register(flow()));

    const task = await worker.next();
    expect(task).toMatchObject({ runId, nodeId: 'work', attempt: 1 });
    expect((await store.readTasks([runId]))[0]?.holder).toBe(other.host.stats()['holder']);
    const { taskId, lease } = task;
    await worker.report({
      chunks: [{ taskId, lease, index: 0, text: 'from afar' }],
      logs: [{ taskId, lease, level: 'info', message: 'logged' }],
    });
    expect((await worker.succeed(task, { far: true }))?.refused).toEqual([]);

    expect(await ends(holder, runId)).toBe('completed');
    const types = await holder.types(runId);
    expect(types).toContain('log.appended');
    expect(types).toContain('output.chunk');
    await until(async () => (await store.readTasks([runId])).length === 0);
  });

  it('gets tasks that waited before it came', async () => {
    const store = openMemoryStore();
    const [holder, other] = [await start(store), await start(store)];
    const runId = await holder.run(await holder.register(flow()));
    await until(() => holder.host.stats()['tasksWaiting'] === 1);

    const worker = await connectWorker(other.host);
    await worker.succeed(await worker.next());

    expect(await ends(holder, runId)).toBe('completed');
  });

  it('gets a stop when the run is cancelled', async () => {
    const store = openMemoryStore();
    const [holder, other] = [await start(store), await start(store)];
    const worker = await connectWorker(other.host);
    const runId = await holder.run(await holder.register(flow()));
    const task = await worker.next();

    await holder.host.runs.command(alice, runId, { type: 'cancel', by: 'alice' });

    await until(() => worker.messages.some(({ type }) => type === 'cancel'));
    expect((await worker.succeed(task))?.refused).toHaveLength(1);
    expect(await ends(holder, runId)).toBe('cancelled');
    expect(await store.readTasks([runId])).toEqual([]);
  });

  it('keeps its task when the holder of the run is gone: the next one takes the result (H-12)', async () => {
    const store = openMemoryStore();
    const gone = cutable(store);
    const holder = await start(gone.store, { limits: QUICK_CLAIMS });
    const other = await start(store, { limits: { ...QUICK_CLAIMS, workerLeaseMs: 5_000 } });
    const worker = await connectWorker(other.host);
    const runId = await holder.run(await holder.register(flow()));
    const task = await worker.next();

    gone.cut();
    const { taskId, lease } = task;
    await until(async () => {
      await worker.report({});
      return (await store.readRun(runId, undefined))?.epoch === 2;
    });
    const receipt = await worker.report({ results: [{ taskId, lease, outputs: { kept: true } }] });

    expect(receipt?.refused).toEqual([]);
    expect(await ends(other, runId)).toBe('completed');
    expect(worker.tasks()).toHaveLength(1);
  });

  it('is followed by another one when its process is gone (H-11)', async () => {
    const store = openMemoryStore();
    const gone = cutable(store);
    const holder = await start(store, { limits: QUICK_CLAIMS });
    const lost = await start(gone.store, { limits: QUICK_CLAIMS });
    const first = await connectWorker(lost.host);
    const runId = await holder.run(await holder.register(flow()));
    const task = await first.next();

    gone.cut();
    const late = until(() => first.messages.some(({ type }) => type === 'cancel' || type === 'close'));
    const heir = await start(store, { limits: { ...QUICK_CLAIMS, workerLeaseMs: 5_000 } });
    const second = await connectWorker(heir.host);
    const again = await second.next();

    expect(again).toMatchObject({ invocationId: task.invocationId, attempt: task.attempt });
    await late;
    await second.succeed(again);
    expect(await ends(holder, runId)).toBe('completed');
  });

  it('leaves the task to a worker that connects here, if it does not have it yet', async () => {
    const store = openMemoryStore();
    const [holder, other] = [await start(store), await start(store)];
    const busy = await connectWorker(other.host);
    const id = await holder.register(flow());
    await holder.run(id);
    await busy.next();
    const runId = await holder.run(id);
    await until(async () => (await store.readTasks([runId])).length === 1);

    const near = await connectWorker(holder.host);
    const task = await near.next();

    expect(task.runId).toBe(runId);
    await near.succeed(task);
    expect(await ends(holder, runId)).toBe('completed');
  });

  it('is listed on every process', async () => {
    const store = openMemoryStore();
    const [one, other] = [await start(store), await start(store)];
    const worker = await connectWorker(other.host, { name: 'afar', sdk: 'test/1' });

    const listed = await until(async () => {
      const workers = await one.host.workers.list(alice);
      return workers.length > 0 ? workers : undefined;
    });

    expect(listed).toMatchObject([
      { workerId: worker.registered.workerId, name: 'afar', state: 'active', sdk: 'test/1' },
    ]);
    await worker.close();
    await until(async () => (await one.host.workers.list(alice)).length === 0);
  });
});
