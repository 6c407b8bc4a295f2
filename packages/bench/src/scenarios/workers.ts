import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { KEY, startWorker, weft } from '../hosts/contenders.ts';
import { loadPeer, missingPeers, type Peer, PEERS, startPeer, titleOfPeer } from '../hosts/peers.ts';
import type { ServerProcess } from '../hosts/server-process.ts';
import { registerWorkflow } from '../load/calls.ts';
import { connectIdleWorkers } from '../load/idle-workers.ts';
import { chainOf, type Step, workloadOf } from '../load/workloads.ts';
import { percentile } from '../measuring/measure.ts';
import { type Lab, type Scenario, sized } from '../measuring/scenario.ts';
import { type About, createTally, type Tally } from '../measuring/tally.ts';

/** Code of users, as one worker has it: a step that answers, and one that calls what E calls. */
const NODES = (echoUrl: string) => `
import { Agent, request } from 'node:http';
import { defineNode, Type } from '@weft/sdk/nodes';

const agent = new Agent({ keepAlive: true });
const call = () => new Promise((resolve, reject) => {
  const outgoing = request(${JSON.stringify(echoUrl)}, { agent }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (piece) => (text += piece));
    response.once('end', () => resolve(JSON.parse(text)));
  });
  outgoing.once('error', reject);
  outgoing.end();
});
const type = (typeId, run) =>
  defineNode({ typeId, version: '1.0.0', inputs: {}, outputs: { body: Type.Unknown() }, run });

export const answer = type('bench.answer', () => ({ body: { ok: true } }));
export const calling = type('bench.call', async () => ({ body: await call() }));
`;

const CLIENTS = [1, 64];
const CONCURRENCY = 256;
const IDLE = 1_000;
const E = workloadOf('E');

export interface Kind {
  readonly key: string;
  readonly title: string;
  readonly workflowId: string;
  readonly step?: Step;
}

export const HTTP: Kind = { key: 'http', title: 'core.http.request', workflowId: E.workflowId };
const ANSWER: Kind = {
  key: 'answer',
  title: 'a function that answers, in one worker',
  workflowId: 'bench-workers-answer',
  step: { typeId: 'bench.answer', config: {} },
};
const CALL: Kind = {
  key: 'call',
  title: 'a function that makes the call, in one worker',
  workflowId: 'bench-workers-call',
  step: { typeId: 'bench.call', config: {} },
};

/** E with code of a user in place of `core.http.request`. */
export const workers: Scenario = {
  name: 'workers',
  title: 'E with ten functions of a user, in one worker over loopback',
  rawLimit:
    'E with core.http.request on the same host, in turn; Restate, whose steps are user code behind HTTP',
  goals: [],
  async measure(lab) {
    const tally = createTally();
    const restate =
      missingPeers() === undefined ? PEERS.find(({ key }) => key === 'restate-workflow') : undefined;
    for (let round = 0; round < lab.rounds; round += 1) {
      lab.note(`round ${round + 1}: E with functions of a user`);
      const measured = await measureHost(lab, tally);
      if (round === 0) await measureIdle(lab, tally);
      if (restate === undefined) continue;
      lab.note(`round ${round + 1}: ${restate.key}`);
      // Steps of Restate that do the same: code of a user behind HTTP, which answers, or makes the call first.
      for (const [kind, name] of [
        [ANSWER, 'answer'],
        [CALL, 'E'],
      ] as const) {
        const theirs = await measurePeer(lab, restate, name);
        // Restate's clients send one request for a run; ours may do the same, or follow its events.
        for (const way of WAYS) {
          const key = `workers/64/${kind.key}/restate/${way.key}`;
          const title = `E, 64 clients, ${kind.title}, ${way.title}, next to Restate`;
          tally.add(key, { title, unit: 'runs/s', better: 'more' }, measured.get(kind)?.[way.key]);
          tally.against(key, titleOfPeer(restate), theirs);
        }
      }
    }
    return { figures: tally.figures() };
  },
};

/** How a client learns that its run has ended. */
type Way = 'runs' | 'waited';

const WAYS: readonly { readonly key: Way; readonly title: string }[] = [
  { key: 'runs', title: 'followed by its events' },
  { key: 'waited', title: 'in one request' },
];

/** Runs per second with 64 clients, by kind. */
async function measureHost(lab: Lab, tally: Tally): Promise<ReadonlyMap<Kind, Record<Way, number>>> {
  const folder = lab.newFolder('workers');
  const nodes = lab.newFolder('workers-nodes');
  writeFileSync(join(nodes, 'bench.mjs'), NODES(lab.echo.url));
  const host = await weft.start({ folder }, lab.echo);
  lab.cleanUp(() => host.stop());
  const worker = await startWorker(nodes, host, CONCURRENCY);
  lab.cleanUp(() => worker.stop());
  for (const kind of [ANSWER, CALL]) await register(host, kind);
  const kinds = [HTTP, ANSWER, CALL];
  for (const kind of kinds) await drive(lab, host, kind, 64, lab.warmUpMs);
  const perSecond = new Map<Kind, Record<Way, number>>();
  for (const clients of CLIENTS) {
    const measured = new Map<string, Measured>();
    for (const kind of kinds) measured.set(kind.key, await measureKind(lab, [host, worker], kind, clients));
    record(tally, { scenario: 'workers', kinds: [ANSWER, CALL], clients }, measured);
    if (clients !== 64) continue;
    for (const kind of [ANSWER, CALL]) {
      const runs = measured.get(kind.key)?.perSecond ?? Number.NaN;
      perSecond.set(kind, { runs, waited: await measureWaited(lab, host, kind) });
    }
  }
  await worker.stop();
  await host.stop();
  return perSecond;
}

