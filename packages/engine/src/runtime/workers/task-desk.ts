import type { Outcome } from '../../core/decide/step.ts';
import { breachEvents } from '../../core/fold/node-caps.ts';
import type { HostLimits } from '../../host/limits.ts';
import { NodeFailure } from '../../model/node-type.ts';
import { type Clock, LONGEST_TIMEOUT_MS } from '../../ports/clock.ts';
import type { EffectPorts } from '../../ports/effect-ports.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import { failed, timedOut } from '../effects/performer.ts';
import type { RandomBytes } from '../runs/ids.ts';
import type { Told } from '../scheduling/waiting-inputs.ts';
import { failure, type Holding, type ServedTask, type TakenLease, withLog } from './served-task.ts';
import { createTaskBoard, type TaskBoard } from './task-board.ts';
import type { CancelReason, WorkerSession } from './worker-session.ts';

/**
 * Where tasks are handed to workers and taken back from them.
 *
 * H-5. Bytes of a task leave the process only while the claim on its run holds, checked in that turn of the event loop.
 */
export interface TaskDesk {
  readonly board: Pick<TaskBoard, 'join' | 'part' | 'lane'>;
  counts(): { readonly waiting: number; readonly held: number };
  /** The task waits for a worker. */
  offer(task: ServedTask): void;
  /** Ends it without an outcome. */
  drop(task: ServedTask, reason: CancelReason): void;
  finish(task: ServedTask, outcome: Outcome, told?: Told): void;
  /** A worker has handed it back. */
  giveBack(task: ServedTask): void;
  /** Tasks that a session had when it ended go to others: how far they came is unknown, however it ended. */
  abandon(session: WorkerSession): void;
  /** A worker still has it, from a session of before. */
  adopt(session: WorkerSession, task: ServedTask, lease: number): Promise<boolean>;
  /** There is room in the stream of a worker, or in its hands. */
  serve(session: WorkerSession): void;
  /** From now on no worker gets a stop for what it has. */
  drain(): void;
}

export interface DeskOptions {
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
  readonly log: Log;
  /** A worker has room, and nothing waits here for it. */
  readonly onRoom: (session: WorkerSession) => void;
}

export function createTaskDesk(options: DeskOptions): TaskDesk {
  const { clock, log } = options;
  const board = createTaskBoard(give);
  /** Unlike those of other processes, and of this one's predecessors. */
  let lastLease = Buffer.from(options.random(5)).readUIntBE(0, 5) * 1_024;
  let waiting = 0;
  let held = 0;
  let isDraining = false;

  async function adopt(session: WorkerSession, task: ServedTask, lease: number): Promise<boolean> {
    const before = task.holding;
    if (before !== undefined) {
      clearTimeout(before.timer);
      task.release();
      held -= 1;
      take(session, task, { lease, ports: before.ports, nextChunk: before.nextChunk });
      return true;
    }
    const ports = task.owner.openPorts();
    try {
      await secretsOf(task, ports);
    } catch {
      return false;
    }
    const isStillThere = task.holding === undefined && (task.state === 'resting' || task.state === 'waiting');
    if (!isStillThere || session.isOver || !task.owner.mayLeave()) return false;
    if (task.state === 'waiting') {
      board.remove(task);
      waiting -= 1;
    }
    task.timesGiven += 1;
    take(session, task, { lease, ports, nextChunk: undefined });
    return true;
  }

  function serve(session: WorkerSession): void {
    if (session.resends.length > 0) return void sendAgain(session);
    session.sendCancels();
    board.serve(session);
    if (session.credit > 0) options.onRoom(session);
  }

  /** What a stream that broke off may not have brought: a worker passes over what it has. */
  async function sendAgain(session: WorkerSession): Promise<void> {
    const [task] = session.resends;
    const holding = task?.holding;
    if (task === undefined || session.isFull || session.sink === undefined) return;
    session.resends.shift();
    if (holding?.session === session) {
      const secrets = await secretsOf(task, holding.ports)?.catch(() => undefined);
      if (task.holding === holding && !session.isOver && task.owner.mayLeave())
        session.send(task.line(holding.lease, secrets));
    }
    serve(session);
  }

  function give(session: WorkerSession, task: ServedTask): void {
    waiting -= 1;
    const ports = task.owner.openPorts();
    const resolving = secretsOf(task, ports);
    if (resolving === undefined) return deliver(session, task, ports, undefined);
    session.expected += 1;
    resolving.then(
      (secrets) => {
        session.expected -= 1;
        deliver(session, task, ports, secrets);
      },
      (error: unknown) => {
        session.expected -= 1;
        if (task.state === 'given') {
          over(task);
          task.owner.done(ports.hideOutcome(failureOf(task, error, log)));
        }
        serve(session);
      },
    );
  }

  function deliver(
    session: WorkerSession,
    task: ServedTask,
    ports: EffectPorts,
    secrets: Readonly<Record<string, string>> | undefined,
  ): void {
    if (task.state !== 'given') return;
    if (!task.owner.mayLeave()) return over(task);
    if (session.isOver || session.sink === undefined || session.isFull) {
      board.remove(task);
      return offer(task);
    }
    lastLease += 1;
    task.timesGiven += 1;
    take(session, task, { lease: lastLease, ports, nextChunk: 0 });
    session.send(task.line(lastLease, secrets));
  }

  function take(session: WorkerSession, task: ServedTask, by: TakenLease): void {
    held += 1;
    task.hold(session, by, options);
    watchTime(task, clock, (outcome) => {
      task.cancel('timeout');
      finish(task, outcome);
    });
    task.owner.progressed?.();
  }

  function offer(task: ServedTask): void {
    waiting += 1;
    board.add(task);
  }

  /** It neither waits nor is at a worker; the worker that had it may take another one. */
  function detach(task: ServedTask): void {
    const session = task.holding?.session;
    if (task.state === 'waiting') waiting -= 1;
    if (session !== undefined) held -= 1;
    task.release();
    board.remove(task);
    if (session !== undefined && !session.isOver) serve(session);
  }

  function over(task: ServedTask): void {
    if (task.state === 'over') return;
    detach(task);
    task.state = 'over';
  }

  function finish(task: ServedTask, outcome: Outcome, told?: Told): void {
    const { holding, owner } = task;
    if (holding === undefined) return;
    const hidden = finalOutcome(task, holding, outcome);
    over(task);
    owner.done(hidden, told);
  }

  return {
    board,
    counts: () => ({ waiting, held }),
    offer,
    drop(task, reason) {
      if (task.state === 'over') return;
      if (!isDraining) task.cancel(reason);
      over(task);
    },
    finish,
    giveBack(task) {
      detach(task);
      task.owner.returned();
    },
    abandon(session) {
      for (const task of [...session.held.values()]) {
        detach(task);
        task.owner.lost();
      }
    },
    adopt,
    serve,
    drain() {
      isDraining = true;
    },
  };
}

