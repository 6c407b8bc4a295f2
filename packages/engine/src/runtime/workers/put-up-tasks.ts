import type { Clock } from '../../ports/clock.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import type { NewTask, StoredTask, Tasks } from '../../ports/store.ts';
import type { EffectTask } from '../effects/performer.ts';
import { executionOf } from '../effects/effect-context.ts';
import { isOnce } from './own-task.ts';
import type { ServedTask } from './served-task.ts';
import type { TaskBody, TaskResult } from './task-body.ts';
import type { WorkerDirectory } from './worker-directory.ts';
import type { WorkerHub } from './worker-hub.ts';

/**
 * Tasks of runs that this process holds, put up in the store for workers of others.
 *
 * H-12. A task is either here or put up, never both: it comes back only when it was taken down, and it is taken down only while
 *       no one has it. Its result is taken from the store by the holder of the run, whichever process that is by then.
 */
export interface PutUpTasks {
  /** Before a task is offered: hears of what other processes serve, where that matters. */
  prepare(own: PutUp): Promise<unknown> | undefined;
  has(own: PutUp): boolean;
  /** Puts it up if workers of another process serve it and none of this one does, or if it may be lost but once; false: it stays here. */
  offer(own: PutUp): boolean;
  /** Of a task that had begun before: true when the store knows of it, and it stays there or has its result. */
  find(own: PutUp): Promise<boolean>;
  /** No one wants it any more. */
  withdraw(own: PutUp): void;
  /** It is no longer ours; the next holder of the run finds it. */
  leave(own: PutUp): void;
  /** Something happened to a run elsewhere. */
  look(runId: string): void;
  /** Hears of the tasks of a run what the store knows. */
  read(runId: string): Promise<void>;
  /** As it was last seen in the store. */
  noteOf(own: PutUp): StoredTask | undefined;
  start(): void;
  stop(): void;
}

/** A task that may be put up, and what happens to it. */
export interface PutUp {
  readonly task: EffectTask;
  readonly served: ServedTask;
  readonly onResult: (result: TaskResult, settled: () => void) => void;
  /** It is here again: no one has it. */
  readonly onBack: () => void;
  /** False: it is over; `settled` is called when that is durable. */
  readonly onLost: (losses: number, settled: () => void) => boolean;
}

export interface PutUpOptions {
  readonly store: Tasks;
  readonly hub: () => Pick<WorkerHub, 'isServedHere' | 'drop'>;
  readonly directory: () => WorkerDirectory;
  readonly clock: Clock;
  readonly log: Log;
  /** How often it is looked whether others serve what waits here. */
  readonly everyMs: number;
  /** How often what is put up is looked at, whatever was heard of it. */
  readonly readEveryMs: number;
  /** Those that wait here and that no worker of this process serves. */
  readonly waiting: () => Iterable<PutUp>;
}

