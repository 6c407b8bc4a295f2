import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const BIN = new URL('../../bin/weft.mjs', import.meta.url).pathname;

/** A real `weft serve` in a process of its own, to be killed. */
export interface HostProcess {
  readonly url: string;
  readonly pid: number;
  /** SIGKILL: no handler runs, nothing is flushed. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGSTOP: the process is there and does nothing, until SIGCONT. */
  freeze(): void;
  thaw(): void;
  output(): string;
}

export interface HostProcessOptions {
  readonly dataFolder: string;
  readonly port: number;
  readonly apiKey: string;
  readonly flags: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A command that becomes the host, such as one that changes the user. */
  readonly behind?: readonly string[];
}

export async function startHostProcess(options: HostProcessOptions): Promise<HostProcess> {
  const url = `http://127.0.0.1:${options.port}`;
  const { behind = [], port, dataFolder, flags } = options;
  const serve = [BIN, 'serve', '--port', String(port), '--data', dataFolder, ...flags];
  const [command = '', ...args] = [...behind, process.execPath, ...serve];
  const child = spawn(command, args, {
    env: { ...process.env, ...options.env, WEFT_API_KEY: options.apiKey },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  await untilReady(url, child, () => output);
  return {
    url,
    pid: child.pid ?? 0,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async stop() {
      child.kill('SIGTERM');
      return await exited;
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    output: () => output,
  };
}

/** A free port; the host keeps it over its restarts. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}

async function untilReady(url: string, child: ChildProcess, output: () => string): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (Date.now() < deadline) {
    const ended = child.exitCode ?? child.signalCode;
    if (ended !== null) throw new Error(`the host exited with ${ended}:\n${output()}`);
    try {
      if ((await fetch(`${url}/ready`)).ok) return;
    } catch {
      // Not listening yet.
    }
    await pause(25);
  }
  child.kill('SIGKILL');
  throw new Error(`the host was not ready in time:\n${output()}`);
}
