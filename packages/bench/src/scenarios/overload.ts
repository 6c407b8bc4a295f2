import { setTimeout as pause } from 'node:timers/promises';
import { KEY, weft } from '../hosts/contenders.ts';
import { startDriver } from '../load/driver.ts';
import { type Lab, type Scenario, sized } from '../measuring/scenario.ts';
import { startSampler } from '../measuring/sampler.ts';
import { createTally } from '../measuring/tally.ts';
import { workloadOf } from '../load/workloads.ts';

/** Marks an operator would set for a small machine, so that the flood reaches them within seconds. */
function marks(lab: Lab): Readonly<Record<string, string>> {
  const [live, pending] = sized(lab, [1_000, 3_000], [100, 200]);
  return { WEFT_MAX_LIVE_RUNS: String(live), WEFT_MAX_PENDING_RUNS: String(pending) };
}

export const overload: Scenario = {
  name: 'overload',
  title: 'A flood of new runs that ignores every refusal',
  rawLimit: 'memory when the first refusal was sent; reads without the flood',
  goals: [],
  async measure(lab) {
    const server = await weft.start({ folder: lab.newFolder('overload') }, lab.echo, marks(lab));
    lab.cleanUp(() => server.stop());
    const target = { port: server.port, key: KEY };
    const prober = startDriver();
    lab.cleanUp(() => prober.close());
    const ms = sized(lab, 20_000, 6_000);
    const { workflowId } = workloadOf('E');
    await lab.driver.load({ kind: 'runs', target, workflowId, clients: 16, ms: lab.cellMs });

    const readPath = '/v1/host/weft/runs?limit=1';
    const calm = await prober.probe({ kind: 'probe', target, path: readPath });
    await pause(lab.cellMs);
    const readsBefore = await calm.stop();
    const rss = startSampler({ title: 'memory in a flood', unit: 'MiB' }, 100, () =>
      mebibytes(server.rssBytes()),
    );
    const reads = await prober.probe({ kind: 'probe', target, path: readPath });
    const flood = await lab.driver.flood({ kind: 'flood', target, workflowId, clients: 128, ms });
    const readsDuring = await reads.stop();
    const series = rss.stop();

    const tally = createTally();
    const put = (key: string, title: string, unit: string, value: number | undefined) =>
      tally.add(`overload/${key}`, { title, unit, better: 'less' }, value);
    tally.add('overload/accepted', { title: 'accepted', unit: 'runs', better: 'more' }, flood.accepted);
    put('refused', 'refused with 429 or 503', 'requests', flood.refused);
    put('unspecified', 'refused without Retry-After', 'requests', flood.unspecified);
    put(
      'others',
      'any other answer',
      'requests',
      Object.values(flood.others).reduce((sum, n) => sum + n, 0),
    );
    put('first', 'first refusal after', 's', (flood.firstRefusalMs ?? Number.NaN) / 1000);
    const at = (seconds: number) => series.points.findLast(([time]) => time <= seconds)?.[1];
    put('memory', 'memory at the end of the flood', 'MiB', series.points.at(-1)?.[1]);
    if (flood.firstRefusalMs !== undefined)
      tally.against('overload/memory', 'at the first refusal', at(flood.firstRefusalMs / 1000));
    put('reads', 'reads during the flood, p50', 'ms', readsDuring.p50Ms);
    tally.against('overload/reads', 'without the flood', readsBefore.p50Ms);
    return { figures: tally.figures(), series: [series] };
  },
};

function mebibytes(bytes: number | undefined): number | undefined {
  return bytes === undefined ? undefined : Math.round((bytes / 2 ** 20) * 10) / 10;
}
