import type { WorkLimits } from '@weft/protocol';
import type { HostLimits } from '../../host/limits.ts';
import type { ServedBy } from '../../model/node-type.ts';
import type { Clock } from '../../ports/clock.ts';
import type { OpenEffectPorts } from '../../ports/effect-ports.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import type { Outcome } from '../../core/decide/step.ts';
import { invocationOf } from '../effects/effect-context.ts';
import { effectType, type EffectHandle, type EffectTask, type Performer } from '../effects/performer.ts';
import type { NodeTypes } from '../node-types/node-types.ts';
import type { NewTask, StoredTask } from '../../ports/store.ts';
import { checkedOutcome, misfit } from './check-values.ts';
import { newTask, type PutUp, type PutUpTasks } from './put-up-tasks.ts';
import { createCutOffTasks } from './cut-off-tasks.ts';
import { createOwnTaskIndex, isOnce, offerOf, outcomeOfLoss, OwnTask, placeOf } from './own-task.ts';
import type { ServedTask, TaskOffer, TaskOwner } from './served-task.ts';
import type { TaskResult } from './task-body.ts';
import type { FindHeld, WorkerHub } from './worker-hub.ts';

/**
 * Tasks of runs that this process holds.
 *
 * H-8. A task takes no place among the effects of the host, and its time does not run, before a worker has it.
 * H-9. What had begun under an earlier holder is offered when every lease of before this process began has passed, unless the
 *      worker that has it comes back first: then it keeps it. A task that was cut off here waits as long.
 * H-10. A lost lease repeats the task under the same invocation id and attempt, or ends it as unknown where the node says so. One
 *       that lost five workers in a row fails with `worker_lost`.
 * H-13. A task whose outcome may not be unknown always goes through the store, which knows whether a worker was given it. If not, it waits for one
 *       again, whichever process holds the run.
 */
export interface OwnTasks extends Pick<Performer, 'perform'> {
  readonly findHeld: FindHeld;
  readonly putUp: PutUpTasks;
  of(runId: string): readonly OwnTaskView[];
  /** Other versions may perform what waits. */
  remap(tenant: string): void;
  /** A worker may be at a task that was cut off. */
  hasCutOff(): boolean;
  start(): void;
}

/** Where a task is. */
export interface OwnTaskView {
  readonly served: ServedTask;
  /** As it stands in the store, if it is put up there. */
  readonly elsewhere: StoredTask | undefined;
}

export interface OwnTaskOptions {
  readonly hub: () => Pick<WorkerHub, 'offer' | 'drop' | 'isServedHere'>;
  readonly putUp: (waiting: () => Iterable<PutUp>) => PutUpTasks;
  readonly types: Pick<NodeTypes, 'resolveServed'>;
  readonly openPorts: OpenEffectPorts;
  readonly clock: Clock;
  readonly limits: HostLimits;
  readonly log: Log;
}

const LOOK_AGAIN_MS = 1_000;

