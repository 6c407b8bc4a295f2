import { createFairQueue, type FairQueue } from '../fairness/fair-queue.ts';
import type { ServedTask } from './served-task.ts';
import type { WorkerSession } from './worker-session.ts';

/** Tasks of one version of a type that wait, and the workers that serve it. */
export interface TypeLane {
  readonly tenant: string;
  readonly typeId: string;
  readonly version: string;
  readonly queue: FairQueue<ServedTask>;
  readonly sessions: Set<WorkerSession>;
}

/**
 * Brings tasks and workers together.
 *
 * H-1. Runs of a tenant alternate, and none has more tasks at workers than its limit.
 * H-2. Of the workers that may take a task, the one with the least of its capacity in use gets it; none gets more than its capacity.
 * H-3. Nothing is given to a worker whose stream has no room.
 */
export interface TaskBoard {
  /** The task waits from now on. */
  add(task: ServedTask): void;
  join(session: WorkerSession): void;
  part(session: WorkerSession): void;
  /** A worker may have become free. */
  serve(session: WorkerSession): void;
  lane(tenant: string, typeId: string, version: string): TypeLane | undefined;
  lanes(): Iterable<TypeLane>;
  /** The task neither waits nor counts among those of its run any more: another one may go. */
  remove(task: ServedTask): void;
}

/** `give` gets a task that has its place among those of its run; it calls neither back in the same turn. */
export function createTaskBoard(give: (session: WorkerSession, task: ServedTask) => void): TaskBoard {
  const lanes = new Map<string, TypeLane>();
  const pumping = new Set<TypeLane>();

  function open(tenant: string, typeId: string, version: string): TypeLane {
    const key = keyOf(tenant, typeId, version);
    const known = lanes.get(key);
    if (known !== undefined) return known;
    const queue = createFairQueue<ServedTask>({ laneQuota: (_depth, { offer }) => offer.concurrency });
    const lane = { tenant, typeId, version, queue, sessions: new Set<WorkerSession>() };
    lanes.set(key, lane);
    return lane;
  }

  function giveNext(lane: TypeLane, session: WorkerSession): boolean {
    const ticket = lane.queue.take();
    if (ticket === undefined) return false;
    ticket.item.state = 'given';
    give(session, ticket.item);
    return true;
  }

  /** A task that is refused its turn frees a place: the next one is taken by this loop, not by recursion. */
  function pump(lane: TypeLane): void {
    if (pumping.has(lane)) return;
    pumping.add(lane);
    for (;;) {
      const session = lane.queue.next() === undefined ? undefined : leastLoaded(lane.sessions);
      if (session === undefined || !giveNext(lane, session)) break;
    }
    pumping.delete(lane);
  }

  function tidy(lane: TypeLane): void {
    if (lane.sessions.size + lane.queue.waiting() + lane.queue.held() === 0)
      lanes.delete(keyOf(lane.tenant, lane.typeId, lane.version));
  }

  return {
    add(task) {
      const { tenant, typeId, version, runId } = task.offer;
      const lane = open(tenant, typeId, version);
      task.state = 'waiting';
      task.lane = lane;
      task.ticket = lane.queue.push(task, runId);
      pump(lane);
    },
    remove(task) {
      const { lane, ticket } = task;
      if (lane === undefined) return;
      task.lane = undefined;
      task.ticket = undefined;
      ticket?.leave();
      pump(lane);
      tidy(lane);
    },
    join(session) {
      const { tenant, types } = session.about;
      session.lanes = types.map(({ typeId, version }) => open(tenant, typeId, version));
      for (const lane of session.lanes) lane.sessions.add(session);
    },
    part(session) {
      for (const lane of session.lanes) {
        lane.sessions.delete(session);
        tidy(lane);
      }
    },
    serve(session) {
      const { lanes: served } = session;
      let idle = 0;
      // One task of each type in turn.
      while (idle < served.length && session.credit > 0) {
        const lane = served[session.turn % served.length];
        session.turn = (session.turn + 1) % served.length;
        idle = lane !== undefined && giveNext(lane, session) ? 0 : idle + 1;
      }
    },
    lane: (tenant, typeId, version) => lanes.get(keyOf(tenant, typeId, version)),
    lanes: () => lanes.values(),
  };
}

function leastLoaded(sessions: ReadonlySet<WorkerSession>): WorkerSession | undefined {
  let best: WorkerSession | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const session of sessions) {
    if (session.credit <= 0) continue;
    const { load } = session;
    if (load >= least) continue;
    best = session;
    least = load;
    if (load === 0) break;
  }
  return best;
}

/** A tenant's name may hold any character but control ones. */
function keyOf(tenant: string, typeId: string, version: string): string {
  return `${tenant}\n${typeId}@${version}`;
}
