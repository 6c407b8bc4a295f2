import type { Clock } from '../../ports/clock.ts';
import type { OpenEffectPorts } from '../../ports/effect-ports.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import type { LeasedTask, Tasks, TaskType } from '../../ports/store.ts';
import type { NodeTypes } from '../node-types/node-types.ts';
import { type Holding, ServedTask, type TaskOwner } from './served-task.ts';
import type { TaskBody, TaskNote, TaskResult } from './task-body.ts';
import type { FindHeld, WorkerHub } from './worker-hub.ts';
import type { WorkerSession } from './worker-session.ts';

/**
 * Tasks of runs that other processes hold, performed by workers of this one.
 *
 * H-11. A worker has such a task only while this process's own deadline in the store has not passed under the name with which it
 *       leased the task. Its result is durable in the store, under that lease, before the worker is answered.
 */
export interface BorrowedTasks {
  /** A worker has room. */
  room(session: WorkerSession): void;
  /** Workers of the tenant take tasks that did not before. */
  served(tenant: string): void;
  /** Something happened to a run elsewhere. */
  look(runId: string): void;
  /** Workers of the tenant left: what waits for them is given back. */
  unserved(tenant: string): void;
  /** The name under which tasks were leased is lost. */
  dropAll(): void;
  readonly findHeld: FindHeld;
  /** A worker has one. */
  hasHeld(): boolean;
  start(): void;
  stop(): void;
}

export interface BorrowedOptions {
  readonly store: Tasks;
  readonly hub: () => Pick<WorkerHub, 'offer' | 'drop' | 'sessions' | 'isServedHere'>;
  readonly types: Pick<NodeTypes, 'mappedTo'>;
  readonly openPorts: OpenEffectPorts;
  /** How often tasks are looked for that nothing was heard of. */
  readonly everyMs: number;
  readonly holder: () => string | undefined;
  readonly node: () => string;
  readonly clock: Clock;
  readonly log: Log;
}

interface Borrowed {
  readonly leased: LeasedTask;
  readonly served: ServedTask;
  noting: NodeJS.Timeout | undefined;
}

const MOST_AT_ONCE = 100;
const NOTE_AFTER_MS = 500;

