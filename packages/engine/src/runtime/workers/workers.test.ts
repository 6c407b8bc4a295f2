import type { JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { edge, node, type WorkflowSpec } from '../../core/testing/definitions.ts';
import type { HostOptions } from '../../host/create-host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { decorateStore } from '../../ports/decorate-store.ts';
import { alice, startHost, stranger, type TestHost, until } from '../testing/test-host.ts';
import { connectWorker, SERVED, servedType } from './testing/test-worker.ts';

const hosts: TestHost[] = [];

async function start(options: Partial<HostOptions> = {}, served = servedType()): Promise<TestHost> {
  const test = await startHost({ nodes: [served], ...options });
  hosts.push(test);
  return test;
}

afterEach(async () => {
  await Promise.all(hosts.splice(0).map(({ host }) => host.stop(0)));
});

function flow(settings: JsonObject = {}, count = 1): WorkflowSpec {
  const names = Array.from({ length: count }, (_, index) => `work${index}`);
  return {
    nodes: [node('start'), ...names.map((id) => node(id, 'test.served', {}, { settings }))],
    edges: names.map((id) => edge('start', id)),
  };
}

async function ends(test: TestHost, runId: string): Promise<string> {
  return await until(async () => {
    const status = await test.status(runId);
    return status === 'completed' || status === 'failed' || status === 'cancelled' ? status : undefined;
  });
}

async function payloads(test: TestHost, runId: string, type: string): Promise<Record<string, unknown>[]> {
  const events = await test.store.readEvents(runId, 0, 1_000, 1e9);
  return events
    .filter((event) => event.type === type)
    .map(({ payload }) => JSON.parse(payload) as Record<string, unknown>);
}

describe('a task of a worker', () => {
  it('is performed by it, and answered when its outcome is durable (H-7)', async () => {
    const test = await start();
    const worker = await connectWorker(test.host);
    const runId = await test.run(await test.register(flow()));

    const task = await worker.next();
    expect(task).toMatchObject({ nodeId: 'work0', attempt: 1, runId, config: {} });
    const receipt = await worker.succeed(task, { chargeId: 'c-1' });

    expect(receipt).toMatchObject({ refused: [] });
    expect((await payloads(test, runId, 'node.completed')).at(-1)).toMatchObject({
      outputs: { chargeId: 'c-1' },
    });
    expect(await ends(test, runId)).toBe('completed');
  });

  it('waits for a worker without a place and without its time running (H-8, W-27)', async () => {
    const test = await start({ limits: { hostConcurrency: 1 } });
    const runId = await test.run(await test.register(flow({ timeoutMs: 200 })));
    await until(() => test.host.stats()['tasksWaiting'] === 1);
    expect(test.host.stats()).toMatchObject({ effectsActive: 0, effectsQueued: 0 });
    await new Promise((resolve) => setTimeout(resolve, 250));

    const worker = await connectWorker(test.host);
    await worker.succeed(await worker.next());

    expect(await ends(test, runId)).toBe('completed');
  });

  it('takes too long only from when a worker has it, and the worker gets a stop', async () => {
    const test = await start();
    const worker = await connectWorker(test.host);
    const runId = await test.run(await test.register(flow({ timeoutMs: 30 })));
    const task = await worker.next();

    expect(await ends(test, runId)).toBe('failed');
    expect(await payloads(test, runId, 'node.failed')).toMatchObject([{ error: { code: 'node_timeout' } }]);
    expect(worker.messages).toContainEqual({
      type: 'cancel',
      taskId: task.taskId,
      lease: task.lease,
      reason: 'timeout',
    });
    expect(await worker.succeed(task)).toMatchObject({ refused: [{ error: 'stale_lease' }] });
  });

  it('fails when its code says nothing for longer than its type allows', async () => {
    const test = await start({}, servedType({ heartbeatTimeoutMs: 100 }));
    const worker = await connectWorker(test.host);
    const runId = await test.run(await test.register(flow()));
    const { taskId, lease } = await worker.next();
    await worker.report({ progress: [{ taskId, lease, details: { percent: 10 } }] });

    expect(await ends(test, runId)).toBe('failed');
    expect(await payloads(test, runId, 'node.failed')).toMatchObject([
      { error: { code: 'heartbeat_timeout', retryable: true } },
    ]);
  });

  it('is stopped at its worker when the run is cancelled, and its place is free at once', async () => {
    const test = await start();
    const worker = await connectWorker(test.host);
    const first = await test.run(await test.register(flow()));
    const task = await worker.next();
    const second = await test.run('test-workflow');

    await test.host.runs.command(alice, first, { type: 'cancel', by: 'alice' });

    const other = await worker.next();
    expect(other.runId).toBe(second);
    expect(worker.messages).toContainEqual({
      type: 'cancel',
      taskId: task.taskId,
      lease: task.lease,
      reason: 'cancelled',
    });
    await worker.succeed(other);
  });

  it('streams text, and what it logs stands before its end, also when it fails', async () => {
    const test = await start();
    const worker = await connectWorker(test.host);
    const runId = await test.run(await test.register(flow()));
    const task = await worker.next();
    const { taskId, lease } = task;

    const chunk = { taskId, lease, index: 0, text: 'half a ' };
    await worker.report({ chunks: [chunk] });
    await worker.report({ chunks: [chunk, { taskId, lease, index: 1, text: 'sentence' }] });
    await worker.report({ logs: [{ taskId, lease, level: 'info', message: 'tried', fields: { n: 1 } }] });
    await worker.fail(task, { code: 'card_declined', message: 'No.' });

    expect(await ends(test, runId)).toBe('failed');
    expect((await payloads(test, runId, 'output.chunk')).map(({ chunk: text }) => text).join('')).toBe(
      'half a sentence',
    );
    expect(await test.types(runId)).toEqual([
      'run.started',
      'node.started',
      'node.completed',
      'node.started',
      'output.chunk',
      'output.chunk',
      'log.appended',
      'node.failed',
      'run.failed',
    ]);
    expect(await payloads(test, runId, 'log.appended')).toEqual([
      { level: 'info', nodeId: 'work0', message: 'tried', fields: { n: 1 } },
    ]);
  });

  it('does not reach a worker with inputs that do not fit its type, nor a run with such outputs', async () => {
    const problem = { path: '/amount', message: 'must be a number', keyword: 'type' };
    const test = await start({}, servedType({ checkInputs: () => [problem] }));
    const other = await start({}, servedType({ checkOutputs: () => [problem] }));
    const worker = await connectWorker(other.host);

    const refused = await test.run(await test.register(flow()));
    const run = await other.run(await other.register(flow()));
    await worker.succeed(await worker.next(), { amount: 'much' });

    expect(await ends(test, refused)).toBe('failed');
    expect(await payloads(test, refused, 'node.failed')).toMatchObject([
      { error: { code: 'validation_error', details: { field: 'inputs.amount', path: '/inputs/amount' } } },
    ]);
    expect(await ends(other, run)).toBe('failed');
    expect(await payloads(other, run, 'node.failed')).toMatchObject([
      { error: { code: 'output_invalid', retryable: false, details: { field: 'outputs.amount' } } },
    ]);
  });

  it('gets its secrets, which stand in nothing that comes back', async () => {
    const test = await start({}, servedType({ secrets: ['stripe'] }));
    await test.host.secrets.set(alice, { id: 'stripe', value: 'sk-very-secret-value', scope: 'tenant' });
    const worker = await connectWorker(test.host);
    const runId = await test.run(await test.register(flow()));
    const task = await worker.next();
    expect(task.secrets).toEqual({ stripe: 'sk-very-secret-value' });
    const { taskId, lease } = task;

    await worker.report({
      chunks: [{ taskId, lease, index: 0, text: 'it is sk-very-secret-value, yes' }],
      logs: [{ taskId, lease, level: 'info', message: 'with sk-very-secret-value' }],
    });
    await worker.succeed(task, { said: 'sk-very-secret-value' });

    expect(await ends(test, runId)).toBe('completed');
    const events = await test.store.readEvents(runId, 0, 100, 1e9);
    expect(JSON.stringify(events)).not.toContain('sk-very-secret-value');
    expect(events.map(({ type }) => type)).toContain('log.appended');
  });

  it('fails before a worker sees it when a secret is not there', async () => {
    const test = await start({}, servedType({ secrets: ['stripe'] }));
    const worker = await connectWorker(test.host);

    const runId = await test.run(await test.register(flow()));

    expect(await ends(test, runId)).toBe('failed');
    expect(worker.tasks()).toEqual([]);
  });
});

describe('workers', () => {
  it('get no more than their capacity, and the least busy one comes first (H-2)', async () => {
    const test = await start({ limits: { runConcurrency: 8 } });
    const large = await connectWorker(test.host, { capacity: 4 });
    const small = await connectWorker(test.host, { capacity: 1 });
    const id = await test.register(flow({}, 7));
    const runId = await test.run(id);
    await until(() => large.tasks().length === 4 && small.tasks().length === 1);
    expect(test.host.stats()).toMatchObject({ tasksWaiting: 2, tasksHeld: 5 });

    for (let done = 0; done < 7; done += 1) {
      const worker = done < 3 ? small : large;
      await worker.succeed(await worker.next());
    }

    expect(await ends(test, runId)).toBe('completed');
  });

  it('are offered nothing while their stream has no room (H-3)', async () => {
    const test = await start();
    const worker = await connectWorker(test.host, { capacity: 10 });
    worker.room(false);
    const runId = await test.run(await test.register(flow({}, 2)));
    await until(() => worker.tasks().length === 1);
    await until(() => test.host.stats()['tasksWaiting'] === 1);

    worker.room(true);

    await worker.succeed(await worker.next());
    await worker.succeed(await worker.next());
    expect(await ends(test, runId)).toBe('completed');
  });

  it('serve the runs of a tenant in turn (H-1)', async () => {
    const test = await start();
    const id = await test.register(flow({}, 3));
    const greedy = await test.run(id);
    await until(() => test.host.stats()['tasksWaiting'] === 3);
    const modest = await test.run(id);
    await until(() => test.host.stats()['tasksWaiting'] === 6);
    const worker = await connectWorker(test.host);

    const order: string[] = [];
    for (let count = 0; count < 6; count += 1) {
      const task = await worker.next();
      order.push(task.runId === greedy ? 'greedy' : 'modest');
      await worker.succeed(task);
    }

    expect(order).toEqual(['greedy', 'modest', 'greedy', 'modest', 'greedy', 'modest']);
    expect(await ends(test, modest)).toBe('completed');
  });

  it('of another tenant do not exist', async () => {
    const test = await start();
    const worker = await connectWorker(test.host);
    const { workerId } = worker.registered;
    const runId = await test.run(await test.register(flow()));
    const { taskId, lease } = await worker.next();

    const sink = { send: () => true, offer: () => undefined, end: () => undefined };
    expect(await test.host.workers.stream(stranger, workerId, sink)).toBeUndefined();
    expect(await test.host.workers.report(stranger, workerId, {})).toBeUndefined();
    expect(await test.host.workers.close(stranger, workerId)).toBe(false);
    expect(await test.host.workers.list(stranger)).toEqual([]);
    const other = await connectWorker(test.host, {}, stranger);
    const answer = await other.report({ results: [{ taskId, lease, outputs: { stolen: true } }] });

    expect(answer).toMatchObject({ refused: [{ taskId, error: 'stale_lease' }] });
    expect(await test.status(runId)).toBe('running');
  });

  it('cannot report tasks of each other, nor under another lease, and twice is once (H-6)', async () => {
    const test = await start();
    const [one, other] = [await connectWorker(test.host), await connectWorker(test.host)];
    const runId = await test.run(await test.register(flow()));
    const task = await one.next();

    const stolen = await other.succeed(task, { by: 'other' });
    const guessed = await one.succeed({ ...task, lease: task.lease + 1 }, { by: 'guess' });
    const [first, again] = await Promise.all([
      one.succeed(task, { by: 'one' }),
      one.succeed(task, { by: 'one' }),
    ]);

    expect(stolen?.refused).toHaveLength(1);
    expect(guessed?.refused).toHaveLength(1);
    expect(first?.refused).toEqual([]);
    expect(again?.refused).toEqual([]);
    expect((await payloads(test, runId, 'node.completed')).slice(1)).toEqual([
      { nodeId: 'work0', outputs: { by: 'one' } },
    ]);
  });

  it('that drain finish or hand back, and others continue with it', async () => {
    const test = await start({ limits: { runConcurrency: 8 } });
    const old = await connectWorker(test.host, { capacity: 2 });
    const runId = await test.run(await test.register(flow({}, 3)));
    const [first, second] = [await old.next(), await old.next()];

    await old.report({ capacity: 0, returned: [second] });
    await old.succeed(first);
    const young = await connectWorker(test.host);
    await young.succeed(await young.next());
    await young.succeed(await young.next());

    expect(await ends(test, runId)).toBe('completed');
    expect(old.tasks()).toHaveLength(2);
    expect(new Set(young.tasks().map(({ taskId }) => taskId)).has(second.taskId)).toBe(true);
  });

  it('are refused when there are too many of them', async () => {
    const test = await start({ limits: { maxWorkersPerTenant: 1 } });
    const first = await connectWorker(test.host);

    await expect(connectWorker(test.host)).rejects.toMatchObject({
      code: 'rate_limited',
      details: { scope: 'tenant', limit: 1 },
    });
    await connectWorker(test.host, {}, stranger);
    await first.close();
    await connectWorker(test.host);
  });

  it('with types that have secrets are refused where others could listen', async () => {
    const test = await start();
    const types = [{ typeId: 'acme.pay', version: '1.0.0', secrets: ['stripe'] }];

    const registering = test.host.workers.register(alice, { name: 'w', capacity: 1, types }, false);

    await expect(registering).rejects.toMatchObject({
      code: 'insecure_transport',
      details: { field: 'types.0.secrets' },
    });
  });
});

describe('a worker that is lost', () => {
  const quick = { limits: { workerLeaseMs: 80 } };

  it('loses its task to another one, under the same invocation and attempt; its answer is late (H-4, H-10)', async () => {
    const test = await start(quick);
    const dead = await connectWorker(test.host);
    const runId = await test.run(await test.register(flow()));
    const before = await dead.next();
    await dead.report({
      chunks: [{ taskId: before.taskId, lease: before.lease, index: 0, text: 'a' }],
    });

    await until(() => dead.messages.some((message) => message.type === 'close'));
    const heir = await connectWorker(test.host);
    const after = await heir.next();

    expect(after).toMatchObject({ invocationId: before.invocationId, attempt: before.attempt });
    expect(after.taskId).toBe(before.taskId);
    expect(after.lease).not.toBe(before.lease);
    expect(await dead.succeed(before)).toBeUndefined();
    const { taskId, lease } = after;
    await heir.report({
      chunks: [
        { taskId, lease, index: 0, text: 'a' },
        { taskId, lease, index: 1, text: 'b' },
      ],
    });
    expect(await heir.succeed(after)).toMatchObject({ refused: [] });
    expect(await ends(test, runId)).toBe('completed');
    expect((await payloads(test, runId, 'output.chunk')).map(({ chunk }) => chunk).join('')).toBe('ab');
    expect(await payloads(test, runId, 'node.completed')).toHaveLength(2);
  });

  it('leaves the outcome unknown where the node says that a person decides (H-10)', async () => {
    const test = await start(quick);
    const dead = await connectWorker(test.host);
    const runId = await test.run(await test.register(flow({ onUnknownOutcome: 'fail' })));
    await dead.next();

    expect(await ends(test, runId)).toBe('failed');
    expect(await payloads(test, runId, 'node.failed')).toMatchObject([
      { error: { code: 'effect_outcome_unknown' } },
    ]);
  });

  it('is followed by four others, then the attempt fails (H-10)', async () => {
    const test = await start(quick);
    const runId = await test.run(await test.register(flow()));
    for (let count = 0; count < 5; count += 1) {
      const worker = await connectWorker(test.host);
      await worker.next();
      await until(() => worker.messages.some(({ type }) => type === 'close'));
    }

    expect(await ends(test, runId)).toBe('failed');
    expect(await payloads(test, runId, 'node.failed')).toMatchObject([
      { error: { code: 'worker_lost', retryable: true } },
    ]);
  });
});

describe('a host that starts again', () => {
  it('offers what had begun once every lease has passed (H-9)', async () => {
    const store = openMemoryStore();
    const limits = { workerLeaseMs: 1_000, claimTtlMs: 500 };
    const first = await start({ store, limits });
    const before = await connectWorker(first.host);
    const runId = await first.run(await first.register(flow()));
    const task = await before.next();
    await first.host.stop(0);

    const startedAt = performance.now();
    const second = await start({ store, limits });
    const after = await connectWorker(second.host);
    await until(async () => (await after.report({})) !== undefined && after.tasks().length > 0);
    const again = await after.next();

    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990);
    expect(again).toMatchObject({ taskId: task.taskId, invocationId: task.invocationId });
    await after.succeed(again);
    expect(await ends(second, runId)).toBe('completed');
  });

  it('leaves it to the worker that still has it (H-9)', async () => {
    const store = openMemoryStore();
    const limits = { workerLeaseMs: 5_000, claimTtlMs: 500 };
    const first = await start({ store, limits });
    const before = await connectWorker(first.host);
    const runId = await first.run(await first.register(flow()));
    const { taskId, lease } = await before.next();
    await first.host.stop(0);
    expect(before.messages.at(-1)).toEqual({ type: 'close', reason: 'shutdown' });

    const second = await start({ store, limits });
    await until(async () => (await second.store.readRun(runId, undefined))?.epoch === 2);
    const after = await until(async () => {
      const worker = await connectWorker(second.host, { resume: [{ taskId, lease }] });
      return worker.registered.resumed.length > 0 ? worker : undefined;
    });

    expect(after.registered.resumed).toEqual([{ taskId, lease }]);
    const receipt = await after.report({ results: [{ taskId, lease, outputs: { kept: true } }] });
    expect(receipt?.refused).toEqual([]);
    expect(await ends(second, runId)).toBe('completed');
  });

  it('has a task wait again that no worker was given, though its outcome may not be unknown (H-13)', async () => {
    const store = openMemoryStore();
    const first = await start({ store });
    const runId = await first.run(await first.register(flow({ onUnknownOutcome: 'fail' })));
    await until(async () => (await store.readTasks([runId])).length === 1);
    await first.host.stop(0);

    const second = await start({ store });
    const worker = await connectWorker(second.host);
    await worker.succeed(await worker.next());

    expect(await ends(second, runId)).toBe('completed');
    await until(async () => (await store.readTasks([runId])).length === 0);
  });

  it('ends one as unknown that a worker was given (H-13)', async () => {
    const store = openMemoryStore();
    const limits = { workerLeaseMs: 500, claimTtlMs: 500 };
    const first = await start({ store, limits });
    const before = await connectWorker(first.host);
    const runId = await first.run(await first.register(flow({ onUnknownOutcome: 'fail' })));
    await before.next();
    await first.host.stop(0);

    const second = await start({ store, limits });
    const after = await connectWorker(second.host);

    expect(await ends(second, runId)).toBe('failed');
    expect(await payloads(second, runId, 'node.failed')).toMatchObject([
      { error: { code: 'effect_outcome_unknown' } },
    ]);
    expect(after.tasks()).toEqual([]);
  });

  it('lets go of runs that only wait for a worker at once', async () => {
    const store = openMemoryStore();
    const test = await start({ store });
    const runId = await test.run(await test.register(flow()));
    await until(() => test.host.stats()['tasksWaiting'] === 1);

    await test.host.stop(60_000);

    expect((await store.readRun(runId, undefined))?.holder).toBeUndefined();
  });
});

