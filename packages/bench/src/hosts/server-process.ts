import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A server under test: a process of its own, with what can be read of it from outside. */
export interface ServerProcess {
  readonly port: number;
  /** CPU time that it and its children used so far in milliseconds; undefined where the system does not report it. */
  cpuMs(): number | undefined;
  /** Memory in use; undefined where the system does not report it. */
  rssBytes(): number | undefined;
  stop(): Promise<void>;
  /** SIGKILL: no handler runs, nothing is flushed. */
  kill(): Promise<void>;
}

export interface Launch {
  readonly port: number;
  readonly arguments: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Answers 2xx once the server is ready. */
  readonly readyPath: string;
}

const START_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 10_000;
/** Unit of /proc/<pid>/stat; 100 per second on every Linux that Node runs on. */
const MS_PER_TICK = 10;

const running = new Set<ChildProcess>();

/** However the bench ends, no server is left behind. */
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export async function startServer(launch: Launch): Promise<ServerProcess> {
  const child = spawn(process.execPath, launch.arguments, {
    env: { ...process.env, ...launch.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-2_000);
  });
  await untilReady(child, launch, () => complaint);
  return {
    port: launch.port,
    cpuMs: () => treeCpuMs(child.pid),
    rssBytes: () => rssBytesOf(child.pid),
    stop: () => stop(child),
    async kill() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function untilReady(child: ChildProcess, launch: Launch, complaint: () => string): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (child.exitCode !== null)
      throw new Error(`${launch.arguments[0]} ended with ${child.exitCode}:\n${complaint()}`);
    const answer = await fetch(`http://127.0.0.1:${launch.port}${launch.readyPath}`).catch(() => undefined);
    if (answer?.ok) return;
    await pause(50);
  }
  child.kill('SIGKILL');
  throw new Error(`${launch.arguments[0]} was not ready within ${START_TIMEOUT_MS} ms:\n${complaint()}`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}

function cpuMsOf(pid: number | undefined): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name may hold spaces; the fields after its closing bracket do not. utime and stime are 14 and 15.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
  } catch {
    return undefined;
  }
}

/** With its children. One that has ended is in its parent's account, which `cpuMsOf` does not read, so none may end meanwhile. */
export function treeCpuMs(root: number | undefined): number | undefined {
  try {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const mine = pids.filter((pid) => Number(pid) === root || parentOf(pid) === root);
    return mine.reduce((sum, pid) => sum + (cpuMsOf(Number(pid)) ?? 0), 0);
  } catch {
    return undefined;
  }
}

function parentOf(pid: string): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

function rssBytesOf(pid: number | undefined): number | undefined {
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? undefined : Number(kib) * 1024;
  } catch {
    return undefined;
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