async function measureWaited(lab: Lab, { port }: ServerProcess, { workflowId }: Kind): Promise<number> {
  const target = { port, key: KEY };
  const ms = sized(lab, 4_000, lab.cellMs);
  const { done, elapsedMs } = await lab.driver.load({ kind: 'waited', target, workflowId, clients: 64, ms });
  return (done / elapsedMs) * 1000;
}

/** What the host spends on workers that wait: heartbeats, of which each has one in three seconds, and nothing else per worker. */
async function measureIdle(lab: Lab, tally: Tally): Promise<void> {
  const host = await weft.start({ folder: lab.newFolder('idle-workers') }, lab.echo);
  lab.cleanUp(() => host.stop());
  const ms = sized(lab, 60_000, lab.cellMs);
  const cpuPerSecond = async () => {
    const before = host.cpuMs() ?? Number.NaN;
    await pause(ms);
    return ((host.cpuMs() ?? Number.NaN) - before) / (ms / 1_000);
  };
  const alone = await cpuPerSecond();
  lab.note(`${IDLE} idle workers`);
  const idle = await connectIdleWorkers({ port: host.port, key: KEY }, IDLE);
  lab.cleanUp(idle.close);
  const title = `CPU per second with ${IDLE} idle workers`;
  tally.add('workers/idle/cpu', { title, unit: 'ms', better: 'less' }, await cpuPerSecond());
  tally.against('workers/idle/cpu', 'the same host without workers', alone);
  tally.add(
    'workers/idle/lost',
    { title: 'idle workers lost', unit: 'workers', better: 'less' },
    idle.lost(),
  );
  idle.close();
  await host.stop();
}

export interface Measured {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Of the host and of the worker. */
  readonly cpuMs: number;
}

export async function measureKind(
  lab: Lab,
  processes: readonly [ServerProcess, ...ServerProcess[]],
  kind: Kind,
  clients: number,
): Promise<Measured> {
  const cpu = () => processes.reduce((sum, each) => sum + (each.cpuMs() ?? Number.NaN), 0);
  const before = cpu();
  const { done, elapsedMs, latencies } = await drive(
    lab,
    processes[0],
    kind,
    clients,
    sized(lab, 4_000, lab.cellMs),
  );
  return {
    perSecond: (done / elapsedMs) * 1000,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    cpuMs: (cpu() - before) / done,
  };
}

const MEASURES: Readonly<Record<keyof Measured, { readonly title: string } & Omit<About, 'title'>>> = {
  perSecond: { title: 'runs', unit: 'runs/s', better: 'more' },
  p50: { title: 'p50', unit: 'ms', better: 'less' },
  p99: { title: 'p99', unit: 'ms', better: 'less' },
  cpuMs: { title: 'CPU per run', unit: 'ms', better: 'less' },
};

/** What each kind took, next to core.http.request. */
export function record(
  tally: Tally,
  {
    scenario,
    kinds,
    clients,
  }: { readonly scenario: string; readonly kinds: readonly Kind[]; readonly clients: number },
  measured: ReadonlyMap<string, Measured>,
): void {
  for (const { key, title } of kinds) {
    for (const [name, about] of Object.entries(MEASURES)) {
      const measure = name as keyof Measured;
      const id = `${scenario}/${clients}/${key}/${measure}`;
      const text = `E, ${clients} ${clients === 1 ? 'client' : 'clients'}, ${title}, ${about.title}`;
      tally.add(id, { ...about, title: text }, measured.get(key)?.[measure]);
      tally.against(id, HTTP.title, measured.get(HTTP.key)?.[measure]);
    }
  }
}

export function drive(lab: Lab, { port }: ServerProcess, { workflowId }: Kind, clients: number, ms: number) {
  return lab.driver.load({ kind: 'runs', target: { port, key: KEY }, workflowId, clients, ms });
}

/** Refused until the worker has made its types known. */
export async function register({ port }: ServerProcess, { workflowId, title, step }: Kind): Promise<void> {
  if (step === undefined) return;
  const definition = chainOf(
    workflowId,
    title,
    Array.from({ length: E.nodes }, () => step),
  );
  for (let attempt = 0; ; attempt += 1) {
    try {
      await registerWorkflow({ port, key: KEY }, definition);
      return;
    } catch (error) {
      if (attempt === 200) throw error;
      await pause(50);
    }
  }
}

async function measurePeer(lab: Lab, peer: Peer, name: string): Promise<number> {
  const server = await startPeer(peer, { folder: lab.newFolder('workers-restate') }, lab.echo);
  lab.cleanUp(() => server.stop());
  const load = (ms: number) => loadPeer(lab.driver, peer, server, { workload: { name }, clients: 64, ms });
  await load(lab.warmUpMs);
  const { done, elapsedMs } = await load(sized(lab, 4_000, lab.cellMs));
  await server.stop();
  return (done / elapsedMs) * 1000;
}
