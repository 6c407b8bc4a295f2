/**
 * Threads for WASM modules. A call has a thread of its own while it lasts, and a fresh instance; a thread whose call takes too long is
 * ended, and costs nothing but itself. There are so many and no more: calls beyond wait for their turn, and no module has more than half of them.
 *
 * J-4. A call ends: with an answer, a failure, or by the end of its thread when its time is up or it is not wanted any more.
 */
import { Worker } from 'node:worker_threads';
import type { FromThread, ModuleFailure, ToThread } from './thread-messages.ts';

export interface WasmThreads {
  run(message: ToThread, options: RunOptions): Promise<FromThread>;
  stop(): Promise<void>;
}

export interface RunOptions {
  readonly maxMs: number;
  readonly signal?: AbortSignal | undefined;
}

const ENTRY = '@weft/packs/module-thread';
/** For what the engine itself keeps; the memory of a module is limited by its own maximum. */
const HEAP_MB = 64;

interface Job {
  readonly message: ToThread;
  readonly options: RunOptions;
  readonly resolve: (answer: FromThread) => void;
}

export function createWasmThreads(most: number): WasmThreads {
  const mostOfOne = Math.ceil(most / 2);
  const idle: Worker[] = [];
  const all = new Set<Worker>();
  const busy = new Map<WebAssembly.Module, number>();
  const waiting: Job[] = [];
  let working = 0;

  function start(): Worker {
    const worker = new Worker(new URL(import.meta.resolve(ENTRY)), {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, stackSizeMb: 4 },
    });
    all.add(worker);
    worker.once('exit', () => {
      all.delete(worker);
      const at = idle.indexOf(worker);
      if (at !== -1) idle.splice(at, 1);
    });
    worker.unref();
    return worker;
  }

  function pump(): void {
    while (working < most) {
      const at = waiting.findIndex(({ message }) => (busy.get(message.module) ?? 0) < mostOfOne);
      const [next] = at === -1 ? [] : waiting.splice(at, 1);
      if (next === undefined) return;
      perform(next);
    }
  }

  function count(module: WebAssembly.Module, change: 1 | -1): void {
    working += change;
    const now = (busy.get(module) ?? 0) + change;
    if (now === 0) busy.delete(module);
    else busy.set(module, now);
  }

  function perform({ message, options: { maxMs, signal }, resolve }: Job): void {
    const worker = idle.pop() ?? start();
    worker.ref();
    count(message.module, 1);
    const settle = (answer: FromThread, isDone: boolean) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      worker.removeAllListeners('message').removeAllListeners('error');
      worker.on('error', () => undefined);
      worker.unref();
      if (isDone) idle.push(worker);
      else void worker.terminate();
      count(message.module, -1);
      resolve(answer);
      pump();
    };
    const fail = (failure: ModuleFailure) => settle({ kind: 'failed', failure, logs: [] }, false);
    const abort = () => fail(STOPPED);
    const timer = setTimeout(() => fail(timeBreach(maxMs)), maxMs);
    worker.once('message', (answer: FromThread) => settle(answer, true));
    worker.once('error', (error) =>
      fail({
        code: 'wasm_invocation_failed',
        message: `The thread of the module ended: ${error.message}.`,
      }),
    );
    signal?.addEventListener('abort', abort);
    worker.postMessage(message);
  }

  return {
    run: (message, options) =>
      new Promise<FromThread>((resolve) => {
        const { signal } = options;
        const job: Job = {
          message,
          options,
          resolve(answer) {
            signal?.removeEventListener('abort', leave);
            resolve(answer);
          },
        };
        /** Not wanted any more, before it had a thread. */
        function leave(): void {
          const at = waiting.indexOf(job);
          if (at === -1) return;
          waiting.splice(at, 1);
          resolve({ kind: 'failed', failure: STOPPED, logs: [] });
        }
        waiting.push(job);
        if (signal?.aborted === true) return leave();
        signal?.addEventListener('abort', leave);
        pump();
      }),
    async stop() {
      await Promise.all([...all].map((worker) => worker.terminate()));
    },
  };
}

const STOPPED: ModuleFailure = { code: 'wasm_invocation_failed', message: 'The call was stopped.' };

function timeBreach(maxMs: number): ModuleFailure {
  return {
    code: 'wasm_cap_breached',
    message: `The module was ended after ${maxMs} ms.`,
    details: { kind: 'wasm-execution-time', limit: maxMs, observed: maxMs + 1 },
  };
}
