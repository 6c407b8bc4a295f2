import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import { abandonRequests } from './abandoned-requests.ts';
import type { UnexpectedExit } from '../checking/history.ts';
import { NodeNotReadyError, type Stopped } from './node-process.ts';
import type { Random } from '../random.ts';
import type { Receipts } from '../workload/receipts.ts';
import { type Fault, type FaultKind, type PlannedFault, skewOf } from './schedule.ts';

/** Lets things go wrong as planned, and puts everything right again in the end. */
export interface FaultInjector {
  /** Resolves when the last fault is over and every process runs again. */
  run(): Promise<void>;
  readonly injected: Readonly<Record<string, number>>;
  /** Processes that did not come back. */
  readonly failures: readonly UnexpectedExit[];
  /** Starts the process with the clock that the seed gives it. */
  start(place: number, maxPages?: number): Promise<void>;
}

export interface FaultInjectorOptions {
  readonly cluster: Cluster;
  readonly faults: readonly PlannedFault[];
  readonly random: Random;
  readonly receipts: Receipts;
  readonly workflows: readonly string[];
  readonly note: (line: string) => void;
}

/** Of the SQLite file's present size: soon reached, and never below what is there. */
const ROOM_PAGES = 12;
const ABANDONED_RUNS = 50;
const EXIT_UNUSABLE = 3;
const MOST_STARTS = 20;
const START_PAUSE_MS = 250;
/** Instead of a number of a process. */
const DATABASE = -1;
/** How long after the last planned fault one that had to wait for its turn may still begin. */
const LATEST_MS = 1_000;

type Counted = FaultKind | 'skipped' | 'start repeated' | 'ended by a crashing run';

export function createFaultInjector(options: FaultInjectorOptions): FaultInjector {
  const { cluster, faults, random, receipts, note } = options;
  const injected: Partial<Record<Counted, number>> = {};
  const starts = new Map<number, number>();
  const failures: UnexpectedExit[] = [];
  /** By place: one process or database suffers one thing after the other. */
  const lanes = new Map<number, Promise<void>>();

  function inLane(place: number, action: () => Promise<void> | void): void {
    lanes.set(place, (lanes.get(place) ?? Promise.resolve()).then(action));
  }

  cluster.onCrash((place) => {
    count('ended by a crashing run');
    inLane(place, async () => {
      if (!cluster.node(place).isAlive()) await start(place);
    });
  });

  async function start(place: number, maxPages?: number): Promise<void> {
    const number = (starts.get(place) ?? 0) + 1;
    starts.set(place, number);
    const skewMs = cluster.places === 1 ? 0 : skewOf(random, place, number);
    for (let tries = 1; ; tries += 1) {
      try {
        return await cluster.start(place, { skewMs, ...(maxPages !== undefined && { maxPages }) });
      } catch (error) {
        // A host whose store fails it at the start says so and exits; its supervisor starts it again.
        // And a crashing run may end it before it is ready.
        const isUsual =
          error instanceof NodeNotReadyError && (error.exitCode === EXIT_UNUSABLE || error.exitCode === null);
        if (!isUsual || tries === MOST_STARTS) throw error;
        count('start repeated');
        await pause(START_PAUSE_MS);
      }
    }
  }

  async function inject(fault: Fault): Promise<void> {
    switch (fault.kind) {
      case 'kill':
        await cluster.node(fault.place).kill();
        await pause(fault.downMs);
        return await start(fault.place);
      case 'drain':
        noteStop(fault.place, await cluster.node(fault.place).stop());
        await pause(fault.downMs);
        return await start(fault.place);
      case 'freeze':
        cluster.node(fault.place).freeze();
        await pause(fault.forMs);
        return cluster.node(fault.place).thaw();
      case 'database':
        await cluster.database?.stop(fault.how);
        await pause(fault.downMs);
        return await cluster.database?.start();
      case 'cut':
        return cluster.proxy(fault.place)?.cutNext(fault.moment, fault.count);
      case 'reset':
        return cluster.proxy(fault.place)?.reset();
      case 'full':
        return await fillStore(fault.place, fault.forMs);
      case 'abandon':
        return await abandonRequestsTo(fault.place, fault.clients);
    }
  }

  /** A host exits on SIGTERM, whatever its store does, unless a crashing run is faster. */
  function noteStop(place: number, { code, wasForced }: Stopped): void {
    if (code === null && !wasForced) count('ended by a crashing run');
    else if (code !== 0) failures.push({ place, code, lastOutput: 'did not exit cleanly on SIGTERM' });
  }

  async function fillStore(place: number, forMs: number): Promise<void> {
    const proxy = cluster.proxy(place);
    if (proxy !== undefined) {
      proxy.fill();
      await pause(forMs);
      return proxy.empty();
    }
    await cluster.node(place).kill();
    await start(place, cluster.pages() + ROOM_PAGES);
    await pause(forMs * 2);
    await cluster.node(place).kill();
    await start(place);
  }

  async function abandonRequestsTo(place: number, clients: number): Promise<void> {
    await abandonRequests({
      port: cluster.port(place),
      apiKey: cluster.apiKey,
      clients,
      random: random.fork(`abandon ${clients} ${injected.abandon ?? 0}`),
      workflows: options.workflows,
      runIds: receipts.created.slice(-ABANDONED_RUNS).map(({ runId }) => runId),
    });
  }

  function count(kind: Counted): void {
    injected[kind] = (injected[kind] ?? 0) + 1;
  }

  async function injectNoted(fault: Fault): Promise<void> {
    count(fault.kind);
    note(describe(fault));
    try {
      await inject(fault);
    } catch (error) {
      const lastOutput = `after ${describe(fault)}: ${error instanceof Error ? error.message : String(error)}`;
      failures.push({ place: placeOf(fault), code: null, lastOutput });
    }
  }

  /** What the proxy or other clients do needs no process of its own to come back from. */
  function needsNoRestart({ kind }: Fault): boolean {
    return (
      kind === 'abandon' || kind === 'cut' || kind === 'reset' || (kind === 'full' && cluster.places > 1)
    );
  }

  return {
    injected,
    failures,
    start,
    async run() {
      const startedAt = performance.now();
      const elapsedMs = (): number => performance.now() - startedAt;
      const lastAtMs = faults.at(-1)?.atMs ?? 0;
      const inFlight: Promise<void>[] = [];
      for (const { atMs, fault } of faults) {
        await pause(Math.max(0, atMs - elapsedMs()));
        if (needsNoRestart(fault)) {
          inFlight.push(injectNoted(fault));
          continue;
        }
        inLane(placeOf(fault), () =>
          elapsedMs() > lastAtMs + LATEST_MS ? count('skipped') : injectNoted(fault),
        );
      }
      await Promise.all([...inFlight, ...lanes.values()]);
      for (let place = 0; place < cluster.places; place += 1) cluster.proxy(place)?.empty();
    },
  };
}

function placeOf(fault: Fault): number {
  return fault.kind === 'database' ? DATABASE : fault.place;
}

function describe(fault: Fault): string {
  const { kind, ...rest } = fault;
  return `${kind} ${Object.entries(rest)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')}`;
}
