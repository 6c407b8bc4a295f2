import { fork } from 'node:child_process';
import { getHeapStatistics } from 'node:v8';
import type { Store, TrialRequest } from '@weft/engine';
import type { FromTrialProcess, ToTrialProcess, TrialSetup } from './trial-messages.ts';

/**
 * A process in which suspect runs are loaded and decided about, one at a time. It ends with its host.
 *
 *     starting ──ready──► idle ──attempt──► busy ──lived──► idle
 *         └────────── its end ───────┴──────────┴──► gone
 */
export interface TrialProcess {
  /** Resolves when runs can be tried in it; rejects when it cannot be started. */
  readonly ready: Promise<void>;
  /** Rejects with what the store said when it could not be read. */
  attempt(request: TrialRequest): Promise<'lived' | 'died'>;
  kill(): void;
}

export interface TrialProcessOptions {
  readonly store: Store;
  readonly setup: Omit<TrialSetup, 'kind'>;
  /** A process that was busy for so long with nothing but a run has died over it. */
  readonly stuckMs: number;
}

const ENTRY = new URL('./child/trial-process-entry.js', import.meta.url);
const LOOK_MS = 1_000;
/** A machine with no time for it is no reason to let a run wait for ever. */
const START_MS = 60_000;

export function startTrialProcess({ store, setup, stuckMs }: TrialProcessOptions): TrialProcess {
  const child = fork(ENTRY, {
    // What needs more memory than this has none left for others.
    execArgv: [`--max-old-space-size=${Math.floor(getHeapStatistics().heap_size_limit / 2 ** 21)}`],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  });
  let settle: ((ending: 'lived' | 'died') => void) | undefined;
  let unread: Error | undefined;
  let reading = 0;
  let started: { resolve(): void; reject(error: Error): void } | undefined;
  const ready = new Promise<void>((resolve, reject) => {
    started = { resolve, reject };
  });
  ready.catch(() => undefined);
  const kill = () => void child.kill('SIGKILL');
  const stillness = watchStillness(kill);
  const stopWaiting = stillness.watch(START_MS, () => false);

  const send = (message: ToTrialProcess) => {
    if (child.connected) child.send(message, () => undefined);
  };

  async function answer({ id, method, args }: Extract<FromTrialProcess, { kind: 'ask' }>): Promise<void> {
    reading += 1;
    try {
      const read = store[method] as (...asked: unknown[]) => Promise<unknown>;
      const value = await read.apply(store, args);
      send({ kind: 'read', id, value });
    } catch (error) {
      unread ??= error instanceof Error ? error : new Error(String(error));
      send({ kind: 'unread', id, message: unread.message });
    } finally {
      reading -= 1;
      stillness.moved();
    }
  }

  child.on('message', (message: FromTrialProcess) => {
    stillness.moved();
    switch (message.kind) {
      case 'ready':
        stopWaiting();
        started?.resolve();
        return;
      case 'ask':
        void answer(message);
        return;
      case 'lived':
        settle?.('lived');
    }
  });
  const end = (how: string) => {
    stopWaiting();
    started?.reject(new Error(`The process has ended (${how}).`));
    settle?.('died');
  };
  child.once('error', ({ message }) => end(message));
  child.once('exit', (code, signal) => end(signal ?? `exit code ${String(code)}`));
  send({ kind: 'setup', ...setup });

  return {
    ready,
    async attempt(request) {
      unread = undefined;
      const stop = stillness.watch(stuckMs, () => reading > 0);
      try {
        const ending = await new Promise<'lived' | 'died'>((resolve) => {
          settle = resolve;
          if (child.exitCode !== null || child.signalCode !== null) resolve('died');
          send({ kind: 'attempt', ...request });
        });
        if (ending === 'lived' && unread !== undefined) throw unread;
        return ending;
      } finally {
        settle = undefined;
        stop();
      }
    },
    kill,
  };
}

/** Time is counted in looks, not by a clock: a host that was frozen has not waited meanwhile. */
function watchStillness(onStill: () => void) {
  let quiet = 0;
  return {
    moved() {
      quiet = 0;
    },
    watch(mostMs: number, isExcused: () => boolean): () => void {
      quiet = 0;
      const timer = setInterval(() => {
        quiet = isExcused() ? 0 : quiet + 1;
        if (quiet * LOOK_MS >= mostMs) onStill();
      }, LOOK_MS);
      timer.unref();
      return () => clearInterval(timer);
    },
  };
}
