import { KEY, type Place, weft } from '../contenders.ts';
import { loadPeer, missingPeers, type Peer, PEERS, startPeer, titleOfPeer } from '../peers.ts';
import { type Lab, type Scenario, sized } from '../scenario.ts';
import type { ServerProcess } from '../server-process.ts';
import { type About, createTally, type Tally } from '../tally.ts';
import { type Workload, workloadOf } from '../workloads.ts';

const CLIENTS = 64;
const STORES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;
const WORKLOADS = [workloadOf('A'), workloadOf('E')];
type StoreName = keyof typeof STORES;
/** Runs per second, by workload. */
type Speeds = Map<Workload['name'], number>;

/** The host on one store, or a peer: started, given both workloads, stopped. */
interface Entrant {
  readonly key: string;
  readonly store: StoreName;
  start(place: Place): Promise<ServerProcess>;
  /** Runs per second. */
  load(server: ServerProcess, workload: Workload, ms: number): Promise<number>;
}

export const peers: Scenario = {
  name: 'peers',
  title: 'Other durable engines, A and E, 64 at a time',
  rawLimit: 'each engine with the settings named beside it; the host with its durable defaults, in turn',
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
      const speeds = new Map<string, Speeds>();
      for (const entrant of round % 2 === 0 ? entrants : entrants.toReversed()) {
        lab.note(`round ${round + 1}: ${entrant.key}`);
        speeds.set(entrant.key, await measureEntrant(lab, entrant));
      }
      for (const peer of PEERS) record(tally, peer, speeds.get(peer.store), speeds.get(peer.key));
    }
    return { figures: tally.figures() };
  },
};

/** One that breaks has no figures in this round; the others go on. */
async function measureEntrant(lab: Lab, entrant: Entrant): Promise<Speeds> {
  const speeds: Speeds = new Map();
  let server: ServerProcess | undefined;
  try {
    server = await entrant.start(await newPlace(lab, entrant));
    for (const workload of WORKLOADS) {
      await entrant.load(server, workload, lab.warmUpMs);
      speeds.set(workload.name, await entrant.load(server, workload, sized(lab, 4_000, lab.cellMs)));
    }
  } catch (error) {
    lab.note(`FAILED ${entrant.key}: ${String(error)}`);
  } finally {
    await server?.stop();
  }
  return speeds;
}

function record(tally: Tally, peer: Peer, ours: Speeds | undefined, theirs: Speeds | undefined): void {
  for (const { name } of WORKLOADS) {
    const [value, other] = [ours?.get(name), theirs?.get(name)];
    // Both or neither, so that rounds stay beside each other.
    if (value === undefined || other === undefined) continue;
    const about: About = {
      title: `${name} on ${STORES[peer.store]}, beside ${peer.name}`,
      unit: 'runs/s',
      better: 'more',
    };
    tally.add(`peers/${name}/${peer.key}`, about, value);
    tally.against(`peers/${name}/${peer.key}`, titleOfPeer(peer), other);
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
    async load({ port }, { workflowId }, ms) {
      const target = { port, key: KEY };
      const result = await lab.driver.load({ kind: 'runs', target, workflowId, clients: CLIENTS, ms });
      return (result.done / result.elapsedMs) * 1000;
    },
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
