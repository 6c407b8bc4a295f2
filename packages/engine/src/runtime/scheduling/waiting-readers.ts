import type { LiveRun } from '../../core/decide/live-run.ts';

/** Those who want to read a run while its state is ahead of the store: they wait until it is not, and not for long. */
export interface WaitingReaders {
  /** Undefined when it took too long, or the run is no longer here. */
  wait<Result>(render: (run: LiveRun) => Result): Promise<{ readonly value: Result } | undefined>;
  serve(run: LiveRun | undefined): void;
}

const PATIENCE_MS = 250;

export function createWaitingReaders(): WaitingReaders {
  let readers: ((run: LiveRun | undefined) => void)[] = [];
  return {
    wait: (render) =>
      new Promise((resolve, reject) => {
        const patience = setTimeout(() => resolve(undefined), PATIENCE_MS);
        patience.unref();
        readers.push((run) => {
          clearTimeout(patience);
          try {
            resolve(run === undefined ? undefined : { value: render(run) });
          } catch (error) {
            reject(error);
          }
        });
      }),
    serve(run) {
      const waiting = readers;
      readers = [];
      for (const reader of waiting) reader(run);
    },
  };
}
