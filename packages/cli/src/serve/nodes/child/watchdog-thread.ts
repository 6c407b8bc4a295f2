import { writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { workerData } from 'node:worker_threads';
import { ownLine } from '@weft/sdk/worker';
import type { Standstill, StuckTask } from '../process-messages.ts';
import { WHERE } from './current-task.ts';

/**
 * Watches the main thread of a process with code of users from a thread of its own. A main thread that stands still is stopped with
 * the inspector, which shows the task and the line; then the process ends itself. It does so too when its host is gone, which a main
 * thread that stands still would not notice.
 *
 * Time is counted in looks, not by a clock: a process that was frozen as a whole has not stood still.
 */
export interface WatchdogData {
  /** Counted up by the main thread. */
  readonly counter: Int32Array;
  readonly stuckMs: number;
  /** A pipe to the host. */
  readonly pipe: number;
}

const LOOK_MS = 250;
const INSPECT_MS = 2_000;

const { counter, stuckMs, pipe } = workerData as WatchdogData;
const host = process.ppid;
let seen = -1;
let looks = 0;

const looking = setInterval(() => {
  if (process.ppid !== host) end();
  const count = Atomics.load(counter, 0);
  if (count !== seen) {
    seen = count;
    looks = 0;
    return;
  }
  looks += 1;
  if (looks * LOOK_MS < stuckMs) return;
  clearInterval(looking);
  inspect();
}, LOOK_MS);

function inspect(): void {
  const session = new Session();
  // A thread inside a call to the system cannot be stopped.
  setTimeout(() => say({}), INSPECT_MS);
  session.on('Debugger.paused', ({ params: { callFrames } }) => {
    const [frame] = callFrames;
    if (frame === undefined) return say({});
    session.post(
      'Debugger.evaluateOnCallFrame',
      {
        callFrameId: frame.callFrameId,
        expression: `globalThis[Symbol.for('${WHERE}')]()`,
        returnByValue: true,
      },
      (error, answer) => say(error === null ? standstillOf(answer.result.value) : {}),
    );
  });
  session.connectToMainThread();
  session.post('Debugger.enable');
  session.post('Debugger.pause');
}

function standstillOf(text: unknown): Standstill {
  if (typeof text !== 'string') return {};
  const { task, stack } = JSON.parse(text) as { task?: StuckTask; stack?: string };
  return { task, at: ownLine(stack) };
}

function say(standstill: Standstill): void {
  writeSync(pipe, `${JSON.stringify(standstill)}\n`);
  end();
}

function end(): void {
  process.kill(process.pid, 'SIGKILL');
}
