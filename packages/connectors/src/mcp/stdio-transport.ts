import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Log } from '@weft/engine';
import { callScope, NotSentError } from './call-scope.ts';
import { MCP_LIMITS } from './limits.ts';
import { logStderr } from './stderr-log.ts';

export interface StdioOptions {
  readonly server: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly log: Log;
  readonly mask: (text: string) => string;
}

/**
 * A server as a process of its own, a message a line. The SDK's transport for this has no bound on a line, and ends the process
 * without those that it has started; here they are one process group, which ends as a whole.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Why it ended, where it was not asked to. */
  problem: string | undefined;

  readonly #options: StdioOptions;
  #child: ChildProcess | undefined;
  #ended: Promise<void> | undefined;
  #parts: Buffer[] = [];
  #bytes = 0;
  #strayLines = 0;

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    const { command, args, env, cwd, server, log, mask } = this.#options;
    const child = spawn(command, [...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...(process.env['PATH'] !== undefined && { PATH: process.env['PATH'] }), ...env },
      cwd,
      detached: true,
      windowsHide: true,
    });
    this.#child = child;
    // A process that does not read any more ends soon; its end says so.
    child.stdin.on('error', () => undefined);
    child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
    logStderr(child.stderr, server, log, mask);
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.problem ??= `The process has ended (${signal ?? `exit code ${String(code)}`}).`;
        this.#signal('SIGKILL');
        resolve();
        this.onclose?.();
      });
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => {
        this.problem ??= `The process cannot be started: ${error.message}.`;
        reject(new Error(this.problem));
      });
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (callScope.getStore()?.holdsClaim() === false) return Promise.reject(new NotSentError());
    const stdin = this.#child?.stdin;
    if (stdin === undefined || stdin === null || !stdin.writable)
      return Promise.reject(new Error(this.problem ?? 'The process does not run.'));
    return new Promise((resolve) => {
      if (stdin.write(`${JSON.stringify(message)}\n`)) resolve();
      else stdin.once('drain', resolve);
    });
  }

  /** Closes its input, then sends SIGTERM, then SIGKILL, to it and all that it has started. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.#ended === undefined || child.pid === undefined) return;
    this.problem ??= 'The server was stopped.';
    child.stdin?.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const waiting = new AbortController();
      await Promise.race([
        this.#ended,
        pause(MCP_LIMITS.stopMs, undefined, { signal: waiting.signal }).catch(() => undefined),
      ]);
      waiting.abort();
      if (child.exitCode !== null || child.signalCode !== null) break;
      this.#signal(signal);
    }
    await this.#ended;
  }

  #receive(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, from)) {
      this.#take(chunk.subarray(from, at));
      from = at + 1;
      const line = Buffer.concat(this.#parts).toString('utf8');
      this.#parts = [];
      this.#bytes = 0;
      if (line.trim() !== '') this.#deliver(line);
    }
    this.#take(chunk.subarray(from));
  }

  /** A part of a line that has not ended yet. */
  #take(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > MCP_LIMITS.messageBytes) {
      this.#parts = [];
      return this.#break(`It sent a message of more than ${MCP_LIMITS.messageBytes} bytes.`);
    }
    if (part.length > 0) this.#parts.push(part);
  }

  #deliver(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = JSONRPCMessageSchema.parse(JSON.parse(line));
    } catch {
      this.#strayLines += 1;
      const { server, log } = this.#options;
      if (this.#strayLines === 1)
        log(
          'warn',
          { server },
          'mcp: the server writes lines on stdout that are no messages; they are left out',
        );
      if (this.#strayLines > MCP_LIMITS.strayLines)
        this.#break(`It wrote more than ${MCP_LIMITS.strayLines} lines that are no messages.`);
      return;
    }
    this.onmessage?.(message);
  }

  #break(problem: string): void {
    this.problem ??= problem;
    this.#child?.stdout?.destroy();
    this.#signal('SIGKILL');
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      if (process.platform === 'win32') this.#child?.kill(signal);
      else process.kill(-pid, signal);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM')))
        throw error;
    }
  }
}
