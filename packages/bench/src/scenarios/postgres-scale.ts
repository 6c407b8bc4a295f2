import { KEY, type Place, weft } from '../contenders.ts';
import { type Lab, type Scenario, sized } from '../scenario.ts';
import type { ServerProcess } from '../server-process.ts';
import { type About, createTally, type Tally } from '../tally.ts';
import { type Workload, workloadOf } from '../workloads.ts';

const CLIENTS = 64;
const LARGEST = 4;
const MEASURED = [workloadOf('A'), workloadOf('E')];

/** Throughput is bounded by the two cores that everything shares; what must stay flat is the cost of a run. */
export const postgresScale: Scenario = {
  name: 'postgres-scale',
  title: 'One, two and four processes on one PostgreSQL',
  rawLimit: 'one process on the same database, in turn',
  goals: ['G12'],
  async measure(lab) {
    const { url, newSchema } = await lab.postgres();
    const place: Place = { folder: lab.newFolder('scale'), postgres: { url, schema: newSchema() } };
    const servers: ServerProcess[] = [];
    const tally = createTally();
    for (let count = 0; count < LARGEST; count += 1) {
      const server = await weft.start(place, lab.echo, ['--store-connections', '6']);
      lab.cleanUp(() => server.stop());
      servers.push(server);
      for (const workload of MEASURED) await load(lab, [server], workload, lab.warmUpMs);
    }
    for (let round = 0; round < lab.rounds; round += 1) {
      for (const workload of MEASURED) await compare(lab, tally, servers, workload);
      lab.note(`round ${round + 1} done`);
    }
    return { figures: tally.figures() };
  },
};

async function compare(
  lab: Lab,
  tally: Tally,
  servers: readonly ServerProcess[],
  workload: Workload,
): Promise<void> {
  const ms = sized(lab, 3_000, lab.cellMs);
  const one = await load(lab, servers.slice(0, 1), workload, ms);
  for (const processes of [1, 2, 4]) {
    const measured = processes === 1 ? one : await load(lab, servers.slice(0, processes), workload, ms);
    const name = `${workload.name}, ${processes} ${processes === 1 ? 'process' : 'processes'}`;
    const put = (measure: keyof Measured, about: About) => {
      const key = `scale/${workload.name}/${processes}/${measure}`;
      tally.add(key, about, measured[measure]);
      if (processes > 1) tally.against(key, 'one process', one[measure]);
    };
    put('perSecond', { title: name, unit: 'runs/s', better: 'more' });
    put('cpuMs', { title: `${name}, CPU per run of the hosts`, unit: 'ms', better: 'less' });
    put('databaseMs', { title: `${name}, CPU per run of PostgreSQL`, unit: 'ms', better: 'less' });
  }
}

interface Measured {
  readonly perSecond: number;
  readonly cpuMs: number;
  readonly databaseMs: number;
}

async function load(
  lab: Lab,
  servers: readonly ServerProcess[],
  workload: Workload,
  ms: number,
): Promise<Measured> {
  const postgres = await lab.postgres();
  const cpuOf = () => servers.reduce((sum, server) => sum + (server.cpuMs() ?? Number.NaN), 0);
  const [target = { port: 0, key: KEY }, ...others] = servers.map(({ port }) => ({ port, key: KEY }));
  const [cpu, database] = [cpuOf(), postgres.cpuMs() ?? Number.NaN];
  const { workflowId } = workload;
  const result = await lab.driver.load({ kind: 'runs', target, others, workflowId, clients: CLIENTS, ms });
  return {
    perSecond: (result.done / result.elapsedMs) * 1000,
    cpuMs: (cpuOf() - cpu) / result.done,
    databaseMs: ((postgres.cpuMs() ?? Number.NaN) - database) / result.done,
  };
}
