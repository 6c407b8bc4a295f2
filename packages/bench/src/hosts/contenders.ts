import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EchoServer } from '../load/echo-server.ts';
import { freePort, startServer, type ServerProcess } from './server-process.ts';
import { definitionOf, WORKLOADS } from '../load/workloads.ts';

/** Something that serves the workloads over HTTP and keeps its data in one place. */
export interface Contender {
  readonly name: 'weft' | 'sketch';
  /** `settings`: WEFT_* variables. */
  start(place: Place, echo: EchoServer, settings?: Readonly<Record<string, string>>): Promise<ServerProcess>;
  /** Number of durable commits so far, where the contender tells. */
  commits(server: ServerProcess): Promise<number | undefined>;
}

/** A folder; data is kept in it, unless there is a database. */
export interface Place {
  readonly folder: string;
  readonly postgres?: { readonly url: string; readonly schema: string };
}

export const KEY = 'weft_live_bench-bench-bench-bench-bench-bench-bench0';
const CLI = join(import.meta.dirname, '../../../cli/bin/weft.mjs');

export const sketch: Contender = {
  name: 'sketch',
  async start({ folder, postgres }, echo) {
    const port = await freePort();
    const program = join(import.meta.dirname, '../raw/sketch-server.js');
    const database =
      postgres === undefined ? join(folder, 'sketch.db') : `${postgres.url}#${postgres.schema}`;
    return startServer({
      port,
      arguments: [program, String(port), database, echo.url],
      readyPath: '/stats',
    });
  },
  commits: (server) => readNumber(server, '/stats', 'commits'),
};

export const weft: Contender = {
  name: 'weft',
  async start({ folder, postgres }, echo, settings = {}) {
    const port = await freePort();
    const workflows = `${folder}-workflows`;
    mkdirSync(workflows, { recursive: true });
    for (const workload of WORKLOADS) {
      writeFileSync(
        join(workflows, `${workload.workflowId}.json`),
        JSON.stringify(definitionOf(workload, echo.url)),
      );
    }
    const flags = [
      ['--port', String(port)],
      ['--data', folder],
      ['--workflows', workflows],
      ['--allow-egress', `127.0.0.1:${echo.port}`],
      postgres === undefined ? [] : ['--store', postgres.url, '--store-schema', postgres.schema],
    ];
    return startServer({
      port,
      arguments: [CLI, 'serve', ...flags.flat()],
      env: { ...settings, WEFT_API_KEY: KEY },
      readyPath: '/ready',
    });
  },
  commits: (server) => readNumber(server, '/v1/host/weft/stats', 'commits'),
};

/** `weft worker` for node types of a folder; ready when the host is. */
export function startWorker(
  folder: string,
  { port }: ServerProcess,
  concurrency: number,
): Promise<ServerProcess> {
  const url = `http://127.0.0.1:${port}`;
  return startServer({
    port,
    arguments: [CLI, 'worker', folder, '--url', url, '--concurrency', String(concurrency)],
    env: { WEFT_API_KEY: KEY },
    readyPath: '/ready',
  });
}

async function readNumber(server: ServerProcess, path: string, field: string): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${KEY}` };
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers }).catch(() => undefined);
  if (!answer?.ok) return undefined;
  const value = ((await answer.json()) as Record<string, unknown>)[field];
  return typeof value === 'number' ? value : undefined;
}
