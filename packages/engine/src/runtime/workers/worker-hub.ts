import {
  HostError,
  type RegisteredWorker,
  type RegisterWorkerRequest,
  type TaskReceipt,
  type TaskReport,
} from '@weft/protocol';
import type { Caller } from '../../host/host.ts';
import type { HostLimits } from '../../host/limits.ts';
import { NodeFailure } from '../../model/node-type.ts';
import type { EffectPorts } from '../../ports/effect-ports.ts';
import { type Clock, LONGEST_TIMEOUT_MS } from '../../ports/clock.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import type { Outcome } from '../../core/decide/step.ts';
import { failed, timedOut } from '../effects/performer.ts';
import type { NodeTypes } from '../node-types/node-types.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import type { Told } from '../scheduling/waiting-inputs.ts';
import { takeReport } from './reports.ts';
import { failure, type ServedTask, withLog } from './served-task.ts';
import { createTaskBoard, type TaskBoard } from './task-board.ts';
import { type CancelReason, type TaskSink, WorkerSession } from './worker-session.ts';

/**
 * The workers that are connected to this process, and the tasks that they perform.
 *
 * H-4. A worker has a task only while its lease holds: each report that is answered extends it, by no more than is left of this
 *      process's own claims. So a run is taken over only when the leases on its tasks have passed.
 * H-5. Bytes of a task leave the process only while the claim on its run holds, checked in that turn of the event loop.
 * H-6. A report counts only if it comes from the session that has the task, with the number of the lease under which it has it.
 *      Every lease has another number.
 * H-7. A result is answered when its outcome is durable; a repeated report is answered as the first one was.
 */
export interface WorkerHub {
  /** Throws `insecure_transport`, `rate_limited`, and what the registry of node types throws. */
  register(caller: Caller, request: RegisterWorkerRequest, isPrivate: boolean): Promise<RegisteredWorker>;
  /** Nothing is sent before `ready`. Undefined when the tenant has no such worker; also below. A second stream takes the place of the first. */
  stream(caller: Caller, workerId: string, sink: TaskSink): TaskStream | undefined;
  report(caller: Caller, workerId: string, report: TaskReport): Promise<TaskReceipt | undefined>;
  close(caller: Caller, workerId: string): boolean;
  sessions(): Iterable<WorkerSession>;
  counts(): { readonly workers: number; readonly waiting: number; readonly held: number };
  /** A worker of this process serves it, and takes tasks. */
  isServedHere(tenant: string, typeId: string, version: string): boolean;
  /** The task waits for a worker. */
  offer(task: ServedTask): void;
  /** Ends it without an outcome. */
  drop(task: ServedTask, reason: CancelReason): void;
  finish(task: ServedTask, outcome: Outcome, told?: Told): void;
  start(): void;
  /** From now on no worker is told to stop what it has: it may bring it to the next process. */
  drain(): void;
  /** Workers are sent away. */
  stop(): void;
}

export interface TaskStream {
  /** There is room again. */
  ready(): void;
  closed(): void;
}

/** Finds tasks that a worker says it has. */
export type FindHeld = (tenant: string, taskId: string, lease: number) => ServedTask | undefined;

export interface HubOptions {
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
  readonly log: Log;
  readonly types: Pick<NodeTypes, 'register'>;
  /** What is left of this process's own claims. */
  readonly claimLeftMs: () => number;
  readonly findHeld: FindHeld;
  /** The types that workers of this process serve are others than before. */
  readonly onServed: (tenant: string) => void;
  /** A worker has room, and nothing waits here for it. */
  readonly onRoom: (session: WorkerSession) => void;
}

/** Part of the lease after which a worker is to say that it is there. */
const HEARTBEAT_SHARE = 0.3;
const RETRY_AFTER_S = 5;
const MOST_SWEEPS_MS = 1_000;