export function createOwnTasks(options: OwnTaskOptions): OwnTasks {
  const { clock, limits, log } = options;
  const workLimits: WorkLimits = { steps: limits.expressionSteps, bytes: limits.expressionBytes };
  const tasks = createOwnTaskIndex();
  const cutOff = createCutOffTasks(clock, limits.workerLeaseMs);
  let restUntil = 0;
  const putUp = options.putUp(function* waiting() {
    for (const own of tasks.all()) if (own.served.state === 'waiting') yield own;
  });

  function perform(task: EffectTask): EffectHandle {
    const { servedBy } = effectType(task.effect.node);
    if (servedBy === undefined) throw new Error(`${task.effect.node.type.typeId} is performed by the host.`);
    const offer = offerOf(task, servedBy, invocationOf(task));
    const own = new OwnTask(task, offer, ownerOf(task, servedBy, offer), {
      now: clock.now(),
      onResult(result, settled) {
        if (!tasks.has(own)) return;
        tellChunks(own, result);
        end(own, own.served.owner.check(result.outcome), (isDurable) => isDurable && settled());
      },
      onBack: () => void offerTo(own),
      onLost: (losses, settled) => survives(own, losses, settled),
    });
    tasks.add(own);
    begin(own, servedBy);
    return {
      abort(isLost) {
        // Taken up again under the same claim, it must not be performed twice at once.
        if (isLost && own.served.holding !== undefined) cutOff.add(offer.taskId);
        options.hub().drop(own.served, isLost ? 'lease_lost' : 'cancelled');
        if (isLost) putUp.leave(own);
        else putUp.withdraw(own);
        tasks.remove(own);
      },
      withdraw() {
        const { state } = own.served;
        if (state === 'held' || state === 'given') return false;
        options.hub().drop(own.served, 'shutdown');
        putUp.leave(own);
        tasks.remove(own);
        return true;
      },
      parked: () => parkedTask(own, { putUp, hub: options.hub(), waitedMs: clock.now() - own.served.since }),
    };
  }

  function begin(own: OwnTask, servedBy: ServedBy): void {
    const { effect } = own.task;
    const wrong = misfit('inputs', servedBy.checkInputs, effect.inputs, workLimits);
    if (wrong !== undefined) return queueMicrotask(() => end(own, wrong));
    if (effect.isRepeat === true) void beginAgain(own);
    else void offerTo(own);
  }

  /** It may be in the store, with a result or at a worker of another process; or at a worker that has not come back yet. */
  async function beginAgain(own: OwnTask): Promise<void> {
    const { taskId, tenant } = own.served.offer;
    try {
      if (await putUp.find(own)) return;
      if (isOnce(own.task)) return void offerTo(own);
      own.mayBeResumed = true;
    } catch (error) {
      log('warn', { tenant, taskId, ...errorFields(error) }, 'a task could not be looked for');
      return later(own, LOOK_AGAIN_MS, () => void beginAgain(own));
    }
    const until = Math.max(restUntil, cutOff.until(taskId));
    const now = clock.monotonic();
    if (until <= now) void offerTo(own);
    else later(own, until - now, () => void offerTo(own));
  }

  function later(own: OwnTask, ms: number, act: () => void): void {
    if (!tasks.has(own) || own.served.state !== 'resting') return;
    own.resting = setTimeout(act, ms);
    own.resting.unref();
  }

  /** Workers of another version may be performing it. */
  async function offerTo(own: OwnTask): Promise<void> {
    const { tenant, typeId } = own.served.offer;
    try {
      const version = await options.types.resolveServed(tenant, typeId, own.version);
      if (version !== own.served.offer.version) own.served.offer = { ...own.served.offer, version };
      await putUp.prepare(own);
      if (own.served.state !== 'resting' || !tasks.has(own)) return;
      if (!putUp.offer(own)) options.hub().offer(own.served);
    } catch (error) {
      log('warn', { tenant, typeId, ...errorFields(error) }, 'which version serves a task could not be read');
      later(own, LOOK_AGAIN_MS, () => void offerTo(own));
    }
  }

  /** False: it was lost once too often. */
  function survives(own: OwnTask, losses: number, settled?: () => void): boolean {
    const outcome = outcomeOfLoss(own.task, losses);
    if (outcome !== undefined) end(own, outcome, (isDurable) => isDurable && settled?.());
    return outcome === undefined;
  }

  function ownerOf(task: EffectTask, servedBy: ServedBy, { taskId }: TaskOffer): TaskOwner {
    const own = (): OwnTask | undefined => tasks.get(taskId);
    const repeat = (): void => {
      const known = own();
      if (known === undefined) return;
      known.served.state = 'resting';
      known.served.since = clock.now();
      void offerTo(known);
    };
    return {
      mayLeave: task.holdsClaim,
      openPorts: () => options.openPorts(placeOf(task)),
      chunk: (chunk, told) => task.progress(chunk, told),
      check: (outcome) => checkedOutcome(outcome, servedBy, workLimits),
      done(outcome, told) {
        const known = own();
        if (known === undefined) told?.(false);
        else end(known, outcome, told);
      },
      lost() {
        const known = own();
        if (known === undefined) return;
        known.served.losses += 1;
        if (survives(known, known.served.losses)) repeat();
      },
      returned: repeat,
    };
  }

  function end(own: OwnTask, outcome: Outcome, told?: (isDurable: boolean) => void): void {
    if (!tasks.has(own)) return told?.(false);
    own.served.state = 'over';
    tasks.remove(own);
    own.task.done(outcome, told);
  }

  return {
    perform,
    findHeld(tenant, taskId, lease) {
      const own = tasks.get(taskId);
      if (own === undefined || own.served.offer.tenant !== tenant) return undefined;
      const { holding } = own.served;
      const isHeld = holding === undefined ? mayStillBeHeld(own, putUp) : holding.lease === lease;
      return isHeld ? own.served : undefined;
    },
    putUp,
    of: (runId) => tasks.ofRun(runId).map((own) => ({ served: own.served, elsewhere: putUp.noteOf(own) })),
    remap(tenant) {
      for (const own of tasks.all()) {
        if (own.served.offer.tenant !== tenant || own.served.state !== 'waiting') continue;
        options.hub().drop(own.served, 'shutdown');
        own.served.state = 'resting';
        void offerTo(own);
      }
    },
    hasCutOff: cutOff.hasAny,
    start() {
      restUntil = clock.monotonic() + limits.workerLeaseMs;
      putUp.start();
    },
  };
}

function mayStillBeHeld(own: OwnTask, putUp: PutUpTasks): boolean {
  return own.mayBeResumed && own.served.timesGiven === 0 && !putUp.has(own);
}

/** A worker that serves a task takes it in a moment, mostly; one that has waited longer than this is not next. */
const NEXT_MS = 10_000;

/** As it is put up when its run leaves memory; undefined while a worker has it or is about to. */
function parkedTask(
  own: OwnTask,
  place: {
    readonly putUp: PutUpTasks;
    readonly hub: Pick<WorkerHub, 'isServedHere'>;
    readonly waitedMs: number;
  },
): NewTask | undefined {
  if (isOnce(own.task)) return undefined;
  const { tenant, typeId, version } = own.served.offer;
  const isNext = place.waitedMs < NEXT_MS && place.hub.isServedHere(tenant, typeId, version);
  const isFree = place.putUp.has(own) && place.putUp.noteOf(own)?.holder === undefined;
  return isFree || (own.served.state === 'waiting' && !isNext) ? newTask(own) : undefined;
}

/** What was streamed at another process arrives with the result. */
function tellChunks({ task, served }: OwnTask, { chunks }: TaskResult): void {
  const ports = served.owner.openPorts();
  for (const { index, ...chunk } of chunks) task.progress({ ...ports.hideChunk(chunk), index });
}
