import { describe, expect, it } from 'vitest';
import { newRunState } from '../../core/fold/blank-state.ts';
import type { LiveRun } from '../../core/decide/live-run.ts';
import type { CreationRecord } from '../../model/run-state.ts';
import { createLiveMemory, type LiveMemory } from './live-memory.ts';

const RUN = 10_000;

function recordOf(runId: string, tenant: string, bytes: number): CreationRecord {
  const inputs = bytes === 0 ? {} : { text: 'x'.repeat(bytes) };
  return { runId, tenant, inputs, configurable: {}, metadata: {} } as unknown as CreationRecord;
}

function runOf(runId: string, tenant: string, bytes = 0): LiveRun {
  const record = recordOf(runId, tenant, bytes);
  return { record, state: newRunState(new Map(), new Map(), 0) } as unknown as LiveRun;
}

function memoryOf(maxLiveBytes: number, maxLiveRuns = 1_000): LiveMemory {
  return createLiveMemory({ maxLiveBytes, maxLiveRuns });
}

describe('room in memory', () => {
  it('is had by one run in any case, and by more while they fit (W-9)', () => {
    const memory = memoryOf(300_000);
    expect(memory.hasRoomFor(recordOf('a', 't', 500_000))).toBe(true);

    memory.hold(runOf('a', 't', 100_000));

    expect(memory.hasRoomFor(recordOf('b', 't', 500_000))).toBe(false);
    expect(memory.hasRoomFor(recordOf('b', 't', 100_000))).toBe(true);
    expect(memory.hasRoomFor(recordOf('b', 'other', 170_000))).toBe(true);
    memory.release('a');
    expect(memory.loads.all()).toEqual({ units: 0, bytes: 0, tenants: 0 });
  });

  it('is left to others by a tenant that has its part (W-9)', () => {
    const memory = memoryOf(100 * RUN, 100);
    let held = 0;
    for (; memory.hasRoomFor(recordOf(`g${held}`, 'greedy', 0)); held += 1)
      memory.hold(runOf(`g${held}`, 'greedy'));

    expect(held).toBe(80);
    expect(memory.claimBounds()?.except).toEqual(['greedy']);
    expect(memory.hasRoomFor(recordOf('m', 'modest', 0))).toBe(true);
  });

  it('is counted for a claimed run before it is read, as large as it may become (W-10)', () => {
    const memory = memoryOf(1_600_000);
    expect(memory.claimBounds()).toEqual({ limit: 64, maxBytes: 100_000, except: [] });

    memory.reserve({ runId: 'a', epoch: 1, tenant: 't', bytes: 50_000 });
    expect(memory.claimBounds()?.maxBytes).toBe(50_000);
    memory.hold(runOf('a', 't', 50_000));

    expect(memory.claimBounds()?.maxBytes).toBeGreaterThan(90_000);
  });

  it('is had by a few runs above the mark to which a command was sent (W-12)', () => {
    const memory = memoryOf(RUN, 1);
    memory.hold(runOf('a', 't'));

    const admitted = Array.from({ length: 20 }, (_, index) => memory.admitCommanded(`c${index}`));
    expect(admitted.filter(Boolean)).toHaveLength(8);
    memory.release('c0');

    expect(memory.admitCommanded('late')).toBe(true);
  });

  it('is made by giving back the largest runs of those who have their part, once and no more than needed (W-11)', () => {
    const memory = memoryOf(1_000_000);
    for (const [runId, bytes] of [
      ['a1', 100_000],
      ['a2', 400_000],
      ['a3', 300_000],
    ] as const)
      memory.hold(runOf(runId, 'greedy', bytes));
    memory.hold(runOf('b', 'modest', 100_000));
    expect(memory.toGiveBack()).toEqual([]);

    memory.grew('a1', [{ seq: 1, type: 'x', at: 0, payload: 'y'.repeat(50_000) }]);

    expect(memory.toGiveBack()).toEqual([{ runId: 'a2', tenant: 'greedy' }]);
    expect(memory.toGiveBack()).toEqual([]);
    memory.release('a2');
    expect(memory.toGiveBack()).toEqual([]);
  });

  it('is counted again when a run seems to have grown much', () => {
    const memory = memoryOf(100_000_000);
    memory.hold(runOf('a', 't'));

    for (let seq = 0; seq < 100; seq += 1)
      memory.grew('a', [{ seq, type: 'x', at: 0, payload: 'y'.repeat(10_000) }]);

    // What the events replaced was not added: the state is as small as it was.
    expect(memory.loads.all().bytes).toBeLessThan(600_000);
  });
});