export function createWorkerHub(options: HubOptions): WorkerHub {
  const { clock, limits, log } = options;
  const sessions = new Map<string, WorkerSession>();
  const perTenant = new Map<string, number>();
  const board: TaskBoard = createTaskBoard(give);
  /** Unlike those of other processes, and of this one's predecessors. */
  let lastLease = Buffer.from(options.random(5)).readUIntBE(0, 5) * 1_024;
  let waiting = 0;
  let held = 0;
  let sweeping: NodeJS.Timeout | undefined;
  let isDraining = false;

  function grantMs(): number {
    return Math.floor(Math.min(limits.workerLeaseMs, options.claimLeftMs()));
  }

  function countTenant(tenant: string, by: 1 | -1): void {
    const now = (perTenant.get(tenant) ?? 0) + by;
    if (now === 0) perTenant.delete(tenant);
    else perTenant.set(tenant, now);
  }

  async function register(
    caller: Caller,
    request: RegisterWorkerRequest,
    isPrivate: boolean,
  ): Promise<RegisteredWorker> {
    const { tenant } = caller;
    if (!isPrivate) refuseSecrets(request);
    refuseTooMany('host', sessions.size, limits.maxWorkers);
    refuseTooMany('tenant', perTenant.get(tenant) ?? 0, limits.maxWorkersPerTenant);
    countTenant(tenant, 1);
    try {
      const types = await options.types.register(caller, request.types, { dev: request.dev === true });
      const leaseMs = grantMs();
      const session = new WorkerSession(
        {
          workerId: randomId(options.random),
          tenant,
          name: request.name,
          sdk: request.sdk,
          connectedAt: clock.now(),
          types: types.map(({ typeId, version, digest }) => ({ typeId, version, digest })),
        },
        request.capacity,
        clock.monotonic() + limits.workerLeaseMs,
      );
      sessions.set(session.about.workerId, session);
      board.join(session);
      const resumed = await resume(session, request.resume ?? []);
      options.onServed(tenant);
      return {
        workerId: session.about.workerId,
        leaseMs: Math.max(leaseMs, 1),
        heartbeatMs: Math.max(Math.floor(limits.workerLeaseMs * HEARTBEAT_SHARE), 1),
        types: [...session.about.types],
        resumed,
      };
    } catch (error) {
      countTenant(tenant, -1);
      throw error;
    }
  }

  /** A worker that was cut off, or whose host has started again, keeps what it still has. */
  async function resume(
    session: WorkerSession,
    refs: readonly { readonly taskId: string; readonly lease: number }[],
  ): Promise<{ taskId: string; lease: number }[]> {
    const resumed: { taskId: string; lease: number }[] = [];
    for (const { taskId, lease } of refs) {
      const task = options.findHeld(session.about.tenant, taskId, lease);
      if (task === undefined || !serves(session, task)) continue;
      if (await adopt(session, task, lease)) resumed.push({ taskId, lease });
    }
    return resumed;
  }

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
    board.serve(session);
    if (session.credit > 0) options.onRoom(session);
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
        if (task.state === 'given') endUnperformed(task, ports.hideOutcome(failureOf(task, error)));
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

  function take(
    session: WorkerSession,
    task: ServedTask,
    by: { readonly lease: number; readonly ports: EffectPorts; readonly nextChunk: number | undefined },
  ): void {
    held += 1;
    task.hold(session, by.lease, {
      ...by,
      logLimits: limits,
      now: clock.now(),
      monotonic: clock.monotonic(),
    });
    arm(task);
    task.owner.progressed?.();
  }

  /** Wakes when the attempt has taken too long, or has said nothing for too long. */
  function arm(task: ServedTask): void {
    const { holding } = task;
    if (holding === undefined) return;
    const { heartbeatTimeoutMs, timeoutMs } = task.offer;
    const silentAt = heartbeatTimeoutMs > 0 ? holding.heardAt + heartbeatTimeoutMs : Number.POSITIVE_INFINITY;
    const due = Math.min(holding.timesOutAt, silentAt);
    if (due === Number.POSITIVE_INFINITY) return;
    const left = due - clock.monotonic();
    if (left > 0) {
      holding.timer = setTimeout(() => arm(task), Math.min(Math.ceil(left), LONGEST_TIMEOUT_MS));
      holding.timer.unref();
      return;
    }
    const isTime = holding.timesOutAt <= silentAt;
    cancelAtWorker(task, 'timeout');
    finish(task, isTime ? timedOut(timeoutMs) : silent(heartbeatTimeoutMs));
  }

  function offer(task: ServedTask): void {
    waiting += 1;
    board.add(task);
  }

  function cancelAtWorker(task: ServedTask, reason: CancelReason): void {
    const { holding, offer: offered } = task;
    holding?.session.cancel({ taskId: offered.taskId, lease: holding.lease, reason });
  }

  /** It neither waits nor is it at a worker; whoever had it may take another one. */
  function detach(task: ServedTask): void {
    const session = task.holding?.session;
    if (task.state === 'waiting') waiting -= 1;
    if (session !== undefined) held -= 1;
    task.release();
    board.remove(task);
    if (session !== undefined) serve(session);
  }

  function over(task: ServedTask): void {
    if (task.state === 'over') return;
    detach(task);
    task.state = 'over';
  }

  function endUnperformed(task: ServedTask, outcome: Outcome): void {
    over(task);
    task.owner.done(outcome);
  }

  function finish(task: ServedTask, outcome: Outcome, told?: Told): void {
    const { holding, owner } = task;
    if (holding === undefined) return;
    const { ports, log: lines, nextChunk } = holding;
    const checked = owner.check(outcome);
    if (checked.ok && nextChunk !== undefined && nextChunk > 0)
      owner.chunk({ ...ports.hideChunk({ chunk: '', isLast: true }), index: nextChunk }, undefined);
    const hidden = ports.hideOutcome(withLog(checked, lines.lines()));
    over(task);
    owner.done(hidden, told);
  }

  function failureOf({ offer: { runId, typeId, message } }: ServedTask, error: unknown): Outcome {
    if (error instanceof NodeFailure) return failed(error);
    log(
      'error',
      { runId, nodeId: message.nodeId, typeId, ...errorFields(error) },
      'a task could not be offered',
    );
    return failure('node_failed', 'The task could not be offered; the host log says why.');
  }

  /** Tasks that a session had when it ended go to others: how far they came is unknown, however it ended. */
  function abandon(session: WorkerSession): void {
    for (const task of [...session.held.values()]) {
      detach(task);
      task.owner.lost();
    }
  }

  function end(session: WorkerSession, reason: 'replaced' | 'shutdown' | 'lease_lost'): void {
    if (session.isOver) return;
    session.isOver = true;
    const { workerId, tenant } = session.about;
    sessions.delete(workerId);
    countTenant(tenant, -1);
    board.part(session);
    session.close(reason);
    options.onServed(tenant);
  }

  function lose(session: WorkerSession): void {
    const { workerId, name, tenant } = session.about;
    log('info', { tenant, workerId, worker: name, tasks: session.held.size }, 'a worker lost its lease');
    end(session, 'lease_lost');
    abandon(session);
  }

  function sweep(): void {
    const now = clock.monotonic();
    for (const session of [...sessions.values()]) if (session.leaseUntil <= now) lose(session);
  }

  function sessionOf({ tenant }: Caller, workerId: string): WorkerSession | undefined {
    const session = sessions.get(workerId);
    if (session === undefined || session.about.tenant !== tenant) return undefined;
    if (session.leaseUntil > clock.monotonic()) return session;
    lose(session);
    return undefined;
  }

  return {
    register,
    stream(caller, workerId, sink) {
      const session = sessionOf(caller, workerId);
      if (session === undefined) return undefined;
      session.close('replaced');
      session.sink = sink;
      session.isFull = true;
      options.onServed(caller.tenant);
      let isFirst = true;
      return {
        ready() {
          if (session.sink !== sink) return;
          session.isFull = false;
          session.sendCancels();
          if (isFirst) void again(session);
          else serve(session);
          isFirst = false;
        },
        closed() {
          if (session.sink !== sink) return;
          session.sink = undefined;
          options.onServed(session.about.tenant);
        },
      };
    },
    async report(caller, workerId, report) {
      const session = sessionOf(caller, workerId);
      if (session === undefined) return undefined;
      if (session.reports >= limits.workerReports) throw tooManyReports(limits.workerReports);
      const leaseMs = grantMs();
      session.leaseUntil = clock.monotonic() + limits.workerLeaseMs;
      session.reports += 1;
      try {
        const before = session.isDraining;
        const refused = await takeReport({ clock, limits, finish, giveBack }, session, report);
        if (before !== session.isDraining) options.onServed(caller.tenant);
        return { leaseMs, refused };
      } finally {
        session.reports -= 1;
        serve(session);
      }
    },
    close(caller, workerId) {
      const session = sessionOf(caller, workerId);
      if (session === undefined) return false;
      end(session, 'shutdown');
      abandon(session);
      return true;
    },
    sessions: () => sessions.values(),
    counts: () => ({ workers: sessions.size, waiting, held }),
    isServedHere(tenant, typeId, version) {
      for (const session of board.lane(tenant, typeId, version)?.sessions ?? [])
        if (session.sink !== undefined && !session.isDraining) return true;
      return false;
    },
    offer,
    drop(task, reason) {
      if (task.state === 'over') return;
      if (!isDraining) cancelAtWorker(task, reason);
      over(task);
    },
    finish,
    start() {
      sweeping = setInterval(sweep, Math.min(limits.workerLeaseMs / 4, MOST_SWEEPS_MS));
      sweeping.unref();
    },
    drain() {
      isDraining = true;
    },
    stop() {
      clearInterval(sweeping);
      for (const session of [...sessions.values()]) end(session, 'shutdown');
    },
  };

  function giveBack(task: ServedTask): void {
    detach(task);
    task.owner.returned();
  }

  /** What a stream that broke off may not have brought: a worker passes over what it has. */
  async function again(session: WorkerSession): Promise<void> {
    for (const task of [...session.held.values()]) {
      const { holding } = task;
      if (holding?.session !== session) continue;
      const secrets = await secretsOf(task, holding.ports)?.catch(() => undefined);
      if (task.holding !== holding || session.isOver || !task.owner.mayLeave()) continue;
      session.send(task.line(holding.lease, secrets));
    }
    session.sendCancels();
    serve(session);
  }
}

