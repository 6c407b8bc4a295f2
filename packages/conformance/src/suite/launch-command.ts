import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createHostClient } from './host-client.ts';
import type { LaunchedHost, Launcher } from './launcher.ts';
import { createTrace } from './trace.ts';

const START_TIMEOUT_MS = 60_000;
const LOOK_EVERY_MS = 50;
/** What a process said before it ended, for the message. */
const KEPT_OUTPUT = 2_000;

/** A process that did not come up, with its last words. */
export class LaunchFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LaunchFailed';
  }
}

export interface CommandLauncher extends Launcher {
  /** As `start`, but a process that ends at once is an error: for the host that the suite itself talks to. */
  startFirst(): Promise<LaunchedHost>;
}

/**
 * Starts processes by a shell command. `{port}`, `{data}` and `{key}` in it are replaced; the key is in the environment too
 * (WEFT_API_KEY, OPENWOP_API_KEY), so that it need not stand on a command line. All processes have the same `{data}` folder and key.
 */
export async function createLauncher(command: string, signal?: AbortSignal): Promise<CommandLauncher> {
  const data = await mkdtemp(join(tmpdir(), 'weft-conformance-'));
  const key = `weft_test_${randomBytes(24).toString('hex')}`;
  const children = new Set<ChildProcess>();

  async function begin(): Promise<LaunchedHost | string> {
    const port = await freePort();
    if (signal?.aborted === true) return 'nothing: it was not started any more';
    const child = spawn('sh', ['-c', filled(command, { port: String(port), data, key })], {
      // A group of its own, so that a kill reaches whatever the shell has started.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, WEFT_API_KEY: key, OPENWOP_API_KEY: key, OPENWOP_PORT: String(port) },
    });
    children.add(child);
    let output = '';
    const keep = (chunk: Buffer): void => void (output = (output + chunk.toString()).slice(-KEPT_OUTPUT));
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const ended = new Promise<void>((done) => child.once('exit', () => done()));
    const url = `http://127.0.0.1:${port}`;
    const host: LaunchedHost = {
      url,
      key,
      client: createHostClient({ url, key, trace: createTrace() }),
      async kill() {
        killGroup(child);
        await ended;
        children.delete(child);
      },
    };
    if (await comesUp(host, child, signal)) return host;
    await host.kill();
    return output;
  }

  return {
    async start() {
      const begun = await begin();
      return typeof begun === 'string' ? undefined : begun;
    },
    async startFirst() {
      const begun = await begin();
      if (typeof begun !== 'string') return begun;
      throw new LaunchFailed(`The command of --launch brought up no host. It said:\n${begun.trim()}`);
    },
    async stop() {
      for (const child of children) killGroup(child);
      await rm(data, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function comesUp(
  { client }: LaunchedHost,
  child: ChildProcess,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const until = performance.now() + START_TIMEOUT_MS;
  const isWanted = (): boolean => signal?.aborted !== true && performance.now() < until;
  while (child.exitCode === null && child.signalCode === null && isWanted()) {
    const status = await client.request('GET', '/.well-known/openwop', { timeoutMs: 2_000 }).then(
      (answer) => answer.status,
      () => undefined,
    );
    if (status === 200) return true;
    await pause(LOOK_EVERY_MS);
  }
  return false;
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has ended by itself in this moment.
  }
}

function filled(command: string, values: Readonly<Record<string, string>>): string {
  return command.replace(/\{(port|data|key)\}/g, (_, name: string) => values[name] ?? '');
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
