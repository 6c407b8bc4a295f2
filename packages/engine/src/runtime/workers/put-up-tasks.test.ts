import { describe, expect, it } from 'vitest';
import type { NodePlan } from '../../core/compile/plan.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { decorateStore } from '../../ports/decorate-store.ts';
import { SILENT } from '../../ports/log.ts';
import type { Store } from '../../ports/store.ts';
import { givenHeldRun } from '../../store-contract/fixtures.ts';
import { testClock } from '../testing/test-clock.ts';
import { createPutUpTasks, type PutUp } from './put-up-tasks.ts';
import { ServedTask, type TaskOwner } from './served-task.ts';
import { SERVED } from './testing/test-worker.ts';

const LIMITS = {
  nodeExecutions: 1,
  runDurationMs: 0,
  concurrency: 1,
  maxPayloadBytes: 1,
  maxStateBytes: 1,
  loopIterations: 1,
  clarificationRounds: 1,
};

const OWNER: TaskOwner = {
  mayLeave: () => true,
  openPorts: () => {
    throw new Error('nothing is performed here');
  },
  chunk: () => undefined,
  check: (outcome) => outcome,
  done: () => undefined,
  lost: () => undefined,
  returned: () => undefined,
};

const turns = () => new Promise((resolve) => setImmediate(resolve));

interface Given {
  readonly store: Store;
  readonly runId: string;
  readonly settings?: object;
  readonly isServedHere?: () => boolean;
  readonly heard?: Partial<Pick<PutUp, 'onBack' | 'onLost'>>;
}

function given({ store, runId, settings = {}, isServedHere = () => false, heard = {} }: Given) {
  const tasks = createPutUpTasks({
    store,
    hub: () => ({ isServedHere, drop: () => undefined }),
    directory: () => ({
      changed: () => undefined,
      isServedElsewhere: () => true,
      refresh: () => Promise.resolve(false),
      list: () => Promise.resolve([]),
      start: () => undefined,
      stop: () => Promise.resolve(),
    }),
    clock: testClock(),
    log: SILENT,
    everyMs: 1_000,
    readEveryMs: 1_000,
    waiting: () => [],
  });
  const node = { id: 'a', type: SERVED, settings } as unknown as NodePlan;
  const own: PutUp = {
    task: {
      tenant: 'acme',
      runId,
      workflowId: 'w',
      epoch: 1,
      holdsClaim: () => true,
      limits: LIMITS,
      effect: { key: 'a', node, iteration: [], attempt: 0, inputs: {}, timeoutMs: 0 },
      principal: undefined,
      configurable: {},
      done: () => undefined,
      progress: () => undefined,
      say: () => undefined,
    },
    served: new ServedTask(
      {
        taskId: 'a.1',
        tenant: 'acme',
        runId,
        ...SERVED,
        concurrency: 1,
        timeoutMs: 0,
        heartbeatTimeoutMs: 0,
        secrets: [],
        message: { workflowId: 'w', nodeId: 'a', invocationId: 'a', attempt: 1, config: {}, inputs: {} },
      },
      OWNER,
      0,
    ),
    onResult: () => undefined,
    onBack: () => undefined,
    onLost: () => true,
    ...heard,
  };
  return { tasks, own };
}

describe('a task that is taken back from the store', () => {
  it('is not put up again by those who look at the store at the same time (H-12)', async () => {
    const inner = openMemoryStore();
    const runId = await givenHeldRun(inner);
    let isServedHere = false;
    let back = 0;
    const store = decorateStore(inner, {
      // Between the moment at which it is gone and that at which it is heard of, others look.
      async withdrawTask(...asked) {
        const isGone = await inner.withdrawTask(...asked);
        void tasks.read(runId);
        await turns();
        return isGone;
      },
    });
    const { tasks, own } = given({
      ...{ store, runId, isServedHere: () => isServedHere },
      heard: {
        onBack: () => {
          back += 1;
        },
      },
    });
    expect(tasks.offer(own)).toBe(true);
    await turns();
    expect(await inner.readTasks([runId])).toHaveLength(1);

    isServedHere = true;
    await tasks.read(runId);
    for (let count = 0; count < 10; count += 1) await turns();

    expect(back).toBe(1);
    expect(await inner.readTasks([runId])).toEqual([]);
  });
});

describe('a task that may be lost but once', () => {
  it('is known to the store until it is durable that it was lost (H-13)', async () => {
    const store = openMemoryStore();
    const runId = await givenHeldRun(store);
    let settled: (() => void) | undefined;
    const onLost: PutUp['onLost'] = (_losses, isDurable) => {
      settled = isDurable;
      return false;
    };
    const settings = { onUnknownOutcome: 'fail' };
    const { tasks, own } = given({ store, runId, settings, heard: { onLost } });
    tasks.offer(own);
    await turns();
    await store.heartbeat('h2', 10_000);
    const [leased] = await store.claimTasks('h2', 'acme', [SERVED], 1);
    await store.returnTask('a.1', leased?.lease ?? 0, true);

    await tasks.read(runId);
    await turns();
    const before = await store.readTasks([runId]);
    settled?.();
    await turns();

    expect(before).toMatchObject([{ taskId: 'a.1', losses: 1 }]);
    expect(await store.readTasks([runId])).toEqual([]);
  });
});
