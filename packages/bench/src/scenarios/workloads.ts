import { join } from 'node:path';
import { type Contender, KEY, type Place, sketch, weft } from '../hosts/contenders.ts';
import { databaseBytes } from '../measuring/database-bytes.ts';
import type { LoadResult } from '../measuring/jobs.ts';
import { percentile } from '../measuring/measure.ts';
import { measureGroupCommit, measurePostgresCommit } from '../raw/group-commit.ts';
import { type Lab, type Scenario, sized } from '../measuring/scenario.ts';
import { freePort, startServer, type ServerProcess } from '../hosts/server-process.ts';
import { type About, createTally, type Tally } from '../measuring/tally.ts';
import { WARM_UP } from '../measuring/warm-up.ts';
import { type Workload, WORKLOADS, workloadOf } from '../load/workloads.ts';

type StoreName = 'sqlite' | 'postgres';

const SKETCH = 'bare sketch';

/** The workloads of the spine, host and sketch in turn, so that a slow minute of the machine slows both. */
function workloadsOn(store: StoreName, clients: readonly number[], goals: readonly string[]): Scenario {
  const name = store === 'sqlite' ? 'SQLite' : 'PostgreSQL, one process';
  return {
    name: store,
    title: `Workloads A, B and E on ${name}`,
    rawLimit: 'a bare sketch on the same database: the same rows, one group commit per turn, no features',
    goals,
    async measure(lab) {
      const tally = createTally();
      const empty = await emptyBytes(lab, store);
      for (let round = 0; round < lab.rounds; round += 1) {
        for (const workload of WORKLOADS) {
          lab.note(`round ${round + 1}: workload ${workload.name} (${workload.title})`);
          await measureWorkload({ lab, tally, store, clients, empty }, workload, round);
        }
        lab.note(`round ${round + 1}: raw limits`);
        if (store === 'sqlite') await measureRawLimits(lab, tally);
        else await measureRawPostgres(lab, tally);
      }
      return { figures: [...tally.figures(), ...derived(tally, store)] };
    },
  };
}

export const sqliteWorkloads = workloadsOn('sqlite', [1, 16, 64], ['G1', 'G4', 'G5', 'G7']);
export const postgresWorkloads = workloadsOn('postgres', [1, 64], ['G2', 'G4']);

interface Setting {
  readonly lab: Lab;
  readonly tally: Tally;
  readonly store: StoreName;
  readonly clients: readonly number[];
  readonly empty: ReadonlyMap<string, number>;
}

interface Entry {
  readonly contender: Contender;
  readonly place: Place;
  readonly server: ServerProcess;
  runs: number;
}

const CONTENDERS = [sketch, weft];

async function newPlace(lab: Lab, store: StoreName, name: string): Promise<Place> {
  const folder = lab.newFolder(name);
  if (store === 'sqlite') return { folder };
  const { url, newSchema } = await lab.postgres();
  return { folder, postgres: { url, schema: newSchema() } };
}

async function bytesAt(lab: Lab, { folder, postgres }: Place): Promise<number> {
  return postgres === undefined ? databaseBytes(folder) : (await lab.postgres()).schemaBytes(postgres.schema);
}

/** Size of each contender's data after a start and a stop without runs. */
async function emptyBytes(lab: Lab, store: StoreName): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const contender of CONTENDERS) {
    const place = await newPlace(lab, store, `empty-${store}-${contender.name}`);
    const server = await contender.start(place, lab.echo);
    await server.stop();
    sizes.set(contender.name, await bytesAt(lab, place));
  }
  return sizes;
}

async function measureWorkload(setting: Setting, workload: Workload, round: number): Promise<void> {
  const { lab, tally, store, clients, empty } = setting;
  const entries: Entry[] = [];
  try {
    for (const contender of round % 2 === 0 ? CONTENDERS : CONTENDERS.toReversed()) {
      const place = await newPlace(lab, store, `${store}-${contender.name}-${workload.name}-${round}`);
      const entry = { contender, place, server: await contender.start(place, lab.echo), runs: 0 };
      entries.push(entry);
      // Not measured, but stored: they count for the bytes per run.
      entry.runs += (await drive(lab, entry, workload, WARM_UP.clients, lab.warmUpMs)).done;
    }
    for (const count of clients) {
      for (const entry of entries) await measureCell(setting, entry, workload, count);
    }
  } finally {
    await Promise.all(entries.map(({ server }) => server.stop()));
  }
  for (const { contender, place, runs } of entries) {
    const grown = (await bytesAt(lab, place)) - (empty.get(contender.name) ?? 0);
    const about: About = {
      title: `${titleOf(store, workload)}, bytes per run`,
      unit: 'bytes',
      better: 'less',
    };
    record(tally, contender, `${store}/${workload.name}/bytes`, about, grown / runs);
  }
}

