import { describe, expect, it } from 'vitest';
import { randomOf } from '../random.ts';
import { planWorkerFaults } from './worker-faults.ts';

const OPTIONS = { workers: 4, durationMs: 60_000, leaseMs: 1_500 };

describe('faults of workers', () => {
  const planned = planWorkerFaults(randomOf(3), OPTIONS);

  it('follow from the seed', () => {
    expect(planWorkerFaults(randomOf(3), OPTIONS)).toEqual(planned);
    expect(planWorkerFaults(randomOf(4), OPTIONS)).not.toEqual(planned);
  });

  it('have every kind, every worker, and last for less and for more than a lease', () => {
    const faults = planned.map(({ fault }) => fault);

    expect(new Set(faults.map(({ kind }) => kind))).toEqual(
      new Set(['kill', 'freeze', 'partition', 'drain']),
    );
    expect(new Set(faults.map(({ worker }) => worker)).size).toBe(OPTIONS.workers);
    expect(faults.some(({ forMs }) => forMs < OPTIONS.leaseMs)).toBe(true);
    expect(faults.some(({ forMs }) => forMs > OPTIONS.leaseMs)).toBe(true);
  });

  it('are over in time, in order', () => {
    const times = planned.map(({ atMs }) => atMs);

    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.at(-1)).toBeLessThan(OPTIONS.durationMs);
  });
});
