/**
 * One process with the code of one version of a pack, for one tenant. It inherits nothing: no environment, no standard streams, no
 * files, and where the system has walls, no network, no other process and no privileges. What it says is checked and bounded.
 *
 * J-7. A call ends with an answer, or with the end of the process: when its time is up, when the process uses too much memory, or says
 *      what cannot be read. Other calls of that process end with it, and may be tried again.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { isJsonObject, type Json, type JsonObject } from '@weft/protocol/plain';
import { memoryOf } from './process-memory.ts';
import {
  CHANNEL,
  type CallContext,
  type FetchAnswer,
  type FetchRequest,
  type FromChild,
  type ToChild,
} from './sandbox-messages.ts';
import type { Walls } from './walls.ts';

export interface SandboxLimits {
  readonly heapMb: number;
  /** Of all memory, looked at twice a second where the system tells it. */
  readonly memoryMb: number;
  /** Of one call. */
  readonly maxMs: number;
  readonly callsPerProcess: number;
}

export const SANDBOX_LIMITS: SandboxLimits = {
  heapMb: 256,
  memoryMb: 512,
  maxMs: 30_000,
  callsPerProcess: 1_000,
};

/** How the host goes out for a pack; rejects with what people can read. */
export type HostFetch = (request: FetchRequest, signal: AbortSignal) => Promise<FetchAnswer>;

export interface SandboxCall {
  readonly typeId: string;
  readonly context: CallContext;
  readonly signal?: AbortSignal | undefined;
  readonly onLog?: (level: string, message: string) => void;
  readonly onEmit?: (text: string) => void;
  readonly onHeartbeat?: (details: Json | undefined) => void;
}

export type SandboxOutcome =
  | { readonly outputs: JsonObject; readonly error?: undefined }
  | { readonly error: SandboxError };

export interface SandboxError {
  readonly code: string;
  readonly message: string;
  readonly retryable?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly details?: JsonObject | undefined;
}

export interface SandboxProcess {
  /** The types that its code defines. Rejects with what is wrong with it. */
  readonly loaded: Promise<readonly string[]>;
  readonly ended: Promise<void>;
  /** It takes no more calls. */
  readonly isEnding: () => boolean;
  /** How many calls it has been given. */
  readonly calls: () => number;
  call(call: SandboxCall): Promise<SandboxOutcome>;
  /** Ends when the last call has. */
  retire(): void;
  kill(): void;
}

export interface SandboxOptions {
  readonly code: string;
  readonly walls: Walls;
  readonly limits: SandboxLimits;
  readonly fetch?: HostFetch | undefined;
}

interface OpenCall {
  readonly call: SandboxCall;
  settle(outcome: SandboxOutcome): void;
}

const ENTRY = '@weft/packs/sandbox-child';
const LOAD_MS = 10_000;
const LOOK_MS = 500;
const LONGEST_LINE = 8 * 1024 * 1024;
const MOST_FETCHES = 32;
/** Characters of base64: a megabyte. */
const LONGEST_BODY = 1_398_104;

