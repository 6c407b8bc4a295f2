import { KEY, weft } from '../hosts/contenders.ts';
import { median } from '../measuring/measure.ts';
import type { Series } from '../report/results.ts';
import { startSampler } from '../measuring/sampler.ts';
import { type Scenario, sized } from '../measuring/scenario.ts';
import { createTally } from '../measuring/tally.ts';
import { workloadOf } from '../load/workloads.ts';

const MIB = 2 ** 20;

export const soak: Scenario = {
  name: 'soak',
  title: 'Memory over ten minutes at half of the maximum load',
  rawLimit: 'the memory of the same process in its second and third minute',
  goals: ['G9'],
  async measure(lab) {
    const server = await weft.start({ folder: lab.newFolder('soak') }, lab.echo);
    lab.cleanUp(() => server.stop());
    const target = { port: server.port, key: KEY };
    const [a, e] = [workloadOf('A'), workloadOf('E')];
    const seconds = sized(lab, 600, 12);
    const top = await lab.driver.load({
      kind: 'runs',
      target,
      workflowId: a.workflowId,
      clients: 64,
      ms: lab.cellMs,
    });
    const perSecond = top.done / (top.elapsedMs / 1000) / 2;

    const rss = startSampler({ title: 'memory of the host', unit: 'MiB' }, 1_000, () => {
      const bytes = server.rssBytes();
      return bytes === undefined ? undefined : Math.round((bytes / MIB) * 10) / 10;
    });
    const started = performance.now();
    let runs = 0;
    while (performance.now() - started < seconds * 1000) {
      const ms = sized(lab, 5_000, 2_000);
      const base = { kind: 'runs', target, ms } as const;
      runs += (await lab.driver.load({ ...base, workflowId: a.workflowId, clients: 64, perSecond })).done;
      runs += (await lab.driver.load({ ...base, workflowId: e.workflowId, clients: 16 })).done;
    }
    const series = rss.stop();
    const tally = createTally();
    const { early, late, perMinute } = driftOf(series);
    tally.add('soak/memory', { title: 'memory in the last fifth', unit: 'MiB', better: 'less' }, late);
    tally.against('soak/memory', 'in the second fifth', early);
    tally.add(
      'soak/slope',
      { title: 'growth in the second half', unit: 'MiB/min', better: 'less' },
      perMinute,
    );
    tally.add('soak/runs', { title: 'runs done', unit: 'runs', better: 'more' }, runs);
    return { figures: tally.figures(), series: [series] };
  },
};

/** The first fifth is left out: compiled code and pools grow to their size in it. */
export function driftOf({ points }: Series): { early: number; late: number; perMinute: number } {
  const end = points.at(-1)?.[0] ?? 0;
  const between = (from: number, to: number) =>
    points.filter(([time]) => time >= end * from && time <= end * to).map(([, value]) => value);
  return {
    early: median(between(0.2, 0.4)),
    late: median(between(0.8, 1)),
    perMinute: slope(points.filter(([time]) => time >= end / 2)) * 60,
  };
}

/** Least squares. */
function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(points.map(([time]) => time));
  const y = mean(points.map(([, value]) => value));
  const above = points.reduce((sum, [time, value]) => sum + (time - x) * (value - y), 0);
  return above / points.reduce((sum, [time]) => sum + (time - x) ** 2, 0);
}
