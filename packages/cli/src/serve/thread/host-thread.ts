import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { EXIT } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { terminalText } from '../../output/terminal-text.ts';
import { watch, watchdogPatience } from './watchdog.ts';

/**
 * A host runs on a thread of its own. Its young objects live about as long as a run is active, and with the 16 MiB that Node
 * gives them, most are copied twice before they are garbage: a seventh of the work under full load. Only a flag of the process
 * or the creation of a thread can give them more room, and a program that is started by its name cannot choose the flags.
 * NODE_OPTIONS=--max-semi-space-size=N wins over what is chosen here.
 */
const YOUNG_GENERATION_MB = 192; // two halves that objects are copied between, and as much again for large ones: 64 MiB each

/** What the thread gets at its start: what it cannot see for itself. */
export interface HostThreadData {
  readonly argv: readonly string[];
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  /** Counted up by the thread as long as it is not standing still. */
  readonly counter: Int32Array;
}

/** From the thread. `exit` is at once; without it the process ends when nothing is left to do. */
export type HostThreadMessage =
  | { readonly kind: 'stdout' | 'stderr'; readonly text: string }
  | { readonly kind: 'exit' | 'done'; readonly code: number };

/** `main` on a thread: the same words, signals and exit codes. */
export async function mainOnThread(argv: readonly string[], io: Io): Promise<number> {
  const counter = new Int32Array(new SharedArrayBuffer(4));
  const data: HostThreadData = { argv, isTTY: io.isTTY, columns: io.columns, counter };
  const thread = new Worker(new URL('./host-thread-entry.js', import.meta.url), {
    workerData: data,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  });
  let code: number = EXIT.failed;
  thread.on('message', (message: HostThreadMessage) => {
    switch (message.kind) {
      case 'stdout':
      case 'stderr':
        io[message.kind].write(message.text);
        return;
      case 'exit':
        io.exit(message.code);
        return;
      case 'done':
        code = message.code;
    }
  });
  const patienceMs = watchdogPatience(io.env);
  const unwatch = watch({
    counter,
    patienceMs,
    onStandstill() {
      io.stderr.write(
        `The host has been blocked for ${Math.round(patienceMs / 1_000)} s and exits so that it can be restarted. ` +
          'WEFT_WATCHDOG_MS sets the limit; 0 = no limit.\n',
      );
      io.exit(EXIT.failed);
    },
  });
  let isStopping = false;
  const off = io.onSignal((signal) => {
    // The second one ends a host even when its thread no longer responds.
    if (isStopping) io.exit(EXIT.failed);
    isStopping = true;
    thread.postMessage(signal);
  });
  try {
    await once(thread, 'exit');
    return code;
  } catch (error) {
    io.stderr.write(
      terminalText(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`),
    );
    return EXIT.failed;
  } finally {
    unwatch();
    off();
  }
}
