import { describe, expect, it } from 'vitest';
import { WORKLOADS } from '../load/workloads.ts';
import { eventsOf, batchesOf } from './rows.ts';

describe('the rows of the bare sketch', () => {
  it.each(WORKLOADS)('number two per node and two for the run in workload $name', (workload) => {
    const events = eventsOf(workload, 0);

    expect(events).toHaveLength(2 * workload.nodes + 2);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
  });

  it.each(WORKLOADS)(
    'are durable before every effect of workload $name, and otherwise one commit',
    (workload) => {
      const events = eventsOf(workload, 0);

      const batches = batchesOf(workload, events);

      expect(batches.flat()).toEqual(events);
      expect(batches).toHaveLength(workload.effects ? workload.nodes + 1 : 1);
    },
  );
});
