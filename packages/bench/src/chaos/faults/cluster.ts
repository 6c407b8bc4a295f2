import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestServer, type TestServer } from '@weft/storage/postgres-test-server';
import { freePort } from '../../hosts/server-process.ts';
import { writeCrashPreload } from './crashing-workflow.ts';
import type { UnexpectedExit } from '../checking/history.ts';
import { type NodeProcess, startNode } from './node-process.ts';
import { sqlitePages } from './sqlite-pages.ts';
import { openPostgresProxy, type PostgresProxy, type ProxyCounts } from './postgres-proxy.ts';

/** The hosts under test, each behind a proxy of its own where they share a database. */
export interface Cluster {
  readonly places: number;
  readonly apiKey: string;
  readonly exits: readonly UnexpectedExit[];
  /** Called when a process has ended by the signal that a crashing run sends. */
  onCrash(listener: (place: number) => void): void;
  port(place: number): number;
  node(place: number): NodeProcess;
  /** Starts the process of this place, or starts it again. */
  start(place: number, more?: StartOptions): Promise<void>;
  proxy(place: number): PostgresProxy | undefined;
  readonly database: TestServer | undefined;
  /** What the proxies have done, together. */
  counts(): ProxyCounts;
  /** Pages of the SQLite file. */
  pages(): number;
  stop(): Promise<void>;
}

interface StartOptions {
  readonly skewMs?: number;
  readonly maxPages?: number;
}

export interface ClusterOptions {
  readonly store: 'postgres' | 'sqlite';
  readonly folder: string;
  /** Of servers that hosts may call. */
  readonly ports: readonly number[];
  readonly claimTtlMs: number;
  readonly workerLeaseMs: number;
}

const PLACES = 3;
/** How long another process may not know of a webhook yet. */
export const WEBHOOK_REFRESH_MS = 500;
/** Six hours of attempts in a few seconds. */
const DELIVERY_RETRY_SCALE = '5000';

export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const { store, folder, claimTtlMs } = options;
  const places = store === 'postgres' ? PLACES : 1;
  const apiKey = `weft_test_${randomBytes(32).toString('base64url')}`;
  const database = store === 'postgres' ? await startTestServer() : undefined;
  const proxies = await openProxies(database, places);
  const ports = await Promise.all(Array.from({ length: places }, () => freePort()));
  const nodes: NodeProcess[] = [];
  const exits: UnexpectedExit[] = [];
  const shared = sharedEnv(apiKey);
  const preload = writeCrashPreload(folder);
  let onCrash: (place: number) => void = () => undefined;
  const flags = [
    ...['--conformance', '--data', join(folder, 'data'), '--log-level', 'info', '--log-format', 'json'],
    ...['--config', writeModels(folder)],
    ...['--allow-egress', options.ports.map((port) => `127.0.0.1:${port}`).join(',')],
  ];

  function envOf(place: number, { skewMs = 0, maxPages }: StartOptions): Record<string, string> {
    const proxy = proxies[place];
    return {
      ...shared,
      WEFT_DELIVERY_TIMEOUT_MS: '800',
      WEFT_DELIVERY_LEASE_MS: '8000',
      WEFT_WEBHOOK_REFRESH_MS: String(WEBHOOK_REFRESH_MS),
      WEFT_CLAIM_TTL_MS: String(claimTtlMs),
      WEFT_WORKER_LEASE_MS: String(options.workerLeaseMs),
      WEFT_HEARTBEAT_MS: String(Math.floor(claimTtlMs / 5)),
      WEFT_TEST_CLOCK_OFFSET_MS: String(skewMs),
      WEFT_TEST_DELIVERY_HASTE: DELIVERY_RETRY_SCALE,
      ...(maxPages !== undefined && { WEFT_TEST_SQLITE_MAX_PAGES: String(maxPages) }),
      ...(proxy !== undefined && { WEFT_STORE: `postgres://weft@127.0.0.1:${proxy.port}/postgres` }),
    };
  }

  return {
    places,
    apiKey,
    exits,
    database,
    onCrash(listener) {
      onCrash = listener;
    },
    port: (place) => ports[place] ?? 0,
    node(place) {
      const node = nodes[place];
      if (node === undefined) throw new Error(`process ${place} was never started`);
      return node;
    },
    async start(place, more = {}) {
      nodes[place] = await startNode({
        port: ports[place] ?? 0,
        flags,
        env: envOf(place, more),
        logFile: join(folder, `host-${place}.log`),
        preload,
        onUnexpectedExit(code, lastOutput) {
          // Nothing but a crashing run ends a process without a code.
          if (code === null) onCrash(place);
          else exits.push({ place, code, lastOutput });
        },
      });
    },
    proxy: (place) => proxies[place],
    counts: () => sumOf(proxies.map((proxy) => proxy.counts())),
    pages: () => sqlitePages(join(folder, 'data', 'weft.db')),
    async stop() {
      await Promise.all(
        nodes.map((node) => {
          node.thaw();
          return node.stop();
        }),
      );
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await database?.remove();
    },
  };
}

/** A model that needs no network, for agents. */
function writeModels(folder: string): string {
  const file = join(folder, 'models.json');
  writeFileSync(
    file,
    JSON.stringify({ models: { providers: { mock: { kind: 'mock' } }, default: 'mock/echo' } }),
  );
  return file;
}

async function openProxies(database: TestServer | undefined, places: number): Promise<PostgresProxy[]> {
  if (database === undefined) return [];
  const { hostname, port } = new URL(database.url);
  const target = { host: hostname, port: Number(port) };
  return await Promise.all(Array.from({ length: places }, () => openPostgresProxy(target)));
}

/** Processes on one database need the same keys. */
function sharedEnv(apiKey: string): Record<string, string> {
  const { privateKey } = generateKeyPairSync('ed25519');
  return {
    WEFT_API_KEY: apiKey,
    WEFT_SECRETS_KEY: randomBytes(32).toString('base64url'),
    WEFT_AUDIT_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function sumOf(all: readonly ProxyCounts[]): ProxyCounts {
  const sum = (pick: (counts: ProxyCounts) => number): number =>
    all.reduce((total, each) => total + pick(each), 0);
  return {
    commits: sum(({ commits }) => commits),
    cut: {
      before: sum(({ cut }) => cut.before),
      during: sum(({ cut }) => cut.during),
      after: sum(({ cut }) => cut.after),
    },
    full: sum(({ full }) => full),
  };
}
