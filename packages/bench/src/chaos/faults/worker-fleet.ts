import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UnexpectedExit, WorkerOutage } from '../checking/history.ts';
import type { Cluster } from './cluster.ts';
import { openStallingProxy, type StallingProxy } from './stalling-proxy.ts';

/** `weft worker` in processes of their own, each behind a proxy, spread over the hosts. */
export interface WorkerFleet {
  readonly size: number;
  readonly exits: readonly UnexpectedExit[];
  /** When processes performed nothing, whatever they had begun. */
  readonly outages: readonly WorkerOutage[];
  start(worker: number): void;
  kill(worker: number): Promise<void>;
  /** SIGTERM: finishes its tasks, or leaves them to others. */
  drain(worker: number): Promise<void>;
  freeze(worker: number): void;
  thaw(worker: number): void;
  proxy(worker: number): StallingProxy;
  stop(): Promise<void>;
}

export interface FleetOptions {
  readonly cluster: Pick<Cluster, 'apiKey' | 'port' | 'places'>;
  /** Holds the node types. */
  readonly nodes: string;
  /** Of logs. */
  readonly folder: string;
}

interface Running {
  readonly child: ChildProcess;
  readonly exited: Promise<void>;
  isExpected: boolean;
  frozenAt: number | undefined;
}

const CLI = join(import.meta.dirname, '../../../../cli/bin/weft.mjs');
const WORKERS = 4;
const CONCURRENCY = 6;
const GRACE_SECONDS = 1;
const LAST_OUTPUT = 2_000;

export async function openFleet({ cluster, nodes, folder }: FleetOptions): Promise<WorkerFleet> {
  const proxies = await Promise.all(
    Array.from({ length: WORKERS }, (_, worker) =>
      openStallingProxy(() => cluster.port(worker % cluster.places)),
    ),
  );
  const running: Running[] = [];
  const exits: UnexpectedExit[] = [];
  const outages: WorkerOutage[] = [];

  function proxy(worker: number): StallingProxy {
    const found = proxies[worker];
    if (found === undefined) throw new RangeError(`there is no worker ${worker}`);
    return found;
  }

  function start(worker: number): void {
    const flags = ['--name', `worker-${worker}`, '--concurrency', String(CONCURRENCY)];
    const child = spawn(
      process.execPath,
      [CLI, 'worker', nodes, '--url', proxy(worker).url, '--grace', String(GRACE_SECONDS), ...flags],
      { env: { ...process.env, WEFT_API_KEY: cluster.apiKey }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let lastOutput = '';
    const log = (chunk: Buffer): void => {
      lastOutput = (lastOutput + chunk.toString('utf8')).slice(-LAST_OUTPUT);
      appendFileSync(join(folder, `worker-${worker}.log`), chunk);
    };
    child.stdout.on('data', log);
    child.stderr.on('data', log);
    const endWithUs = (): void => void child.kill('SIGKILL');
    process.on('exit', endWithUs);
    const exited = new Promise<void>((resolve) =>
      child.once('exit', (code) => {
        process.off('exit', endWithUs);
        outages.push({ pid: child.pid ?? 0, from: Date.now(), to: Number.MAX_SAFE_INTEGER });
        if (!one.isExpected) exits.push({ place: `worker-${worker}`, code, lastOutput });
        resolve();
      }),
    );
    const one: Running = { child, exited, isExpected: false, frozenAt: undefined };
    running[worker] = one;
  }

  function at(worker: number): Running {
    const found = running[worker];
    if (found === undefined) throw new Error(`worker ${worker} was never started`);
    return found;
  }

  async function end(worker: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const one = at(worker);
    one.isExpected = true;
    one.child.kill(signal);
    await one.exited;
  }

  function thaw(worker: number): void {
    const one = at(worker);
    one.child.kill('SIGCONT');
    if (one.frozenAt !== undefined)
      outages.push({ pid: one.child.pid ?? 0, from: one.frozenAt, to: Date.now() });
    one.frozenAt = undefined;
  }

  for (let worker = 0; worker < WORKERS; worker += 1) start(worker);
  return {
    size: WORKERS,
    exits,
    outages,
    start,
    kill: (worker) => end(worker, 'SIGKILL'),
    drain: (worker) => end(worker, 'SIGTERM'),
    freeze(worker) {
      at(worker).child.kill('SIGSTOP');
      at(worker).frozenAt = Date.now();
    },
    thaw,
    proxy,
    async stop() {
      for (const each of proxies) each.resume();
      await Promise.all(
        running.map((_, worker) => {
          thaw(worker);
          return end(worker, 'SIGKILL');
        }),
      );
      await Promise.all(proxies.map((each) => each.close()));
    },
  };
}
