import { KEY, type Place, weft } from '../hosts/contenders.ts';
import {
  loadPeer,
  missingPeers,
  type Peer,
  type PeerResult,
  PEERS,
  startPeer,
  titleOfPeer,
} from '../hosts/peers.ts';
import { type Lab, type Scenario, sized } from '../measuring/scenario.ts';
import type { ServerProcess } from '../hosts/server-process.ts';
import { createTally, type Tally } from '../measuring/tally.ts';
import { type Workload, workloadOf } from '../load/workloads.ts';

const CLIENTS = 64;
const STORES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;
const WORKLOADS = [workloadOf('A'), workloadOf('E')];
type StoreName = keyof typeof STORES;

/** The host on one store, or a peer: started, given both workloads, stopped. */
interface Entrant {
  readonly key: string;
  readonly store: StoreName;
  start(place: Place): Promise<ServerProcess>;
  load(server: ServerProcess, workload: Workload, ms: number): Promise<PeerResult>;
}

interface Measured {
  readonly perSecond: number;
  /** Per run, of all its processes and of the database's. */
  readonly cpuMs: number;
}

type ByWorkload = Map<Workload['name'], Measured>;

export const peers: Scenario = {
  name: 'peers',
  title: 'Other durable engines, A and E, 64 at a time',
  rawLimit: 'each engine with the settings named next to it; the host with its durable defaults, in turn',
  goals: ['G3'],
  missing: missingPeers,
  async measure(lab) {
    const tally = createTally();
    const entrants = [
      hostOn(lab, 'sqlite'),
      hostOn(lab, 'postgres'),
      ...PEERS.map((peer) => from(lab, peer)),
    ];
    for (let round = 0; round < lab.rounds; round += 1) {
      const measured = new Map<string, ByWorkload>();
      for (const entrant of round % 2 === 0 ? entrants : entrants.toReversed()) {
        lab.note(`round ${round + 1}: ${entrant.key}`);
        measured.set(entrant.key, await measureEntrant(lab, entrant));
      }
      for (const peer of PEERS) record(tally, peer, measured.get(peer.store), measured.get(peer.key));
    }
    return { figures: tally.figures() };
  },
};

/** One that breaks has no figures in this round; the others continue. */
async function measureEntrant(lab: Lab, entrant: Entrant): Promise<ByWorkload> {
  const measured: ByWorkload = new Map();
  let server: ServerProcess | undefined;
  try {
    server = await entrant.start(await newPlace(lab, entrant));
    for (const workload of WORKLOADS) {
      await entrant.load(server, workload, lab.warmUpMs);
      measured.set(workload.name, await measureLoad(lab, entrant, server, workload));
    }
  } catch (error) {
    lab.note(`FAILED ${entrant.key}: ${String(error)}`);
  } finally {
    await server?.stop();
  }
  return measured;
}

async function measureLoad(
  lab: Lab,
  { store, load }: Entrant,
  server: ServerProcess,
  workload: Workload,
): Promise<Measured> {
  const database = store === 'postgres' ? await lab.postgres() : undefined;
  const cpuSoFar = () =>
    (server.cpuMs() ?? Number.NaN) + (database === undefined ? 0 : (database.cpuMs() ?? Number.NaN));
  const before = cpuSoFar();
  const { done, elapsedMs } = await load(server, workload, sized(lab, 4_000, lab.cellMs));
  return { perSecond: (done / elapsedMs) * 1000, cpuMs: (cpuSoFar() - before) / done };
}

function record(
  tally: Tally,
  peer: Peer,
  ours: ByWorkload | undefined,
  theirs: ByWorkload | undefined,
): void {
  for (const { name } of WORKLOADS) {
    const [host, other] = [ours?.get(name), theirs?.get(name)];
    // Both or neither, so that rounds stay next to each other.
    if (host === undefined || other === undefined) continue;
    const key = `peers/${name}/${peer.key}`;
    const title = `${name} on ${STORES[peer.store]}, next to ${peer.name}`;
    tally.add(key, { title, unit: 'runs/s', better: 'more' }, host.perSecond);
    tally.against(key, titleOfPeer(peer), other.perSecond);
    const cpu = { title: `${title}, CPU per run`, unit: 'ms', better: 'less' } as const;
    tally.add(`${key}/cpu`, cpu, host.cpuMs);
    tally.against(`${key}/cpu`, titleOfPeer(peer), other.cpuMs);
  }
}

async function newPlace(lab: Lab, { key, store }: Entrant): Promise<Place> {
  const folder = lab.newFolder(`peers-${key}`);
  if (store === 'sqlite') return { folder };
  const { url, newSchema } = await lab.postgres();
  return { folder, postgres: { url, schema: newSchema() } };
}

function hostOn(lab: Lab, store: StoreName): Entrant {
  return {
    key: store,
    store,
    start: (place) => weft.start(place, lab.echo),
    load: ({ port }, { workflowId }, ms) =>
      lab.driver.load({ kind: 'runs', target: { port, key: KEY }, workflowId, clients: CLIENTS, ms }),
  };
}

function from(lab: Lab, peer: Peer): Entrant {
  return {
    key: peer.key,
    store: peer.store,
    start: (place) => startPeer(peer, place, lab.echo),
    load: (server, workload, ms) => loadPeer(lab.driver, peer, server, { workload, clients: CLIENTS, ms }),
  };
}
