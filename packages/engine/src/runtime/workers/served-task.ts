import type { Json, JsonObject, TaskMessage } from '@weft/protocol';
import type { NodeEvent, OutputChunk } from '../../model/node-type.ts';
import type { Outcome } from '../../core/decide/step.ts';
import type { EffectPorts } from '../../ports/effect-ports.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ticket } from '../fairness/fair-queue.ts';
import type { Told } from '../scheduling/waiting-inputs.ts';
import { createTaskLog, type TaskLog, type TaskLogLimits } from './task-log.ts';
import type { TypeLane } from './task-board.ts';
import type { CancelReason, WorkerSession } from './worker-session.ts';

/** What is offered to workers: all they get, but for secrets and the number of the lease. */
export interface TaskOffer {
  readonly taskId: string;
  readonly tenant: string;
  readonly runId: string;
  readonly typeId: string;
  /** Of those who serve it. */
  readonly version: string;
  /** Tasks of its run at the same time. */
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly heartbeatTimeoutMs: number;
  readonly secrets: readonly string[];
  /** The rest of the message. */
  readonly message: Omit<
    TaskMessage,
    'type' | 'taskId' | 'lease' | 'typeId' | 'version' | 'runId' | 'secrets'
  >;
}

/** Names every member of a message, so that none is forgotten. */
type Line = { readonly [Member in keyof Required<TaskMessage>]: TaskMessage[Member] | undefined };

/** Whose task it is: a run that is held here, or another process that has it in the store. */
export interface TaskOwner {
  /** False: it leaves this process no more. Asked in the turn of the event loop in which its bytes would. */
  mayLeave(): boolean;
  /** For one performance. */
  openPorts(): EffectPorts;
  chunk(chunk: OutputChunk & { readonly index: number }, told: Told | undefined): void;
  /** Says what is wrong with the result, before secrets are hidden in it. */
  check(outcome: Outcome): Outcome;
  done(outcome: Outcome, told?: Told): void;
  /** The worker that had it lost its lease. */
  lost(): void;
  /** The worker that had it has given it back unperformed. */
  returned(): void;
  /** Something about it changed that others may want to know. */
  progressed?(): void;
}

/** What a worker has in hand. */
export interface Holding {
  readonly session: WorkerSession;
  readonly lease: number;
  readonly ports: EffectPorts;
  readonly log: TaskLog;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Index of the next piece of text; undefined where another process has heard those before. */
  nextChunk: number | undefined;
  streamedBytes: number;
  timer?: NodeJS.Timeout | undefined;
  timesOutAt: number;
  heardAt: number;
  progress?: { readonly at: number; readonly details: Json | undefined };
}

/**
 * A task of a worker, from when its node has started to its outcome.
 *
 *   resting ──its time has come──► waiting ──a worker is free──► given ──its bytes have left──► held ──result──► over
 *      └────────────────── a worker still has it ───────────────────────────────────────────────►┘
 *   given, held ──lease lost, handed back──► waiting
 *   any ──aborted──► over
 */
export class ServedTask {
  offer: TaskOffer;
  readonly owner: TaskOwner;
  state: 'resting' | 'waiting' | 'given' | 'held' | 'over' = 'resting';
  /** Milliseconds since the epoch: when it began to wait. */
  since: number;
  /** Its place among those that wait, and while a worker has it among those of its run. */
  ticket: Ticket<ServedTask> | undefined;
  lane: TypeLane | undefined;
  holding: Holding | undefined;
  /** How often it has left this process. */
  timesGiven = 0;
  /** How often in a row its worker lost the lease. */
  losses = 0;

  constructor(offer: TaskOffer, owner: TaskOwner, since: number) {
    this.offer = offer;
    this.owner = owner;
    this.since = since;
  }

  /** The line that a worker reads. Member by member, because a spread takes as long as the rest; what is undefined is left out. */
  line(lease: number, secrets: Readonly<Record<string, string>> | undefined): string {
    const { taskId, typeId, version, runId, message } = this.offer;
    const all: Line = {
      type: 'task',
      taskId,
      lease,
      typeId,
      version,
      runId,
      workflowId: message.workflowId,
      nodeId: message.nodeId,
      invocationId: message.invocationId,
      attempt: message.attempt,
      config: message.config,
      inputs: message.inputs,
      timeoutMs: message.timeoutMs,
      traceparent: message.traceparent,
      run: message.run,
      secrets,
    };
    return `${JSON.stringify(all)}\n`;
  }

  hold(
    session: WorkerSession,
    { lease, ports, nextChunk }: TakenLease,
    { clock, limits }: HoldTools,
  ): Holding {
    const { timeoutMs, message } = this.offer;
    const now = clock.monotonic();
    const holding: Holding = {
      session,
      lease,
      ports,
      log: createTaskLog(message.nodeId, limits),
      since: clock.now(),
      nextChunk,
      streamedBytes: 0,
      timesOutAt: timeoutMs > 0 ? now + timeoutMs : Number.POSITIVE_INFINITY,
      heardAt: now,
    };
    this.state = 'held';
    this.holding = holding;
    session.held.set(this.offer.taskId, this);
    return holding;
  }

  /** Tells the worker that has it to stop. */
  cancel(reason: CancelReason): void {
    const { holding, offer } = this;
    holding?.session.cancel({ taskId: offer.taskId, lease: holding.lease, reason });
  }

  /** No worker has it any more. */
  release(): void {
    const { holding } = this;
    if (holding === undefined) return;
    clearTimeout(holding.timer);
    this.holding = undefined;
    holding.session.held.delete(this.offer.taskId);
  }
}

export interface TakenLease {
  readonly lease: number;
  readonly ports: EffectPorts;
  readonly nextChunk: number | undefined;
}

interface HoldTools {
  readonly clock: Clock;
  readonly limits: TaskLogLimits;
}

/** How an attempt ends that has written log lines. */
export function withLog(outcome: Outcome, lines: readonly NodeEvent[]): Outcome {
  return lines.length === 0 ? outcome : { ...outcome, events: lines };
}

export function failure(
  code: string,
  message: string,
  options: { readonly retryable?: boolean; readonly details?: JsonObject } = {},
): Outcome {
  const { retryable = false, details } = options;
  return { ok: false, error: { code, message, retryable, ...(details !== undefined && { details }) } };
}
