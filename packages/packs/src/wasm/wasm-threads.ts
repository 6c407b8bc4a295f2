/**
 * Threads for WASM modules. A call has a thread of its own while it lasts, and a fresh instance; a thread whose call takes too long is
 * ended, and costs nothing but itself.
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

export function createWasmThreads(mostIdle: number): WasmThreads {
  const idle: Worker[] = [];
  const all = new Set<Worker>();

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

  return {
    run(message, { maxMs, signal }) {
      const worker = idle.pop() ?? start();
      worker.ref();
      return new Promise<FromThread>((resolve) => {
        const settle = (answer: FromThread, isDone: boolean) => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', abort);
          worker.removeAllListeners('message').removeAllListeners('error');
          worker.on('error', () => undefined);
          worker.unref();
          if (isDone && idle.length < mostIdle) idle.push(worker);
          else void worker.terminate();
          resolve(answer);
        };
        const fail = (failure: ModuleFailure) => settle({ kind: 'failed', failure, logs: [] }, false);
        const abort = () => fail({ code: 'wasm_invocation_failed', message: 'The call was stopped.' });
        const timer = setTimeout(() => fail(timeBreach(maxMs)), maxMs);
        worker.once('message', (answer: FromThread) => settle(answer, true));
        worker.once('error', (error) =>
          fail({
            code: 'wasm_invocation_failed',
            message: `The thread of the module ended: ${error.message}.`,
          }),
        );
        if (signal?.aborted === true) return abort();
        signal?.addEventListener('abort', abort);
        worker.postMessage(message);
      });
    },
    async stop() {
      await Promise.all([...all].map((worker) => worker.terminate()));
    },
  };
}

function timeBreach(maxMs: number): ModuleFailure {
  return {
    code: 'wasm_cap_breached',
    message: `The module was ended after ${maxMs} ms.`,
    details: { kind: 'wasm-execution-time', limit: maxMs, observed: maxMs + 1 },
  };
}
