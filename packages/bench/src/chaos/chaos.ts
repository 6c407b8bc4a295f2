import { mkdirSync } from 'node:fs';
import { runAnswerer } from './answerer.ts';
import { runClient } from './client.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { collectRuns, settle } from './collect.ts';
import { createDirector } from './director.ts';
import type { History } from './history.ts';
import { httpClient } from './http.ts';
import type { ProxyCounts } from './postgres-proxy.ts';
import { type Random, randomOf } from './random.ts';
import { newReceipts, type Receipts } from './receipts.ts';
import { planFaults } from './schedule.ts';
import { chaosWorkflows, type ChaosWorkflows } from './workflows.ts';
import { openWorld } from './world.ts';

export interface ChaosOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly store: 'postgres' | 'sqlite';
  /** Logs of the processes and the history go here. */
  readonly folder: string;
  readonly note: (line: string) => void;
}

export interface ChaosOutcome {
  readonly history: History;
  readonly injected: Readonly<Record<string, number>>;
  readonly proxies: ProxyCounts;
  readonly features: Readonly<Record<string, number>>;
  readonly repeats: Readonly<Record<string, number>>;
}

const CLAIM_TTL_MS = 3_000;
const WORKFLOWS = 16;
const CLIENTS = 6;
const ANSWERERS = 2;
const SETTLE_WITHIN_MS = 120_000;

/** One run from start to end: cluster, workload, faults, rest, and what was left. */
export async function runChaos(options: ChaosOptions): Promise<ChaosOutcome> {
  const { seed, store, folder, note } = options;
  mkdirSync(folder, { recursive: true });
  const random = randomOf(seed);
  const world = await openWorld(random.fork('world'));
  const cluster = await openCluster({ store, folder, worldPort: world.port, claimTtlMs: CLAIM_TTL_MS });
  try {
    const workflows = chaosWorkflows(random.fork('workflows'), WORKFLOWS, world.port);
    const receipts = newReceipts();
    const faults = planFaults(random.fork('faults'), {
      store,
      places: cluster.places,
      durationMs: options.minutes * 60_000,
      claimTtlMs: CLAIM_TTL_MS,
    });
    const director = createDirector({
      cluster,
      faults,
      receipts,
      note,
      random: random.fork('director'),
      workflows: workflows.roots,
    });
    // One first: the others find the schema made.
    await director.start(0);
    await Promise.all(Array.from({ length: cluster.places - 1 }, (_, index) => director.start(index + 1)));
    await register(cluster, workflows, receipts);
    note(
      `${cluster.places} processes, ${workflows.definitions.length} workflows, ${faults.length} faults planned`,
    );
    const { runs } = await workUnderFaults({
      cluster,
      workflows,
      receipts,
      random,
      note,
      faults: () => director.run(),
    });
    const history: History = {
      seed,
      store,
      ...{ created: receipts.created, streams: receipts.streams, answers: receipts.answers },
      ...{ cancels: receipts.cancels, mishaps: receipts.mishaps },
      effects: world.seen,
      thaws: director.thaws,
      exits: [...cluster.exits, ...director.failures],
      runs,
    };
    const { injected } = director;
    return {
      history,
      injected,
      proxies: cluster.counts(),
      features: workflows.features,
      repeats: Object.fromEntries(receipts.repeats),
    };
  } finally {
    await cluster.stop();
    await world.close();
  }
}

interface Workload {
  readonly cluster: Cluster;
  readonly workflows: ChaosWorkflows;
  readonly receipts: Receipts;
  readonly random: Random;
  readonly note: (line: string) => void;
  readonly faults: () => Promise<void>;
}

async function workUnderFaults(workload: Workload): Promise<{ readonly runs: History['runs'] }> {
  const { cluster, workflows, receipts, random, note } = workload;
  const [working, answering] = [new AbortController(), new AbortController()];
  const connection = (name: string) => {
    const drawn = random.fork(`place of ${name}`);
    return httpClient(
      () => `http://127.0.0.1:${cluster.port(drawn.int(0, cluster.places - 1))}`,
      cluster.apiKey,
      receipts,
    );
  };
  const clients = Array.from({ length: CLIENTS }, (_, index) =>
    runClient({
      name: `client-${index}`,
      http: connection(`client ${index}`),
      random: random.fork(`client ${index}`),
      workflows: workflows.roots,
      receipts,
      signal: working.signal,
    }),
  );
  const answerers = Array.from({ length: ANSWERERS }, (_, index) =>
    runAnswerer({
      name: `answerer-${index}`,
      http: connection(`answerer ${index}`),
      random: random.fork(`answerer ${index}`),
      receipts,
      signal: answering.signal,
    }),
  );
  try {
    await workload.faults();
    note('the faults are over');
    working.abort();
    await Promise.all(clients);
    const reader = connection('reader');
    if (!(await settle(reader, SETTLE_WITHIN_MS, note))) note('not every run has come to its end');
    // What is answered while logs are read would be missing from them.
    answering.abort();
    await Promise.all(answerers);
    return { runs: await collectRuns(reader) };
  } finally {
    working.abort();
    answering.abort();
    await Promise.allSettled([...clients, ...answerers]);
  }
}

async function register(
  cluster: Cluster,
  { definitions }: ChaosWorkflows,
  receipts: Receipts,
): Promise<void> {
  const http = httpClient(() => `http://127.0.0.1:${cluster.port(0)}`, cluster.apiKey, receipts);
  for (const definition of definitions) {
    const answer = await http.ask('POST', '/v1/host/weft/workflows', { body: definition });
    if (answer === undefined || answer.status >= 300)
      throw new Error(`${String(definition['id'])} was not registered: ${JSON.stringify(answer)}`);
  }
}
