import { KEY, type Place, weft } from '../hosts/contenders.ts';
import { type Lab, type Scenario, sized } from '../measuring/scenario.ts';
import type { ServerProcess } from '../hosts/server-process.ts';
import { type About, createTally, type Tally } from '../measuring/tally.ts';
import { type Workload, workloadOf } from '../load/workloads.ts';

/** For each process. */
const CLIENTS = 64;
const LARGEST = 4;
const MEASURED = [workloadOf('A'), workloadOf('E')];

/**
 * Throughput is bounded by the two cores that everything shares; what must stay flat is the cost of a run. Three questions: what a
 * run costs when every process is as busy as the one was; when what the one did is shared out, so that fewer runs meet in each group
 * commit; and what the one process takes for a run when it has only that share to do.
 */
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
      const server = await weft.start(place, lab.echo, { WEFT_STORE_CONNECTIONS: '6' });
      lab.cleanUp(() => server.stop());
      servers.push(server);
      for (const workload of MEASURED)
        await load(lab, [server], { workload, clients: CLIENTS, ms: lab.warmUpMs });
    }
    // Four processes share two cores, so their compilers need longer than one's.
    for (const workload of MEASURED)
      await load(lab, servers, { workload, clients: CLIENTS * LARGEST, ms: 2 * lab.warmUpMs });
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
  const ms = sized(lab, 5_000, lab.cellMs);
  const take = (count: number, clients: number) =>
    measured(lab, servers.slice(0, count), { workload, clients, ms });
  const put = (key: string, title: string, figures: Measured, against?: Measured) => {
    for (const [measure, about] of Object.entries(aboutOf(title)) as [keyof Measured, About][]) {
      tally.add(`${key}/${measure}`, about, figures[measure]);
      if (against !== undefined) tally.against(`${key}/${measure}`, 'one process', against[measure]);
    }
  };
  for (const processes of [2, LARGEST]) {
    const key = `scale/${workload.name}/${processes}`;
    const title = `${workload.name}, ${processes} processes`;
    const share = CLIENTS / processes;
    const one = await take(1, CLIENTS);
    put(`scale/${workload.name}/1`, `${workload.name}, 1 process`, one);
    put(key, title, await take(processes, CLIENTS * processes), one);
    put(`${key}/shared`, `${title}, clients shared`, await take(processes, CLIENTS), one);
    put(`${key}/share`, `${workload.name}, 1 process with ${share} clients`, await take(1, share), one);
  }
}

function aboutOf(title: string): Record<keyof Measured, About> {
  return {
    perSecond: { title, unit: 'runs/s', better: 'more' },
    cpuMs: { title: `${title}, CPU per run of the hosts`, unit: 'ms', better: 'less' },
    databaseMs: { title: `${title}, CPU per run of PostgreSQL`, unit: 'ms', better: 'less' },
  };
}

interface Measured {
  readonly perSecond: number;
  readonly cpuMs: number;
  readonly databaseMs: number;
}

interface Load {
  readonly workload: Workload;
  readonly clients: number;
  readonly ms: number;
}

/** A process that stood idle while others were measured has dropped compiled code and tidied its heap: it is not measured at that. */
async function measured(lab: Lab, servers: readonly ServerProcess[], asked: Load): Promise<Measured> {
  await load(lab, servers, asked);
  return load(lab, servers, asked);
}

async function load(
  lab: Lab,
  servers: readonly ServerProcess[],
  { workload, clients, ms }: Load,
): Promise<Measured> {
  const postgres = await lab.postgres();
  const cpuOf = () => servers.reduce((sum, server) => sum + (server.cpuMs() ?? Number.NaN), 0);
  const [target = { port: 0, key: KEY }, ...others] = servers.map(({ port }) => ({ port, key: KEY }));
  const [cpu, database] = [cpuOf(), postgres.cpuMs() ?? Number.NaN];
  const { workflowId } = workload;
  const result = await lab.driver.load({ kind: 'runs', target, others, workflowId, clients, ms });
  return {
    perSecond: (result.done / result.elapsedMs) * 1000,
    cpuMs: (cpuOf() - cpu) / result.done,
    databaseMs: ((postgres.cpuMs() ?? Number.NaN) - database) / result.done,
  };
}