/** What a worker said of the end of a task, as it is recorded; what it streamed ends with it. */
function finalOutcome({ owner, offer }: ServedTask, holding: Holding, outcome: Outcome): Outcome {
  const { ports, log, nextChunk } = holding;
  const checked = owner.check(outcome);
  if (checked.ok && nextChunk !== undefined && nextChunk > 0)
    owner.chunk({ ...ports.hideChunk({ chunk: '', isLast: true }), index: nextChunk }, undefined);
  return ports.hideOutcome(
    withLog(checked, [
      ...log.lines(),
      ...(checked.ok ? [] : breachEvents(checked.error, offer.message.nodeId)),
    ]),
  );
}

function failureOf({ offer: { runId, typeId, message } }: ServedTask, error: unknown, log: Log): Outcome {
  if (error instanceof NodeFailure) return failed(error);
  const fields = { runId, nodeId: message.nodeId, typeId, ...errorFields(error) };
  log('error', fields, 'a task could not be offered');
  return failure('node_failed', 'The task could not be offered; the host log says why.');
}

/** Ends an attempt that has taken too long, or has said nothing for too long. */
function watchTime(task: ServedTask, clock: Clock, onLate: (outcome: Outcome) => void): void {
  const { holding } = task;
  if (holding === undefined) return;
  const { at, outcome } = lateOutcome(task, holding);
  if (at === Number.POSITIVE_INFINITY) return;
  const left = at - clock.monotonic();
  if (left <= 0) return onLate(outcome());
  const waitMs = Math.min(Math.ceil(left), LONGEST_TIMEOUT_MS);
  holding.timer = setTimeout(() => watchTime(task, clock, onLate), waitMs);
  holding.timer.unref();
}

/** When an attempt is over without a word of its worker, and how. */
function lateOutcome({ offer }: ServedTask, holding: Holding): { at: number; outcome: () => Outcome } {
  const { heartbeatTimeoutMs, timeoutMs } = offer;
  const silentAt = heartbeatTimeoutMs > 0 ? holding.heardAt + heartbeatTimeoutMs : Number.POSITIVE_INFINITY;
  return holding.timesOutAt <= silentAt
    ? { at: holding.timesOutAt, outcome: () => timedOut(timeoutMs) }
    : { at: silentAt, outcome: () => silent(heartbeatTimeoutMs) };
}

/** Undefined when there are none to wait for. */
function secretsOf(task: ServedTask, { secrets }: EffectPorts): Promise<Record<string, string>> | undefined {
  const ids = task.offer.secrets;
  if (ids.length === 0) return undefined;
  return Promise.all(ids.map(async (id) => [id, await secrets.resolve(id)] as const)).then((entries) =>
    Object.fromEntries(entries),
  );
}

function silent(heartbeatTimeoutMs: number): Outcome {
  return failure(
    'heartbeat_timeout',
    `The code of the node reported no progress for ${heartbeatTimeoutMs} ms (heartbeatTimeoutMs of its type).`,
    { retryable: true, details: { heartbeatTimeoutMs } },
  );
}
