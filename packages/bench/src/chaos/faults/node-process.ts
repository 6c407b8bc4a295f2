import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** A `weft serve` in a process of its own, to be killed, frozen and started again. */
export interface NodeProcess {
  readonly pid: number;
  /** SIGKILL: no handler runs, nothing is flushed. */
  kill(): Promise<void>;
  /** SIGTERM, and SIGKILL when that takes too long. */
  stop(): Promise<Stopped>;
  freeze(): void;
  thaw(): void;
  isAlive(): boolean;
}

export interface Stopped {
  /** Null when a signal ended it. */
  readonly code: number | null;
  /** It took too long. */
  readonly wasForced: boolean;
}

export interface NodeLaunch {
  readonly port: number;
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Its output is added to this file. */
  readonly logFile: string;
  /** Loaded before the host. */
  readonly preload?: string;
  /** It ended, and neither `kill` nor `stop` had been called; without a code by a signal. */
  readonly onUnexpectedExit: (code: number | null, lastOutput: string) => void;
}

/** The process ended, or did not answer, before it was ready. */
export class NodeNotReadyError extends Error {
  readonly exitCode: number | null;

  constructor(exitCode: number | null, lastOutput: string) {
    super(`a host was not ready (exit code ${String(exitCode)}):\n${lastOutput}`);
    this.name = 'NodeNotReadyError';
    this.exitCode = exitCode;
  }
}

const CLI = join(import.meta.dirname, '../../../../cli/bin/weft.mjs');
const READY_WITHIN_MS = 90_000;
const STOP_WITHIN_MS = 20_000;
const LAST_OUTPUT = 2_000;
const REPORT_SIGNAL = 'SIGUSR2';
const REPORT_MS = 2_000;

export async function startNode(launch: NodeLaunch): Promise<NodeProcess> {
  const child = spawn(process.execPath, [CLI, 'serve', '--port', String(launch.port), ...launch.flags], {
    env: { ...process.env, ...launch.env, NODE_OPTIONS: nodeOptions(launch) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let lastOutput = '';
  let isExpected = false;
  let isReady = false;
  const note = (chunk: Buffer): void => {
    lastOutput = (lastOutput + chunk.toString('utf8')).slice(-LAST_OUTPUT);
    appendFileSync(launch.logFile, chunk);
  };
  child.stdout.on('data', note);
  child.stderr.on('data', note);
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.on('exit', endWithUs);
  void exited.then((code) => {
    process.off('exit', endWithUs);
    if (!isExpected && isReady) launch.onUnexpectedExit(code, lastOutput);
  });

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<Stopped> {
    isExpected = true;
    let wasForced = false;
    child.kill(signal);
    const timers = [
      // Node then writes a diagnostic report next to the log.
      setTimeout(() => child.kill(REPORT_SIGNAL), STOP_WITHIN_MS - REPORT_MS),
      setTimeout(() => {
        wasForced = child.kill('SIGKILL');
      }, STOP_WITHIN_MS),
    ];
    const code = await exited;
    for (const timer of timers) clearTimeout(timer);
    return { code, wasForced };
  }

  await untilReady(child, launch.port, async () => {
    await end('SIGKILL');
    return lastOutput;
  });
  isReady = true;
  return {
    pid: child.pid ?? 0,
    async kill() {
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    isAlive: () => !hasEnded(child),
  };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function nodeOptions({ logFile, preload }: NodeLaunch): string {
  const reporting = `--report-on-signal --report-signal=${REPORT_SIGNAL} --report-directory=${dirname(logFile)}`;
  const loading = preload === undefined ? '' : `--require ${preload}`;
  return `${process.env['NODE_OPTIONS'] ?? ''} ${reporting} ${loading}`;
}

async function untilReady(child: ChildProcess, port: number, giveUp: () => Promise<string>): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadline && !hasEnded(child)) {
    const signal = AbortSignal.timeout(2_000);
    const answer = await fetch(`http://127.0.0.1:${port}/ready`, { signal }).catch(() => undefined);
    if (answer?.ok === true) return;
    await pause(100);
  }
  const exitCode = child.exitCode;
  throw new NodeNotReadyError(exitCode, await giveUp());
}
