import { existsSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { Place } from './contenders.ts';
import type { Driver } from '../load/driver.ts';
import type { EchoServer } from '../load/echo-server.ts';
import { freePort, startServer, type ServerProcess } from './server-process.ts';

/** Another durable engine, installed under packages/bench/peers, with one way to use it. */
export interface Peer {
  /** Part of the figures' keys. */
  readonly key: string;
  readonly name: string;
  /** How it is used here. */
  readonly how: string;
  /** The package whose version is shown. */
  readonly package: string;
  /** The host is put next to it on the same kind of database, where it has one. */
  readonly store: 'sqlite' | 'postgres';
  readonly program: string;
  /** For the program, after its port and the address of the echo server. */
  arguments(place: Place): readonly string[];
  readonly readyPath: string;
  /** Where a run is created and waited for over HTTP. Without it, clients live in the peer's own process. */
  ingress?(work: Work): string;
}

/** A workload, or what only some peers have. */
type Work = { readonly name: string };

export interface PeerLoad {
  readonly workload: Work;
  readonly clients: number;
  readonly ms: number;
}

const FOLDER = join(import.meta.dirname, '../../peers');
const inFolder = ({ folder }: Place) => [folder];
const inDatabase = ({ postgres }: Place) => [postgres?.url ?? '', postgres?.schema ?? ''];

const langgraph = {
  package: '@langchain/langgraph',
  store: 'sqlite',
  program: 'langgraph.mjs',
  readyPath: '/ready',
} as const;
const restate = {
  package: '@restatedev/restate-server',
  store: 'sqlite',
  program: 'restate.mjs',
  arguments: inFolder,
  readyPath: '/service-a/run',
} as const;

export const PEERS: readonly Peer[] = [
  {
    ...restate,
    key: 'restate-workflow',
    name: 'Restate workflow',
    how: 'with a key of its own',
    ingress: ({ name }) => `/workflow-${name.toLowerCase()}/{key}/run`,
  },
  {
    ...restate,
    key: 'restate-service',
    name: 'Restate service',
    how: 'without a key or a kept result',
    ingress: ({ name }) => `/service-${name.toLowerCase()}/run`,
  },
  {
    ...langgraph,
    key: 'langgraph',
    name: 'LangGraph on SQLite',
    how: 'as shipped: power loss may take the last commits',
    arguments: (place) => [...inFolder(place), 'shipped'],
  },
  {
    ...langgraph,
    key: 'langgraph-strict',
    name: 'LangGraph on SQLite, strict',
    how: 'every step synced before the next',
    arguments: (place) => [...inFolder(place), 'strict'],
  },
  {
    key: 'dbos',
    name: 'DBOS on PostgreSQL',
    how: 'as shipped',
    package: '@dbos-inc/dbos-sdk',
    store: 'postgres',
    program: 'dbos.mjs',
    arguments: inDatabase,
    readyPath: '/ready',
  },
  {
    key: 'graphile-worker',
    name: 'graphile-worker on PostgreSQL',
    how: 'a queue without history, 64 jobs at a time',
    package: 'graphile-worker',
    store: 'postgres',
    program: 'graphile-worker.mjs',
    arguments: inDatabase,
    readyPath: '/ready',
  },
];

/** Each reads one of these; the bench needs no account. */
const NO_TELEMETRY = {
  DO_NOT_TRACK: '1',
  LANGSMITH_TRACING: 'false',
  LANGCHAIN_TRACING_V2: 'false',
  NODE_ENV: 'production',
};

/** Undefined when the peers are installed and have no network; otherwise what to do. */
export function missingPeers(interfaces = networkInterfaces()): string | undefined {
  if (!existsSync(join(FOLDER, 'node_modules')))
    return 'the peers are not installed; this installs them, apart from everything else: npm ci --prefix packages/bench/peers';
  // Restate's server asks GitHub for its newest release at every start, and has no setting against it.
  const isAlone = Object.values(interfaces).every((addresses) =>
    addresses?.every(({ internal }) => internal),
  );
  return isAlone
    ? undefined
    : "a peer would call home; this leaves it nothing but loopback (as root, on Linux): unshare --net sh -c 'ip link set lo up && npm run bench -- --only peers'";
}

/** With the version that is pinned next to it. */
export function titleOfPeer({ name, how, package: from }: Peer): string {
  const text = readFileSync(join(FOLDER, 'package.json'), 'utf8');
  const { dependencies } = JSON.parse(text) as { dependencies: Readonly<Record<string, string>> };
  return `${name} (${dependencies[from] ?? 'unknown'}, ${how})`;
}

export async function startPeer(peer: Peer, place: Place, echo: EchoServer): Promise<ServerProcess> {
  const port = await freePort();
  return startServer({
    port,
    arguments: [join(FOLDER, peer.program), String(port), echo.url, ...peer.arguments(place)],
    env: NO_TELEMETRY,
    readyPath: peer.readyPath,
  });
}

export interface PeerResult {
  readonly done: number;
  /** Milliseconds in which `done` was done. */
  readonly elapsedMs: number;
}

export async function loadPeer(
  driver: Driver,
  peer: Peer,
  { port }: ServerProcess,
  { workload, clients, ms }: PeerLoad,
): Promise<PeerResult> {
  const path = peer.ingress?.(workload);
  if (path === undefined) return loadInside(port, { workload, clients, ms });
  return driver.load({ kind: 'post', target: { port, key: '-' }, workflowId: '-', path, clients, ms });
}

async function loadInside(port: number, { workload, clients, ms }: PeerLoad): Promise<PeerResult> {
  const query = `workload=${workload.name}&clients=${clients}&ms=${ms}`;
  const answer = await fetch(`http://127.0.0.1:${port}/load?${query}`);
  if (!answer.ok) throw new Error(`the peer answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as PeerResult;
}
