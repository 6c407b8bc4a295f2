import { describe, expect, it } from 'vitest';
import { randomOf } from '../random.ts';
import { planFaults, skewOf } from './schedule.ts';
import { chaosWorkflows } from '../workload/workflows.ts';

const OPTIONS = { store: 'postgres', places: 3, durationMs: 60_000, claimTtlMs: 3_000 } as const;

describe('a seed', () => {
  it('fixes faults, clocks and workflows', () => {
    const twice = [1, 2].map(() => {
      const random = randomOf(7);
      return {
        faults: planFaults(random.fork('faults'), OPTIONS),
        skew: skewOf(random, 1, 2),
        workflows: chaosWorkflows(random.fork('workflows'), 8, 80),
      };
    });

    expect(twice[0]).toEqual(twice[1]);
    expect(planFaults(randomOf(8), OPTIONS)).not.toEqual(planFaults(randomOf(7), OPTIONS));
  });
});

describe('a schedule', () => {
  const planned = planFaults(randomOf(3), OPTIONS);

  it('has every kind of fault, and cuts at every moment', () => {
    const kinds = new Set(planned.map(({ fault }) => fault.kind));
    const moments = new Set(planned.flatMap(({ fault }) => (fault.kind === 'cut' ? [fault.moment] : [])));

    expect([...kinds].sort()).toEqual([
      'abandon',
      'cut',
      'database',
      'drain',
      'freeze',
      'full',
      'kill',
      'reset',
    ]);
    expect([...moments].sort()).toEqual(['after', 'before', 'during']);
  });

  it('freezes for longer than a claim lasts', () => {
    for (const { fault } of planned)
      if (fault.kind === 'freeze') expect(fault.forMs).toBeGreaterThan(OPTIONS.claimTtlMs);
  });

  it('is over in time, in order', () => {
    const times = planned.map(({ atMs }) => atMs);

    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.at(-1)).toBeLessThan(OPTIONS.durationMs);
  });

  it('has nothing for SQLite that only a database server can suffer', () => {
    const kinds = planFaults(randomOf(3), { ...OPTIONS, store: 'sqlite', places: 1 }).map(
      ({ fault }) => fault.kind,
    );

    expect([...new Set(kinds)].sort()).toEqual(['abandon', 'drain', 'full', 'kill']);
  });
});

describe('random workflows', () => {
  it('have every feature among few of them', () => {
    const { features } = chaosWorkflows(randomOf(1), 16, 80);

    expect(Object.keys(features).length).toBeGreaterThanOrEqual(17);
  });

  it('call the service under names of their own', () => {
    const { definitions } = chaosWorkflows(randomOf(1), 16, 80);
    const calls = definitions.flatMap(({ nodes }) =>
      (nodes as { id: string }[]).map(({ id }) => id).filter((id) => id.startsWith('call-')),
    );

    expect(new Set(calls).size).toBe(calls.length);
  });
});