export function createBorrowedTasks(options: BorrowedOptions): BorrowedTasks {
  const { store, clock, log } = options;
  const borrowed = new Map<string, Borrowed>();
  /** Tenants for which there may be something. */
  const wanted = new Set<string>();
  let unwatch: (() => void) | undefined;
  let looking: NodeJS.Timeout | undefined;
  let isLooking = false;
  const sessions = () => options.hub().sessions();

  function quietly(work: Promise<unknown>, what: string): void {
    work.catch((error: unknown) => log('warn', errorFields(error), what));
  }

  async function lookForMore(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    try {
      for (let found = roomsOf(sessions(), wanted); found.size > 0; found = roomsOf(sessions(), wanted))
        for (const [tenant, { types, room }] of found) await claim(tenant, [...types.values()], room);
    } catch (error) {
      log('warn', errorFields(error), 'looking for tasks of other processes failed');
    } finally {
      isLooking = false;
    }
  }

  async function claim(tenant: string, types: readonly TaskType[], room: number): Promise<void> {
    const holder = options.holder();
    const limit = Math.min(room, MOST_AT_ONCE);
    wanted.delete(tenant);
    if (holder === undefined) return;
    const performers = await performersOf(options.types, tenant, types);
    const asked = [...performers.values()].map(({ asked }) => asked);
    const leased = await store.claimTasks(holder, tenant, asked, limit);
    // As many as were asked for: there may be more when there is room again.
    if (leased.length === limit) wanted.add(tenant);
    for (const task of leased) borrow(task, holder, performers.get(nameOf(task))?.by ?? task.version);
  }

  function borrow(leased: LeasedTask, holder: string, version: string): void {
    const body = JSON.parse(leased.body) as TaskBody;
    const offer = { ...body.offer, version };
    const served = new ServedTask(offer, ownerOf(leased, body, holder), clock.now());
    borrowed.set(leased.taskId, { leased, served, noting: undefined });
    options.hub().offer(served);
  }

  function ownerOf(leased: LeasedTask, body: TaskBody, holder: string): TaskOwner {
    const { taskId, lease, tenant, runId, epoch } = leased;
    const { principal, nodeKey, attempt, limits } = body;
    const place = { tenant, principal, runId, epoch, nodeKey, nodeId: nodeKey, attempt, limits };
    let chunks: TaskResult['chunks'][number][] = [];
    const giveBack = (isLost: boolean): void => {
      forget(taskId);
      quietly(store.returnTask(taskId, lease, isLost), 'a task could not be given back');
    };
    return {
      mayLeave: () => options.holder() === holder && borrowed.get(taskId)?.leased === leased,
      openPorts() {
        chunks = [];
        return options.openPorts(place);
      },
      chunk(chunk, told) {
        chunks.push(chunk);
        told?.(true);
      },
      check: (outcome) => outcome,
      done(outcome, told) {
        forget(taskId);
        const result: TaskResult = { outcome, chunks };
        store.settleTask(taskId, lease, JSON.stringify(result)).then(
          (isKept) => told?.(isKept),
          (error: unknown) => {
            log('warn', { runId, ...errorFields(error) }, 'the result of a task could not be kept');
            told?.(false);
          },
        );
      },
      lost: () => giveBack(true),
      returned: () => giveBack(false),
      progressed: () => noteSoon(taskId),
    };
  }

  function noteSoon(taskId: string): void {
    const known = borrowed.get(taskId);
    if (known === undefined) return;
    known.noting ??= setTimeout(() => {
      known.noting = undefined;
      const { holding } = known.served;
      if (holding === undefined) return;
      const note = noteOf(holding, options.node());
      quietly(store.noteTask(taskId, known.leased.lease, JSON.stringify(note)), 'a task could not be noted');
    }, NOTE_AFTER_MS);
    known.noting.unref();
  }

  function forget(taskId: string): void {
    clearTimeout(borrowed.get(taskId)?.noting);
    borrowed.delete(taskId);
  }

  function drop(taskId: string, { served }: Borrowed, reason: 'cancelled' | 'lease_lost'): void {
    forget(taskId);
    options.hub().drop(served, reason);
  }

  /** No one wants a task any more that was taken down. */
  async function check(runId: string): Promise<void> {
    const stored = new Map((await store.readTasks([runId])).map((task) => [task.taskId, task]));
    for (const [taskId, known] of borrowed) {
      if (known.leased.runId !== runId) continue;
      if (stored.get(taskId)?.lease !== known.leased.lease) drop(taskId, known, 'cancelled');
    }
  }

  function lookEverywhere(): void {
    for (const { about } of sessions()) wanted.add(about.tenant);
    if (wanted.size > 0) void lookForMore();
  }

  return {
    room({ about }) {
      if (wanted.has(about.tenant)) void lookForMore();
    },
    served(tenant) {
      wanted.add(tenant);
      void lookForMore();
    },
    look(runId) {
      for (const { leased } of borrowed.values()) {
        if (leased.runId === runId) return quietly(check(runId), 'tasks of a run could not be read');
      }
    },
    unserved(tenant) {
      for (const { leased, served } of [...borrowed.values()]) {
        const { typeId, version } = served.offer;
        if (leased.tenant !== tenant || served.state !== 'waiting') continue;
        if (options.hub().isServedHere(tenant, typeId, version)) continue;
        options.hub().drop(served, 'shutdown');
        served.owner.returned();
      }
    },
    dropAll() {
      for (const [taskId, known] of [...borrowed]) drop(taskId, known, 'lease_lost');
    },
    findHeld(tenant, taskId, lease) {
      const served = borrowed.get(taskId)?.served;
      return served?.offer.tenant === tenant && served.holding?.lease === lease ? served : undefined;
    },
    hasHeld: () => [...borrowed.values()].some(({ served }) => served.holding !== undefined),
    start() {
      unwatch = store.watchTasks(lookEverywhere);
      looking = setInterval(lookEverywhere, options.everyMs);
      looking.unref();
    },
    stop() {
      unwatch?.();
      clearInterval(looking);
      for (const { noting } of borrowed.values()) clearTimeout(noting);
    },
  };
}

function nameOf({ typeId, version }: TaskType): string {
  return `${typeId}@${version}`;
}

/**
 * The version that performs tasks of each type: itself, or the one that an operator has mapped it to. What waits in the store keeps the
 * version it was put up with.
 */
async function performersOf(
  mappings: Pick<NodeTypes, 'mappedTo'>,
  tenant: string,
  types: readonly TaskType[],
): Promise<ReadonlyMap<string, { readonly asked: TaskType; readonly by: string }>> {
  const found = new Map<string, { readonly asked: TaskType; readonly by: string }>();
  for (const { typeId, version, to: by } of await mappings.mappedTo(tenant, types))
    found.set(nameOf({ typeId, version }), { asked: { typeId, version }, by });
  for (const asked of types) found.set(nameOf(asked), { asked, by: asked.version });
  return found;
}

interface Room {
  readonly types: Map<string, TaskType>;
  /** Tasks that its workers may take. */
  room: number;
}

/** Workers with room, by those tenants. */
function roomsOf(sessions: Iterable<WorkerSession>, tenants: ReadonlySet<string>): Map<string, Room> {
  const found = new Map<string, Room>();
  for (const { about, credit } of sessions) {
    if (credit <= 0 || !tenants.has(about.tenant)) continue;
    const known = found.get(about.tenant) ?? { types: new Map<string, TaskType>(), room: 0 };
    known.room += credit;
    for (const { typeId, version } of about.types)
      known.types.set(nameOf({ typeId, version }), { typeId, version });
    found.set(about.tenant, known);
  }
  return found;
}

function noteOf({ session, since, progress }: Holding, node: string): TaskNote {
  return { worker: session.about.name, node, since, ...(progress !== undefined && { progress }) };
}
