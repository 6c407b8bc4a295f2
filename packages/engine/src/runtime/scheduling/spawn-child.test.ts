import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CreationRecord } from '../../model/run-state.ts';
import { compile, simulate } from '../../core/testing/simulation.ts';
import { node } from '../../core/testing/definitions.ts';
import { DEFAULT_LIMITS } from '../../host/limits.ts';
import { createSpawnChild, type SpawnRequest } from './spawn-child.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const plan = compile({ nodes: [node('only', 'core.noop')] }, 'child');
const parent: CreationRecord = simulate({ nodes: [node('sub', 'core.noop')] }).record;
const WORKFLOW = {
  tenant: 'default',
  id: 'child',
  version: '1.0',
  digest: plan.digest,
  registeredAt: 0,
  current: true,
};

const request = (rest: Partial<SpawnRequest> = {}): SpawnRequest => ({
  key: 'sub',
  nodeId: 'sub',
  childRunId: '01890000-0000-7000-8000-00000000000c',
  spec: { workflowId: 'child', inputs: {}, outputMapping: {}, propagateCancellation: true },
  traceparent: '00-00000000000000000000000000000001-0000000000000001-01',
  epoch: 1,
  isAwaited: () => true,
  ...rest,
});

/** A store that no one reaches until `backAt`. */
function withOutage(backAt: number) {
  const created: string[] = [];
  let reads = 0;
  const spawn = createSpawnChild({
    store: {
      readRun() {
        reads += 1;
        return Date.now() < backAt ? Promise.reject(new Error('no connection')) : Promise.resolve(undefined);
      },
      readWorkflow: () => Promise.resolve(WORKFLOW),
    },
    plans: { get: () => Promise.resolve(plan), keep: () => undefined },
    limits: DEFAULT_LIMITS,
    log: () => undefined,
    now: () => Date.now(),
    create(_plan, record) {
      created.push(record.runId);
      return Promise.resolve({ state: 'committed' });
    },
  });
  return { spawn, created, reads: () => reads };
}

describe('the creation of a child run', () => {
  it('waits for a store that is away for minutes', async () => {
    const { spawn, created } = withOutage(Date.now() + 3 * 60_000);
    const ended = vi.fn();

    void spawn(parent, request()).then(ended);
    await vi.advanceTimersByTimeAsync(3 * 60_000 - 1);
    expect(created).toEqual([]);
    await vi.advanceTimersByTimeAsync(10_000);

    expect(created).toEqual([request().childRunId]);
    expect(ended).toHaveBeenCalledWith(undefined);
  });

  it('is given up, and says so, when the store stays away', async () => {
    const { spawn, created } = withOutage(Number.POSITIVE_INFINITY);
    const ended = vi.fn();

    void spawn(parent, request()).then(ended);
    await vi.advanceTimersByTimeAsync(20 * 60_000);

    expect(created).toEqual([]);
    expect(ended).toHaveBeenCalledWith(expect.objectContaining({ code: 'child_missing' }));
  });

  it('is left to the next holder when this one has let the parent go', async () => {
    const { spawn, created, reads } = withOutage(Date.now() + 2_000);
    let isHeld = true;

    void spawn(parent, request({ isAwaited: () => isHeld }));
    await vi.advanceTimersByTimeAsync(700);
    isHeld = false;
    const before = reads();
    await vi.advanceTimersByTimeAsync(60_000);

    expect(reads()).toBe(before);
    expect(created).toEqual([]);
  });
});
