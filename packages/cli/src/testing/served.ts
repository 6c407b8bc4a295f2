import { main } from '../main.ts';
import { type RecordedIo, recordedIo } from './recorded-io.ts';

/** A real host in this process, started through the command line on a port of its own. */
export interface Served {
  readonly url: string;
  readonly io: RecordedIo;
  /** Resolves with the exit code once the host has ended. */
  readonly ended: Promise<number>;
  stop(): Promise<number>;
}

/** Starts `weft serve` and resolves when it listens. */
export async function serveHere(
  cwd: string,
  flags: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Served> {
  const io = recordedIo({ cwd, env });
  const ended = main(['serve', '--port', '0', '--log-level', 'warn', ...flags], io);
  await Promise.race([
    io.waitFor('is listening at'),
    ended.then((code) => Promise.reject(new Error(`serve ended with ${code}: ${io.err()}`))),
  ]);
  const url = /listening at (\S+)/.exec(io.out())?.[1] ?? '';
  return {
    url,
    io,
    ended,
    stop() {
      io.signal('SIGTERM');
      return ended;
    },
  };
}

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs one command to its end. */
export async function weft(
  cwd: string,
  argv: readonly string[],
  env: Record<string, string> = {},
): Promise<Outcome> {
  const io = recordedIo({ cwd, env });
  const code = await main(argv, io);
  return { code, out: io.out(), err: io.err() };
}
