/** The thread of host-thread.ts: everything outside itself is reached through the thread that started it. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { HostThreadData, HostThreadMessage } from './host-thread.ts';
import type { Io } from '../../io.ts';
import { main } from '../../main.ts';
import { beat } from './watchdog.ts';

if (parentPort === null) throw new Error('host-thread-entry is started by host-thread, not by itself.');
const port: MessagePort = parentPort;
const { argv, isTTY, columns, counter } = workerData as HostThreadData;
beat(counter);

function send(message: HostThreadMessage): void {
  port.postMessage(message);
}

const io: Io = {
  stdout: { write: (text) => send({ kind: 'stdout', text }) },
  stderr: { write: (text) => send({ kind: 'stderr', text }) },
  env: process.env,
  cwd: process.cwd(),
  isTTY,
  columns,
  // A host opens no pages.
  openPage: () => Promise.resolve(false),
  exit: (code) => send({ kind: 'exit', code }),
  onSignal(listener) {
    port.on('message', listener);
    return () => port.off('message', listener);
  },
};

send({ kind: 'done', code: await main(argv, io) });
