import {
  HostError,
  type RegisteredWorker,
  type RegisterWorkerRequest,
  type TaskReceipt,
  type TaskReport,
} from '@weft/protocol';
import type { Caller } from '../../host/host.ts';
import type { NodeTypes } from '../node-types/node-types.ts';
import { randomId } from '../runs/ids.ts';
import { takeReport } from './reports.ts';
import type { ServedTask } from './served-task.ts';
import { createTaskDesk, type DeskOptions, type TaskDesk } from './task-desk.ts';
import { type TaskSink, WorkerSession } from './worker-session.ts';

/**
 * The workers that are connected to this process, and the tasks that they perform.
 *
 * H-4. A worker has a task only while its lease holds: each report that is answered extends it, by no more than is left of this
 *      process's own claims. So a run is taken over only when the leases on its tasks have passed.
 * H-6. A report counts only if it comes from the session that has the task, with the number of the lease under which it has it.
 *      Every lease has another number.
 * H-7. A result is answered when its outcome is durable; a repeated report is answered as the first one was.
 */
export interface WorkerHub extends Pick<TaskDesk, 'offer' | 'drop' | 'finish' | 'drain'> {
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
  start(): void;
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

export interface HubOptions extends DeskOptions {
  readonly types: Pick<NodeTypes, 'register'>;
  /** What is left of this process's own claims. */
  readonly claimLeftMs: () => number;
  readonly findHeld: FindHeld;
  /** The types that workers of this process serve are others than before. */
  readonly onServed: (tenant: string) => void;
}

/** Part of the lease after which a worker is to say that it is there. */
const HEARTBEAT_SHARE = 0.3;
const RETRY_AFTER_S = 5;
const MOST_SWEEPS_MS = 1_000;

export function createWorkerHub(options: HubOptions): WorkerHub {
  const { clock, limits, log } = options;
  const sessions = new Map<string, WorkerSession>();
  const perTenant = new Map<string, number>();
  const { board, ...desk } = createTaskDesk(options);
  let sweeping: NodeJS.Timeout | undefined;

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
    let session: WorkerSession;
    try {
      const types = await options.types.register(caller, request.types, { dev: request.dev === true });
      session = new WorkerSession(
        {
          workerId: randomId(options.random),
          tenant,
          name: request.name,
          sdk: request.sdk,
          connectedAt: clock.now(),
          types: types.map(({ typeId, version, digest }) => ({ typeId, version, digest })),
        },
        request.capacity,
        leaseEnd(),
      );
    } catch (error) {
      countTenant(tenant, -1);
      throw error;
    }
    const leaseMs = grantMs();
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
  }

  function leaseEnd(): number {
    return clock.monotonic() + limits.workerLeaseMs;
  }

  /** A worker that was cut off, or whose host has started again, keeps what it still has. */
  async function resume(session: WorkerSession, refs: RegisteredWorker['resumed']): Promise<typeof refs> {
    const resumed: typeof refs = [];
    for (const { taskId, lease } of refs) {
      const task = options.findHeld(session.about.tenant, taskId, lease);
      if (task === undefined || !serves(session, task)) continue;
      if (await desk.adopt(session, task, lease)) resumed.push({ taskId, lease });
    }
    return resumed;
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
    desk.abandon(session);
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
    ...desk,
    register,
    stream(caller, workerId, sink) {
      const session = sessionOf(caller, workerId);
      if (session === undefined) return undefined;
      return openStream(session, sink, { serve: desk.serve, onServed: options.onServed });
    },
    async report(caller, workerId, report) {
      const session = sessionOf(caller, workerId);
      if (session === undefined) return undefined;
      if (session.reports >= limits.workerReports) throw tooManyReports(limits.workerReports);
      const leaseMs = grantMs();
      session.leaseUntil = leaseEnd();
      session.reports += 1;
      try {
        const before = session.isDraining;
        const refused = await takeReport({ ...desk, clock, limits }, session, report);
        if (before !== session.isDraining) options.onServed(caller.tenant);
        return { leaseMs, refused };
      } finally {
        session.reports -= 1;
        desk.serve(session);
      }
    },
    close(caller, workerId) {
      const session = sessionOf(caller, workerId);
      if (session === undefined) return false;
      end(session, 'shutdown');
      desk.abandon(session);
      return true;
    },
    sessions: () => sessions.values(),
    counts: () => ({ workers: sessions.size, ...desk.counts() }),
    isServedHere(tenant, typeId, version) {
      for (const session of board.lane(tenant, typeId, version)?.sessions ?? [])
        if (session.sink !== undefined && !session.isDraining) return true;
      return false;
    },
    start() {
      sweeping = setInterval(sweep, Math.min(limits.workerLeaseMs / 4, MOST_SWEEPS_MS));
      sweeping.unref();
    },
    stop() {
      clearInterval(sweeping);
      for (const session of [...sessions.values()]) end(session, 'shutdown');
    },
  };
}

/** Takes the place of the session's stream, if it has one. */
function openStream(
  session: WorkerSession,
  sink: TaskSink,
  { serve, onServed }: Pick<TaskDesk, 'serve'> & Pick<HubOptions, 'onServed'>,
): TaskStream {
  session.close('replaced');
  session.sink = sink;
  session.isFull = true;
  session.resends = [...session.held.values()];
  onServed(session.about.tenant);
  return {
    ready() {
      if (session.sink !== sink) return;
      session.isFull = false;
      serve(session);
    },
    closed() {
      if (session.sink !== sink) return;
      session.sink = undefined;
      onServed(session.about.tenant);
    },
  };
}

function serves({ about }: WorkerSession, { offer }: ServedTask): boolean {
  return about.types.some(({ typeId, version }) => typeId === offer.typeId && version === offer.version);
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
