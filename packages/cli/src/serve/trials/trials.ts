import type { Log, Trials } from '@weft/engine';
import { reasonOf } from '../../parsing/key-values.ts';
import { startTrialProcess, type TrialProcess, type TrialProcessOptions } from './trial-process.ts';

/** Tries suspect runs one after the other in a process that is started when it is needed, and ended when it was not for a while. */
export interface RunningTrials extends Trials {
  /** What is being tried is not decided any more: it rejects. */
  stop(): void;
}

const IDLE_MS = 30_000;

export function createTrials({
  log,
  ...options
}: TrialProcessOptions & { readonly log: Log }): RunningTrials {
  let current: TrialProcess | undefined;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let isStopped = false;

  function end(): void {
    current?.kill();
    current = undefined;
  }

  async function started(): Promise<TrialProcess | undefined> {
    current ??= startTrialProcess(options);
    try {
      await current.ready;
      return current;
    } catch (error) {
      current = undefined;
      log('warn', { reason: reasonOf(error) }, 'no process to try a suspect run in: it is taken up untried');
      return undefined;
    }
  }

  const attempt: Trials['attempt'] = async (request) => {
    clearTimeout(idle);
    const child = isStopped ? undefined : await started();
    const ending = await child?.attempt(request);
    if (isStopped) throw new Error('The host stops.');
    if (ending === 'died') current = undefined;
    idle = setTimeout(end, IDLE_MS);
    idle.unref();
    return ending ?? 'lived';
  };

  return {
    attempt(request) {
      const ending = last.then(() => attempt(request));
      last = ending.catch(() => undefined);
      return ending;
    },
    stop() {
      isStopped = true;
      clearTimeout(idle);
      end();
    },
  };
}
