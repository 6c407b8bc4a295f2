import { afterEach, describe, expect, it } from 'vitest';
import { edge, node } from '../../core/testing/definitions.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { Store } from '../../ports/store.ts';
import { alice, startHost, stranger, type TestHost, until } from '../testing/test-host.ts';
import { connectWorker, SERVED, servedType } from './testing/test-worker.ts';

/** What workers can make the host do, counted in calls of its store: those are what other tenants wait for. */

const MOST = 1_000;
const FLOW = { nodes: [node('start'), node('work', 'test.served')], edges: [edge('start', 'work')] };
const REGISTRATION = { name: 'hostile', capacity: 1, types: [SERVED] };

let test: TestHost;
let calls: number;

async function start(): Promise<void> {
  calls = 0;
  // Polls and heartbeats of the host itself would be counted, too.
  const limits = {
    pollMs: 3_600_000,
    heartbeatMs: 3_600_000,
    claimTtlMs: 7_200_000,
    maxWorkersPerTenant: MOST,
  };
  test = await startHost({ store: counted(openMemoryStore()), nodes: [servedType()], limits });
}

function counted(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]): unknown => {
        calls += 1;
        return Reflect.apply(member, target, given);
      };
    },
  });
}

/** How many calls of the store it took. */
async function costOf(work: () => Promise<unknown>): Promise<number> {
  const before = calls;
  await work();
  return calls - before;
}

afterEach(async () => {
  await test.host.stop(0);
});

describe('a tenant with hostile workers', () => {
  it('registers ten thousand of them: those over its limit cost nothing, and others register theirs', async () => {
    await start();
    const register = () =>
      test.host.workers.register(alice, REGISTRATION, true).then(
        () => 'accepted',
        (error: { code: string }) => error.code,
      );
    const answers: string[] = [];
    for (let at = 0; at < MOST; at += 1) answers.push(await register());

    const cost = await costOf(async () => {
      for (let at = MOST; at < 10 * MOST; at += 1) answers.push(await register());
    });

    expect(cost).toBe(0);
    expect(answers.filter((answer) => answer === 'accepted')).toHaveLength(MOST);
    expect(answers.filter((answer) => answer === 'rate_limited')).toHaveLength(9 * MOST);
    await expect(test.host.workers.register(stranger, REGISTRATION, true)).resolves.toBeDefined();
  });

  it('keeps a thousand of them idle: what they say costs nothing', async () => {
    await start();
    const workers = await Promise.all(Array.from({ length: MOST }, () => connectWorker(test.host)));

    const cost = await costOf(() => Promise.all(workers.map((worker) => worker.report({}))));

    expect(cost).toBe(0);
    expect(workers.flatMap(({ messages }) => messages)).toEqual([]);
  });

  it('reports what it does not have, by the thousand: all of it is refused, and nothing is written', async () => {
    await start();
    const victim = await connectWorker(test.host, {}, stranger);
    const workflowId = await test.register(FLOW);
    const runId = await test.run(workflowId);
    await until(() => test.host.stats()['tasksWaiting'] === 1);
    const worker = await connectWorker(test.host);
    const { taskId, lease } = await worker.next();
    const results = Array.from({ length: 1_000 }, (_, at) => ({
      taskId,
      lease: lease + 1 + at,
      outputs: {},
    }));

    const cost = await costOf(async () => {
      const own = await worker.report({ results });
      const foreign = await victim.report({ results: [{ taskId, lease, outputs: {} }] });
      expect([own?.refused.length, foreign?.refused.length]).toEqual([1_000, 1]);
    });

    expect(cost).toBe(0);
    expect(await test.status(runId)).toBe('running');
  });

  it('takes tasks and never answers: it has as many as it said, and workers of others have theirs', async () => {
    await start();
    const silent = await connectWorker(test.host, { capacity: 5 });
    const workflowId = await test.register(FLOW);
    for (let at = 0; at < 50; at += 1) await test.run(workflowId);
    await until(() => test.host.stats()['tasksWaiting'] === 45);

    const other = await connectWorker(test.host, { name: 'another' });
    const task = await other.next();

    expect(silent.tasks()).toHaveLength(5);
    expect(await other.succeed(task)).toMatchObject({ refused: [] });
    expect(silent.tasks()).toHaveLength(5);
  });

  it('does not read: no more is kept for it than one task, however many wait', async () => {
    await start();
    const deaf = await connectWorker(test.host, { capacity: 1_000 });
    deaf.room(false);
    const workflowId = await test.register(FLOW);

    for (let at = 0; at < 200; at += 1) await test.run(workflowId);
    await until(() => test.host.stats()['tasksWaiting'] === 199);

    expect(deaf.tasks()).toHaveLength(1);
    expect(test.host.stats()['tasksHeld']).toBe(1);
  });
});
