import { describe, expect, it } from 'vitest';
import { WORKLOADS } from '../load/workloads.ts';
import { eventsOf, stretchesOf } from './rows.ts';

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

      const stretches = stretchesOf(workload, events);

      expect(stretches.flat()).toEqual(events);
      expect(stretches).toHaveLength(workload.effects ? workload.nodes + 1 : 1);
    },
  );
});
