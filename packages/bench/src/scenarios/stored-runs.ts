import { KEY, weft } from '../hosts/contenders.ts';
import { fillRuns } from '../fill/fill-runs.ts';
import { makeSeed, withStore } from '../fill/seed.ts';
import { type Lab, type Scenario, sized } from '../measuring/scenario.ts';
import type { ServerProcess } from '../hosts/server-process.ts';
import { type About, createTally } from '../measuring/tally.ts';
import { workloadOf } from '../load/workloads.ts';

const CLIENTS = 64;

export const storedRuns: Scenario = {
  name: 'stored-runs',
  title: 'Throughput of A with 1,000 and with 1,000,000 runs stored',
  rawLimit: 'the same host with the small store, in turn',
  goals: ['G9'],
  async measure(lab) {
    const [few, many] = sized(lab, [1_000, 1_000_000], [1_000, 20_000]);
    const small = await filled(lab, few);
    const large = await filled(lab, many);
    const tally = createTally();
    for (const server of [small, large]) await load(lab, server, lab.warmUpMs);
    for (let round = 0; round < lab.rounds + 2; round += 1) {
      const measured = new Map<ServerProcess, Measured>();
      for (const server of round % 2 === 0 ? [small, large] : [large, small])
        measured.set(server, await load(lab, server, lab.cellMs * 2));
      const count = many.toLocaleString('en-US');
      const other = `with ${few.toLocaleString('en-US')}`;
      const speed: About = { title: `A, 64 clients, ${count} runs stored`, unit: 'runs/s', better: 'more' };
      tally.add('stored/runs', speed, measured.get(large)?.perSecond);
      tally.against('stored/runs', other, measured.get(small)?.perSecond);
      const cpu: About = { title: `A, CPU per run, ${count} runs stored`, unit: 'ms', better: 'less' };
      tally.add('stored/cpu', cpu, measured.get(large)?.cpuMs);
      tally.against('stored/cpu', other, measured.get(small)?.cpuMs);
    }
    return { figures: tally.figures() };
  },
};

async function filled(lab: Lab, count: number): Promise<ServerProcess> {
  const started = performance.now();
  const folder = lab.newFolder(`stored-${count}`);
  const seed = await makeSeed(lab, folder, { workflowId: workloadOf('A').workflowId, status: 'completed' });
  await withStore(folder, (store) => fillRuns(store, seed, count));
  lab.note(`filled ${count} runs in ${Math.round((performance.now() - started) / 1000)} s`);
  const server = await weft.start({ folder }, lab.echo);
  lab.cleanUp(() => server.stop());
  return server;
}

interface Measured {
  readonly perSecond: number;
  readonly cpuMs: number;
}

async function load(lab: Lab, server: ServerProcess, ms: number): Promise<Measured> {
  const { workflowId } = workloadOf('A');
  const cpu = server.cpuMs() ?? Number.NaN;
  const target = { port: server.port, key: KEY };
  const result = await lab.driver.load({ kind: 'runs', target, workflowId, clients: CLIENTS, ms });
  return {
    perSecond: (result.done / result.elapsedMs) * 1000,
    cpuMs: ((server.cpuMs() ?? Number.NaN) - cpu) / result.done,
  };
}