describe('a host that lost its claims', () => {
  it('sends no task to a worker, though one has room (H-5, W-29)', async () => {
    const store = openMemoryStore();
    let isAway = false;
    const away = decorateStore(store, {
      heartbeat: (...asked) => (isAway ? Promise.reject(new Error('away')) : store.heartbeat(...asked)),
    });
    const test = await start({ store: away, limits: { claimTtlMs: 90 } });
    await test.run(await test.register(flow()));
    await until(() => test.host.stats()['tasksWaiting'] === 1);
    const request = { name: 'w', capacity: 1, types: [SERVED] };
    const registered = await test.host.workers.register(alice, request, true);

    isAway = true;
    await until(() => test.host.stats()['holder'] === null);
    const lines: string[] = [];
    const stream = await test.host.workers.stream(alice, registered.workerId, {
      send: (line) => lines.push(line) > 0,
      offer: () => undefined,
      end: () => undefined,
    });
    stream?.ready();

    expect(stream).toBeDefined();
    expect(lines).toEqual([]);
  });
});

describe('a worker whose stream broke off', () => {
  it('keeps its tasks in a new session', async () => {
    const test = await start();
    const cut = await connectWorker(test.host);
    const runId = await test.run(await test.register(flow()));
    const { taskId, lease } = await cut.next();
    cut.disconnect();

    const back = await connectWorker(test.host, {
      resume: [
        { taskId, lease },
        { taskId: 'x', lease: 1 },
      ],
    });

    expect(back.registered.resumed).toEqual([{ taskId, lease }]);
    expect((await cut.report({ results: [{ taskId, lease, outputs: {} }] }))?.refused).toHaveLength(1);
    await back.report({ results: [{ taskId, lease, outputs: {} }] });
    expect(await ends(test, runId)).toBe('completed');
  });
});

describe('why a run does not continue', () => {
  it('says for which type and version it waits and since when, or who has its task and how far it is', async () => {
    const test = await start();
    const runId = await test.run(await test.register(flow()));
    await until(() => test.host.stats()['tasksWaiting'] === 1);

    const waiting = await test.host.runs.explain(alice, runId);
    const worker = await connectWorker(test.host, { name: 'build-7' });
    const { taskId, lease } = await worker.next();
    await worker.report({ progress: [{ taskId, lease, details: { percent: 40 } }] });
    const held = await test.host.runs.explain(alice, runId);

    expect(waiting).toMatchObject({
      waitingFor: 'worker',
      nodeId: 'work0',
      task: { typeId: 'acme.work', version: '1.0.0', since: expect.any(String) as string },
    });
    expect(waiting?.sentence).toContain('for a worker that serves acme.work 1.0.0');
    expect(held).toMatchObject({
      waitingFor: 'effect',
      task: { worker: 'build-7', progress: { details: { percent: 40 } } },
    });
    expect(held?.sentence).toContain('{"percent":40}');
  });
});