export function createPutUpTasks(options: PutUpOptions): PutUpTasks {
  const { store, log } = options;
  const up = new Map<string, PutUp>();
  const known = new Map<string, StoredTask>();
  const inTurn = createTurns();
  const isServedHere = ({ served }: PutUp): boolean => isServedBy(options.hub(), served);
  const belongsHere = (own: PutUp): boolean => !isOnce(own.task) && isServedHere(own);
  let stopLooking: (() => void) | undefined;
  let readAt = 0;

  function quietly(work: Promise<unknown>, what: string): void {
    work.catch((error: unknown) => log('warn', errorFields(error), what));
  }

  function isOurs(own: PutUp): boolean {
    return up.get(idOf(own)) === own;
  }

  function forget(own: PutUp): void {
    if (!isOurs(own)) return;
    up.delete(idOf(own));
    known.delete(idOf(own));
  }

  async function putUp(own: PutUp): Promise<void> {
    if (!isOurs(own)) return;
    try {
      if (await store.offerTask(newTask(own))) return;
    } catch (error) {
      // Whether it is there is not known: what comes next looks.
      log('warn', { runId: own.task.runId, ...errorFields(error) }, 'a task could not be put up');
      return;
    }
    // The claim on the run is lost; its holder takes care of the rest.
    forget(own);
  }

  /** A worker of this process serves it by now. */
  async function takeBack(own: PutUp): Promise<void> {
    const isBack = isOurs(own) && (await store.withdrawTask(idOf(own), own.task.epoch, true));
    if (!isBack || !isOurs(own)) return;
    forget(own);
    own.onBack();
  }

  function settle(own: PutUp, stored: StoredTask): void {
    if (stored.result === undefined) return;
    forget(own);
    own.onResult(JSON.parse(stored.result) as TaskResult, () =>
      quietly(
        inTurn(own, () => store.withdrawTask(stored.taskId, stored.epoch, false)),
        'a task could not be taken down',
      ),
    );
  }

  /** Lost once too often. What was given and may not be given again is known to the store until its end is durable. */
  function isOver(own: PutUp, { taskId, epoch, losses }: StoredTask): boolean {
    const takeDown = () =>
      quietly(store.withdrawTask(taskId, epoch, false), 'a task could not be taken down');
    if (losses === 0 || own.onLost(losses, takeDown)) return false;
    forget(own);
    if (!isOnce(own.task)) takeDown();
    return true;
  }

  async function read(runIds: ReadonlySet<string>): Promise<void> {
    const asked = [...up.values()].filter(({ task }) => runIds.has(task.runId));
    const stored = new Map((await store.readTasks([...runIds])).map((task) => [task.taskId, task]));
    await Promise.all(asked.map((own) => inTurn(own, () => heard(own, stored.get(idOf(own))))));
  }

  async function heard(own: PutUp, stored: StoredTask | undefined): Promise<void> {
    if (!isOurs(own)) return;
    if (stored === undefined) return await putUp(own);
    const wasHeld = known.get(stored.taskId)?.holder !== undefined;
    known.set(stored.taskId, stored);
    if (stored.result !== undefined) return settle(own, stored);
    if (stored.holder !== undefined) return;
    if (isOver(own, stored)) return;
    if (belongsHere(own)) await takeBack(own);
    else if (wasHeld || stored.epoch !== own.task.epoch) await putUp(own); // so that others hear of it
  }

  async function findInStore(own: PutUp): Promise<boolean> {
    const stored = (await store.readTasks([own.task.runId])).find(({ taskId }) => taskId === idOf(own));
    if (stored === undefined) return false;
    up.set(idOf(own), own);
    known.set(stored.taskId, stored);
    settle(own, stored);
    if (stored.result !== undefined || (stored.holder === undefined && isOver(own, stored))) return true;
    const isFree = stored.holder === undefined && !isOnce(own.task);
    if (isFree && (await store.withdrawTask(stored.taskId, stored.epoch, true))) {
      forget(own);
      return false;
    }
    // Under our claim from now on, so that it is leased again if its holder is lost.
    await putUp(own);
    return true;
  }

  function withdraw(own: PutUp): void {
    if (!isOurs(own)) return;
    forget(own);
    quietly(
      inTurn(own, () => store.withdrawTask(idOf(own), own.task.epoch, false)),
      'a task could not be taken down',
    );
  }

  function offer(own: PutUp): boolean {
    const { tenant, typeId, version } = own.served.offer;
    const isForOthers = !isServedHere(own) && options.directory().isServedElsewhere(tenant, typeId, version);
    if (!isForOthers && !isOnce(own.task)) return false;
    options.hub().drop(own.served, 'shutdown');
    own.served.state = 'resting';
    up.set(idOf(own), own);
    quietly(
      inTurn(own, () => putUp(own)),
      'a task could not be put up',
    );
    return true;
  }

  /** What notifications have missed, and what other processes have begun to serve. */
  async function lookAround(): Promise<void> {
    const now = options.clock.monotonic();
    if (up.size > 0 && now - readAt >= options.readEveryMs) {
      readAt = now;
      await read(new Set([...up.values()].map(({ task }) => task.runId)));
    }
    const back = [...up.values()].filter(
      (own) => known.get(idOf(own))?.holder === undefined && belongsHere(own),
    );
    for (const own of back) await inTurn(own, () => takeBack(own));
    const waiting = [...options.waiting()].filter((own) => !isServedHere(own));
    const tenants = new Set(waiting.map(({ served }) => served.offer.tenant));
    for (const tenant of tenants) await options.directory().refresh(tenant);
    for (const own of waiting) if (own.served.state === 'waiting') offer(own);
  }

  return {
    prepare(own) {
      return isServedHere(own) ? undefined : options.directory().refresh(own.served.offer.tenant);
    },
    has: isOurs,
    offer,
    find: async (own) => {
      let isFound = true;
      await inTurn(own, async () => (isFound = await findInStore(own)));
      return isFound;
    },
    withdraw,
    leave: forget,
    look(runId) {
      for (const { task } of up.values())
        if (task.runId === runId) return quietly(read(new Set([runId])), 'tasks of a run could not be read');
    },
    read: (runId) => read(new Set([runId])),
    noteOf: (own) => (isOurs(own) ? known.get(idOf(own)) : undefined),
    start() {
      stopLooking = repeatedly(options.everyMs, () =>
        lookAround().catch((error: unknown) =>
          log('warn', errorFields(error), 'tasks that are put up could not be read'),
        ),
      );
    },
    stop: () => stopLooking?.(),
  };
}

function isServedBy(hub: ReturnType<PutUpOptions['hub']>, { offer }: ServedTask): boolean {
  return hub.isServedHere(offer.tenant, offer.typeId, offer.version);
}

export function newTask({ task, served: { offer } }: PutUp): NewTask {
  const { principal, effect, limits, runId, epoch } = task;
  const { taskId, tenant, typeId, version } = offer;
  const { attempt } = effect;
  const body: TaskBody = { offer, principal, nodeKey: executionOf(effect), attempt, limits };
  return {
    ...{ taskId, tenant, runId, epoch, typeId, version },
    isOnce: isOnce(task),
    body: JSON.stringify(body),
  };
}

/** Not while the time before has not ended. Returns the way to stop. */
function repeatedly(everyMs: number, work: () => Promise<void>): () => void {
  let isWorking = false;
  const timer = setInterval(() => {
    if (isWorking) return;
    isWorking = true;
    void work().finally(() => {
      isWorking = false;
    });
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** What is done with one task in the store is done one after the other: no look finds it half taken back. */
function createTurns(): (own: PutUp, work: () => Promise<unknown>) => Promise<void> {
  const last = new WeakMap<PutUp, Promise<void>>();
  return (own, work) => {
    const done = (last.get(own) ?? Promise.resolve()).then(work).then(() => undefined);
    const settled = done.catch(() => undefined);
    last.set(own, settled);
    return done;
  };
}

function idOf({ served }: PutUp): string {
  return served.offer.taskId;
}
