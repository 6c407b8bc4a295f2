import type { Io } from '../io.ts';

/** An Io that keeps what was written, for tests that run a whole command in-process. */
export interface RecordedIo extends Io {
  readonly out: () => string;
  readonly err: () => string;
  readonly exits: number[];
  readonly opened: string[];
  signal(name: string): void;
  /** Resolves when stdout and stderr together contain the text. */
  waitFor(text: string): Promise<void>;
}

export function recordedIo(options: {
  cwd: string;
  env?: Record<string, string>;
  isTTY?: boolean;
  /** Whether there is a browser. */
  hasBrowser?: boolean;
}): RecordedIo {
  const written = { out: '', err: '' };
  const listeners = new Set<(signal: string) => void>();
  const waiting = new Set<() => void>();
  const exits: number[] = [];
  const opened: string[] = [];
  const sink = (name: 'out' | 'err') => ({
    write(text: string) {
      written[name] += text;
      for (const look of waiting) look();
    },
  });
  return {
    stdout: sink('out'),
    stderr: sink('err'),
    env: options.env ?? {},
    cwd: options.cwd,
    isTTY: options.isTTY ?? false,
    columns: 100,
    openPage(url) {
      if (options.hasBrowser) opened.push(url);
      return Promise.resolve(options.hasBrowser === true);
    },
    exit: (code) => exits.push(code),
    onSignal(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    out: () => written.out,
    err: () => written.err,
    exits,
    opened,
    signal(name) {
      for (const listener of [...listeners]) listener(name);
    },
    waitFor(text) {
      return new Promise((resolve) => {
        const look = (): void => {
          if (!`${written.out}${written.err}`.includes(text)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
    },
  };
}
