import { describe, expect, it } from 'vitest';
import type { CreationRecord } from '../../model/run-state.ts';
import type { StoredEvent } from '../../ports/store.ts';
import { createFinishedRuns } from './finished-runs.ts';

const record = (runId: string, tenant = 'default'): CreationRecord =>
  ({ runId, tenant, engineVersion: 1, inputs: {}, configurable: {} }) as unknown as CreationRecord;
const log: StoredEvent[] = [{ seq: 0, type: 'run.completed', at: 0, payload: '{}' }];

let now = 0;

describe('finished runs', () => {
  it('are given to their own tenant only', () => {
    const runs = createFinishedRuns(100_000, () => now);

    runs.put(record('a'), 'completed', log);

    expect(runs.get('a', 'default')?.events).toEqual(log);
    expect(runs.get('a', 'other')).toBeUndefined();
  });

  it('are forgotten oldest first when they take too much room', () => {
    const runs = createFinishedRuns(20_000, () => now);

    for (let index = 0; index < 100; index += 1) runs.put(record(`run-${index}`), 'completed', log);

    expect(runs.get('run-0', 'default')).toBeUndefined();
    expect(runs.get('run-99', 'default')).toBeDefined();
  });

  it('are not kept when one alone would push out many others', () => {
    const runs = createFinishedRuns(20_000, () => now);

    runs.put(record('big'), 'completed', [{ ...log[0], payload: 'x'.repeat(10_000) } as StoredEvent]);

    expect(runs.get('big', 'default')).toBeUndefined();
  });

  it('are counted with what they were started with', () => {
    const runs = createFinishedRuns(20_000, () => now);
    const list = Array.from({ length: 1_000 }, () => ({}));

    runs.put({ ...record('inputs'), inputs: { list } }, 'completed', log);
    runs.put({ ...record('options'), configurable: { list } }, 'completed', log);

    expect(runs.get('inputs', 'default')).toBeUndefined();
    expect(runs.get('options', 'default')).toBeUndefined();
  });

  it('are kept for a moment only, because another process may remove them', () => {
    const runs = createFinishedRuns(100_000, () => now);
    runs.put(record('a'), 'completed', log);

    now += 5_000;

    expect(runs.get('a', 'default')).toBeUndefined();
  });
});