async function measureCell(
  { lab, tally, store }: Setting,
  entry: Entry,
  workload: Workload,
  clients: number,
): Promise<void> {
  const { contender, server } = entry;
  const cpuBefore = server.cpuMs() ?? Number.NaN;
  const commitsBefore = (await contender.commits(server)) ?? Number.NaN;
  const result = await drive(lab, entry, workload, clients, lab.cellMs);
  const cpu = (server.cpuMs() ?? Number.NaN) - cpuBefore;
  const commits = ((await contender.commits(server)) ?? Number.NaN) - commitsBefore;
  entry.runs += result.done;

  const title = `${titleOf(store, workload)}, ${clients} ${clients === 1 ? 'client' : 'clients'}`;
  const put = (measure: string, about: Omit<About, 'title'>, value: number) =>
    record(
      tally,
      contender,
      `${store}/${workload.name}/${clients}/${measure}`,
      { title: `${title}, ${measure}`, ...about },
      value,
    );
  put('runs', { unit: 'runs/s', better: 'more' }, (result.done / result.elapsedMs) * 1000);
  put('p50', { unit: 'ms', better: 'less' }, percentile(result.latencies, 0.5));
  put('p99', { unit: 'ms', better: 'less' }, percentile(result.latencies, 0.99));
  put('CPU per run', { unit: 'ms', better: 'less' }, cpu / result.done);
  put('syncs per run', { unit: '', better: 'less' }, commits / result.done);
  if (contender.name === 'weft' && result.refusals > 0)
    put('refusals', { unit: '', better: 'less' }, result.refusals);
}

function titleOf(store: StoreName, { name }: Workload): string {
  return store === 'sqlite' ? name : `PostgreSQL, ${name}`;
}

function record(tally: Tally, contender: Contender, key: string, about: About, value: number): void {
  if (contender.name === 'weft') tally.add(key, about, value);
  else tally.against(key, SKETCH, value);
}

function drive(
  lab: Lab,
  { server }: Entry,
  workload: Workload,
  clients: number,
  ms: number,
): Promise<LoadResult> {
  const target = { port: server.port, key: KEY };
  return lab.driver.load({ kind: 'runs', target, workflowId: workload.workflowId, clients, ms });
}

async function measureRawLimits(lab: Lab, tally: Tally): Promise<void> {
  const folder = lab.newFolder('raw');
  const ms = lab.cellMs / 2;
  for (const workload of WORKLOADS.filter(({ effects }) => !effects)) {
    for (const groupSize of sized(lab, [1, 10, 100], [1, 100])) {
      const about: About = {
        title: `raw: runs of ${workload.name} committed in groups of ${groupSize}`,
        unit: 'runs/s',
        better: 'more',
      };
      const value = measureGroupCommit(folder, { workload, groupSize, ms });
      tally.add(`sqlite/raw/${workload.name}/groups-${groupSize}`, about, value);
    }
  }
  const port = await freePort();
  const program = join(import.meta.dirname, '../raw/bare-server.js');
  const server = await startServer({ port, arguments: [program, String(port)], readyPath: '/ready' });
  try {
    for (const clients of [1, 64]) {
      const target = { port, key: KEY };
      const result = await lab.driver.load({ kind: 'post', target, workflowId: '-', clients, ms });
      const title = `raw: bare POST, ${clients} ${clients === 1 ? 'client' : 'clients'}`;
      const perSecond = (result.done / result.elapsedMs) * 1000;
      const more: About = { title, unit: 'requests/s', better: 'more' };
      tally.add(`sqlite/raw/post/${clients}`, more, perSecond);
      const less: About = { title: `${title}, p50`, unit: 'ms', better: 'less' };
      tally.add(`sqlite/raw/post/${clients}/p50`, less, percentile(result.latencies, 0.5));
    }
  } finally {
    await server.stop();
  }
}

async function measureRawPostgres(lab: Lab, tally: Tally): Promise<void> {
  const { url, newSchema } = await lab.postgres();
  const workload = workloadOf('A');
  for (const groupSize of [1, 100]) {
    const about: About = {
      title: `raw: runs of A committed in groups of ${groupSize}`,
      unit: 'runs/s',
      better: 'more',
    };
    const value = await measurePostgresCommit(`${url}#${newSchema()}`, {
      workload,
      groupSize,
      ms: lab.cellMs / 2,
    });
    tally.add(`postgres/raw/A/groups-${groupSize}`, about, value);
  }
}

/** Relations between figures of the same round that belong to no single cell. */
function derived(tally: Tally, store: StoreName) {
  const figures = new Map(tally.figures().map((figure) => [figure.key, figure]));
  const b = figures.get(`${store}/B/64/runs`);
  const e = figures.get(`${store}/E/64/runs`);
  const more = createTally();
  if (b !== undefined && e?.against !== undefined) {
    const about: About = { title: 'B against the sketch’s E, 64 clients', unit: 'runs/s', better: 'more' };
    for (const value of b.values) more.add(`${store}/B-against-E`, about, value);
    for (const value of e.against.values) more.against(`${store}/B-against-E`, 'sketch’s E', value);
  }
  const one = figures.get(`${store}/A/1/p50`);
  const post = figures.get(`${store}/raw/post/1/p50`);
  const commits = figures.get(`${store}/raw/A/groups-1`);
  if (one !== undefined && post !== undefined && commits !== undefined) {
    const about: About = { title: 'A, one client, p50', unit: 'ms', better: 'less' };
    for (const [round, value] of one.values.entries()) {
      more.add(`${store}/one-client`, about, value);
      const raw = 2 * (post.values[round] ?? Number.NaN) + 1000 / (commits.values[round] ?? Number.NaN);
      more.against(`${store}/one-client`, 'two bare requests and one commit', raw);
    }
  }
  return more.figures();
}