function serves({ about }: WorkerSession, { offer }: ServedTask): boolean {
  return about.types.some(({ typeId, version }) => typeId === offer.typeId && version === offer.version);
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

function refuseSecrets({ types }: RegisterWorkerRequest): void {
  const index = types.findIndex(({ secrets }) => secrets !== undefined && secrets.length > 0);
  const type = types[index];
  if (type === undefined) return;
  throw new HostError(
    'insecure_transport',
    `Node type "${type.typeId}" declares secrets, and this connection is neither loopback nor TLS. Connect over https.`,
    { field: `types.${index}.secrets`, typeId: type.typeId },
  );
}

function refuseTooMany(scope: 'tenant' | 'host', observed: number, limit: number): void {
  if (observed < limit) return;
  throw new HostError(
    'rate_limited',
    `There are already ${observed} workers connected for this ${scope}; the limit is ${limit}.`,
    {
      retryAfterMs: RETRY_AFTER_S * 1_000,
      retryAfterSeconds: RETRY_AFTER_S,
      scope: scope === 'host' ? 'global' : scope,
      limit,
      observed,
    },
    { retryAfter: RETRY_AFTER_S },
  );
}

function tooManyReports(limit: number): HostError {
  return new HostError(
    'rate_limited',
    `This worker has ${limit} reports in progress; wait for an answer before the next one.`,
    { retryAfterMs: 1_000, retryAfterSeconds: 1, scope: 'worker', limit },
    { retryAfter: 1 },
  );
}
