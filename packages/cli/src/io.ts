import { openPage } from './connecting/browser.ts';
import { terminalText } from './output/terminal-text.ts';

/**
 * Everything the command line touches outside itself. `main` gets it as an argument, so that a test can run a whole
 * command in-process and look at what a person would see.
 */
export interface Io {
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Whether stdout is a terminal: colours and redrawing only then. */
  readonly isTTY: boolean;
  /** Width of the terminal in characters; absent without one. */
  readonly columns?: number | undefined;
  /** Its height in lines; absent without one. */
  readonly rows?: number | undefined;
  /** Has the person's browser open a page. False when there is none to ask. */
  openPage(url: string): Promise<boolean>;
  /** Ends the process at once; only the second signal to `serve` uses it. */
  exit(code: number): void;
  /** Calls back on every SIGINT and SIGTERM until the returned function is called. */
  onSignal(listener: (signal: string) => void): () => void;
}

export interface Sink {
  write(text: string): unknown;
}

/** Where a command writes: what others have said reaches no terminal as it is (output/terminal-text.ts). */
export interface Output extends Sink {
  /** A JSON document, byte for byte; on a terminal as it may be seen there, which means the same. */
  document(text: string): unknown;
}

/** What a command gets of the Io. */
export interface ShownIo extends Io {
  readonly stdout: Output;
}

/** Puts what must not reach a terminal out of sight, from any writer. */
export function shielded(io: Io): ShownIo {
  return {
    stdout: {
      write: (text) => io.stdout.write(terminalText(text)),
      document: (text) => io.stdout.write(io.isTTY ? terminalText(text) : text),
    },
    stderr: { write: (text) => io.stderr.write(terminalText(text)) },
    env: io.env,
    cwd: io.cwd,
    isTTY: io.isTTY,
    get columns() {
      return io.columns;
    },
    get rows() {
      return io.rows;
    },
    openPage: (url) => io.openPage(url),
    exit: (code) => io.exit(code),
    onSignal: (listener) => io.onSignal(listener),
  };
}

/** The process's own streams and signals. */
export function processIo(): Io {
  // A reader may stop reading, as `head` does; that is the end of our work, not an error.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit(0);
    });
  }
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    isTTY: process.stdout.isTTY ?? false, // absent, not false, when it is a file or a pipe
    get columns() {
      return process.stdout.columns;
    },
    get rows() {
      return process.stdout.rows;
    },
    openPage,
    exit: (code) => process.exit(code),
    onSignal(listener) {
      process.on('SIGINT', listener);
      process.on('SIGTERM', listener);
      return () => {
        process.off('SIGINT', listener);
        process.off('SIGTERM', listener);
      };
    },
  };
}
