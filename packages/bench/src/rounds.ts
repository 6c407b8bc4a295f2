import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { KEY, type Contender } from './contenders.ts';
import { databaseBytes } from './database-bytes.ts';
import type { Driver } from './driver.ts';
import type { EchoServer } from './echo-server.ts';
import { percentile } from './measure.ts';
import { measureGroupCommit } from './raw/group-commit.ts';
import { freePort, startServer, type ServerProcess } from './server-process.ts';
import { WORKLOADS, type Workload } from './workloads.ts';

/** One figure of one round. Figures with the same key are merged by their median. */
export interface Sample {
  readonly subject: string;
  readonly workload: string;
  readonly clients: number;
  readonly measure:
    | 'perSecond'
    | 'p50Ms'
    | 'p99Ms'
    | 'cpuMsPerRun'
    | 'commitsPerRun'
    | 'bytesPerRun'
    | 'refusals';
  readonly value: number;
}

export interface Bench {
  readonly folder: string;
  readonly driver: Driver;
  readonly echo: EchoServer;
  readonly contenders: readonly Contender[];
  readonly clients: readonly number[];
  readonly cellMs: number;
  /** File size of each contender's folder before any run. */
  readonly emptyBytes: ReadonlyMap<string, number>;
  note(line: string): void;
}

/**
 * One round measures everything once, contenders and raw limits side by side, so that a slow minute of the machine slows
 * all of them. The order of the contenders turns with the round.
 */
export async function measureRound(bench: Bench, round: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const workload of WORKLOADS) {
    bench.note(`round ${round + 1}: workload ${workload.name} (${workload.title})`);
    samples.push(...(await measureWorkload(bench, round, workload)));
  }
  bench.note(`round ${round + 1}: raw limits`);
  samples.push(...(await measureRawLimits(bench, round)));
  return samples;
}

/** Size of each contender's folder after a start and a stop without runs. */
export async function measureEmpty(bench: Omit<Bench, 'emptyBytes'>): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const contender of bench.contenders) {
    const folder = newFolder(bench.folder, `empty-${contender.name}`);
    const server = await contender.start(folder, bench.echo);
    await server.stop();
    sizes.set(contender.name, databaseBytes(folder));
  }
  return sizes;
}

interface Entry {
  readonly contender: Contender;
  readonly server: ServerProcess;
  readonly folder: string;
  runs: number;
}

async function measureWorkload(bench: Bench, round: number, workload: Workload): Promise<Sample[]> {
  const order = round % 2 === 0 ? bench.contenders : bench.contenders.toReversed();
  const entries: Entry[] = [];
  const samples: Sample[] = [];
  try {
    for (const contender of order) {
      const folder = newFolder(bench.folder, `${contender.name}-${workload.name}-${round}`);
      const entry = { contender, server: await contender.start(folder, bench.echo), folder, runs: 0 };
      entries.push(entry);
      // Compiled code and warm caches are what a long-lived host has.
      entry.runs += (await drive(bench, entry, workload, 16, Math.max(500, bench.cellMs / 3))).done;
    }
    for (const clients of bench.clients) {
      for (const entry of entries) samples.push(...(await measureCell(bench, entry, workload, clients)));
    }
  } finally {
    await Promise.all(entries.map(({ server }) => server.stop()));
  }
  for (const { contender, folder, runs } of entries) {
    const grown = databaseBytes(folder) - (bench.emptyBytes.get(contender.name) ?? 0);
    samples.push(sample(contender.name, workload, 0, 'bytesPerRun', grown / runs));
  }
  return samples;
}

async function measureCell(
  bench: Bench,
  entry: Entry,
  workload: Workload,
  clients: number,
): Promise<Sample[]> {
  const { contender, server } = entry;
  const cpuBefore = server.cpuMs();
  const commitsBefore = await contender.commits(server);
  const result = await drive(bench, entry, workload, clients, bench.cellMs);
  const cpuAfter = server.cpuMs();
  const commitsAfter = await contender.commits(server);
  entry.runs += result.done;

  const of = (measure: Sample['measure'], value: number) =>
    sample(contender.name, workload, clients, measure, value);
  const samples = [
    of('perSecond', (result.done / result.elapsedMs) * 1000),
    of('p50Ms', percentile(result.latencies, 0.5)),
    of('p99Ms', percentile(result.latencies, 0.99)),
    of('refusals', result.refusals),
  ];
  if (cpuBefore !== undefined && cpuAfter !== undefined)
    samples.push(of('cpuMsPerRun', (cpuAfter - cpuBefore) / result.done));
  if (commitsBefore !== undefined && commitsAfter !== undefined) {
    samples.push(of('commitsPerRun', (commitsAfter - commitsBefore) / result.done));
  }
  return samples;
}

function drive(bench: Bench, entry: Entry, workload: Workload, clients: number, ms: number) {
  const target = { port: entry.server.port, key: KEY };
  return bench.driver.run({ kind: 'runs', target, workflowId: workload.workflowId, clients, ms });
}

async function measureRawLimits(bench: Bench, round: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  const folder = newFolder(bench.folder, `raw-${round}`);
  for (const workload of WORKLOADS.filter(({ effects }) => !effects)) {
    for (const size of [1, 10, 100]) {
      const perSecond = measureGroupCommit(folder, workload, size, bench.cellMs / 2);
      samples.push(sample(`raw/sqlite, groups of ${size}`, workload, 0, 'perSecond', perSecond));
    }
  }
  const port = await freePort();
  const program = join(import.meta.dirname, 'raw/bare-server.js');
  const server = await startServer({ port, arguments: [program, String(port)], readyPath: '/ready' });
  try {
    for (const clients of bench.clients) {
      const job = {
        kind: 'post',
        target: { port, key: KEY },
        workflowId: '-',
        clients,
        ms: bench.cellMs / 2,
      } as const;
      const result = await bench.driver.run(job);
      const perSecond = (result.done / result.elapsedMs) * 1000;
      samples.push({
        subject: 'raw/fastify POST',
        workload: '-',
        clients,
        measure: 'perSecond',
        value: perSecond,
      });
      const p50 = percentile(result.latencies, 0.5);
      samples.push({ subject: 'raw/fastify POST', workload: '-', clients, measure: 'p50Ms', value: p50 });
    }
  } finally {
    await server.stop();
  }
  return samples;
}

function sample(
  subject: string,
  workload: Workload,
  clients: number,
  measure: Sample['measure'],
  value: number,
): Sample {
  return { subject, workload: workload.name, clients, measure, value };
}

function newFolder(parent: string, name: string): string {
  const folder = join(parent, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}