export function startSandbox({ code, walls, limits, fetch }: SandboxOptions): SandboxProcess {
  const child = spawnChild(walls, limits);
  const pipe = child.stdio[CHANNEL] as Duplex;
  const open = new Map<number, OpenCall>();
  const fetching = new Set<AbortController>();
  let calls = 0;
  let isRetired = false;
  let cause: SandboxError | undefined;
  let settleLoad: { resolve(typeIds: readonly string[]): void; reject(error: Error): void } | undefined;
  const loaded = new Promise<readonly string[]>((resolve, reject) => {
    settleLoad = { resolve, reject };
  });
  loaded.catch(() => undefined);

  function tell(message: ToChild): void {
    if (pipe.writable) pipe.write(`${JSON.stringify(message)}\n`);
  }

  function end(error: SandboxError): void {
    cause ??= error;
    child.kill('SIGKILL');
  }

  function settle(id: number, outcome: SandboxOutcome): void {
    open.get(id)?.settle(outcome);
    if (isRetired && open.size === 0) child.kill('SIGKILL');
  }

  async function perform(id: number, request: unknown): Promise<void> {
    const problem = (text: string) => tell({ kind: 'fetched', id, problem: text });
    if (fetch === undefined) return problem('this host lets packs make no requests');
    if (fetching.size >= MOST_FETCHES) return problem(`more than ${MOST_FETCHES} requests at the same time`);
    if (!isFetchRequest(request)) return problem('the request is not valid, or its body is over a megabyte');
    const controller = new AbortController();
    fetching.add(controller);
    try {
      tell({ kind: 'fetched', id, answer: await fetch(request, controller.signal) });
    } catch (error) {
      problem(error instanceof Error ? error.message : String(error));
    } finally {
      fetching.delete(controller);
    }
  }

  /** A call that reports what is not taken from it, such as too much at once, would not stop by itself. */
  function report(id: number, give: (call: SandboxCall) => void): void {
    const own = open.get(id);
    if (own === undefined) return;
    try {
      give(own.call);
    } catch (error) {
      own.settle({ error: errorOf(error) });
      end(ended('was ended because of another call, whose reports were not taken'));
    }
  }

  function take(message: FromChild): void {
    switch (message.kind) {
      case 'loaded':
        return settleLoad?.resolve(message.typeIds.map(String));
      case 'unloadable':
        return settleLoad?.reject(new Error(String(message.message).slice(0, 1_000)));
      case 'fetch':
        return void perform(message.id, message.request);
      case 'done':
        return settle(
          message.id,
          isJsonObject(message.outputs)
            ? { outputs: message.outputs }
            : { error: { code: 'output_invalid', message: 'The function returned no object.' } },
        );
      case 'failed':
        return settle(message.id, { error: errorOf(message.error) });
      case 'log':
        return report(message.id, ({ onLog }) => onLog?.(String(message.level), String(message.message)));
      case 'emit':
        return report(message.id, ({ onEmit }) => onEmit?.(String(message.text)));
      case 'heartbeat':
        return report(message.id, ({ onHeartbeat }) => onHeartbeat?.(message.details));
    }
  }

  eachLine(pipe, (line) => {
    if (line === undefined) return end(ended(`said more than ${LONGEST_LINE} bytes at once`));
    try {
      take(JSON.parse(line) as FromChild);
    } catch {
      end(ended('said what cannot be read'));
    }
  });
  pipe.on('error', () => child.kill('SIGKILL'));
  const loading = setTimeout(() => end(ended('did not load in time')), LOAD_MS);
  loaded.finally(() => clearTimeout(loading)).catch(() => undefined);
  const looking = setInterval(() => {
    const used = memoryOf(child.pid);
    if (used !== undefined && used > limits.memoryMb * 1024 * 1024) end(tooMuchMemory(limits.memoryMb));
  }, LOOK_MS);
  looking.unref();

  const ending = new Promise<void>((resolve) => {
    const over = (how: string) => {
      clearInterval(looking);
      const error =
        cause ?? (/SIGABRT|134/.test(how) ? tooMuchMemory(limits.heapMb) : ended(`ended (${how})`));
      settleLoad?.reject(new Error(error.message));
      for (const controller of fetching) controller.abort();
      for (const id of [...open.keys()]) settle(id, { error });
      resolve();
    };
    child.once('error', (error) => over(error.message));
    child.once('close', (status, signal) => over(signal ?? `exit code ${String(status)}`));
  });
  tell({ kind: 'load', code });

  return {
    loaded,
    ended: ending,
    isEnding: () => isRetired || cause !== undefined,
    calls: () => calls,
    call(call) {
      calls += 1;
      const id = calls;
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          open.get(id)?.settle({ error: outOfTime(limits.maxMs) });
          end(ended('was ended because of another call, which took too long'));
        }, limits.maxMs);
        const abort = () => tell({ kind: 'abort', id, reason: 'The attempt was stopped.' });
        open.set(id, {
          call,
          settle(outcome) {
            clearTimeout(timer);
            call.signal?.removeEventListener('abort', abort);
            open.delete(id);
            resolve(outcome);
          },
        });
        call.signal?.addEventListener('abort', abort);
        tell({ kind: 'call', id, typeId: call.typeId, context: call.context });
        if (call.signal?.aborted === true) abort();
      });
    },
    retire() {
      isRetired = true;
      if (open.size === 0) child.kill('SIGKILL');
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

/** The flag that turns the permission model on has lost its prefix on the way. */
const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission';

function spawnChild({ prefix }: Walls, { heapMb }: SandboxLimits): ChildProcess {
  const program = readFileSync(fileURLToPath(import.meta.resolve(ENTRY)), 'utf8');
  const [command, ...args] = [
    ...prefix,
    process.execPath,
    PERMISSION,
    '--no-warnings',
    `--max-old-space-size=${heapMb}`,
    '--input-type=module',
    '--eval',
    program,
  ];
  return spawn(command, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'], env: {}, cwd: '/' });
}

/** Undefined for a line that is too long; nothing is read after it. */
function eachLine(pipe: Duplex, take: (line: string | undefined) => void): void {
  const begun: string[] = [];
  let held = 0;
  pipe.setEncoding('utf8');
  pipe.on('data', (text: string) => {
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      take([...begun.splice(0), text.slice(from, end)].join(''));
      held = 0;
      from = end + 1;
    }
    begun.push(text.slice(from));
    held += text.length - from;
    if (held <= LONGEST_LINE) return;
    begun.length = 0;
    pipe.destroy();
    take(undefined);
  });
}

function isFetchRequest(value: unknown): value is FetchRequest {
  if (!isJsonObject(value)) return false;
  const { url, method, headers, body = '', followRedirects } = value;
  return (
    typeof url === 'string' &&
    typeof method === 'string' &&
    isJsonObject(headers) &&
    Object.values(headers).every((header) => typeof header === 'string') &&
    typeof body === 'string' &&
    body.length <= LONGEST_BODY &&
    typeof followRedirects === 'boolean'
  );
}

const CODE = /^[a-z][a-z0-9_]{0,63}$/;

function errorOf(error: unknown): SandboxError {
  const { code, message, retryable, retryAfterMs, details } = isJsonObject(error) ? error : {};
  return {
    code: typeof code === 'string' && CODE.test(code) ? code : 'node_failed',
    message:
      typeof message === 'string' && message !== '' ? message : 'The function failed and did not say why.',
    retryable: retryable === true,
    ...(Number.isSafeInteger(retryAfterMs) &&
      Number(retryAfterMs) >= 0 && { retryAfterMs: Number(retryAfterMs) }),
    ...(isJsonObject(details) && { details }),
  };
}

function ended(how: string): SandboxError {
  return { code: 'sandbox_ended', message: `The process of the pack ${how}.`, retryable: true };
}

function outOfTime(maxMs: number): SandboxError {
  return {
    code: 'sandbox_timeout',
    message: `The call took more than ${maxMs} ms, and its process was ended.`,
  };
}

function tooMuchMemory(megabytes: number): SandboxError {
  return {
    code: 'sandbox_memory_exceeded',
    message: `The process of the pack used more than ${megabytes} MiB of memory, and was ended.`,
  };
}
