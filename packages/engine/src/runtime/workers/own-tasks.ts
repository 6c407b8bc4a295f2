import type { WorkLimits } from '@weft/protocol';
import type { HostLimits } from '../../host/limits.ts';
import type { ServedBy } from '../../model/node-type.ts';
import type { Clock } from '../../ports/clock.ts';
import type { OpenEffectPorts } from '../../ports/effect-ports.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import type { Outcome } from '../../core/decide/step.ts';
import { executionOf, invocationOf } from '../effects/effect-context.ts';
import { effectType, type EffectHandle, type EffectTask, type Performer } from '../effects/performer.ts';
import type { NodeTypes } from '../node-types/node-types.ts';
import type { StoredTask } from '../../ports/store.ts';
import { requiredSecrets } from '../secrets/required-secrets.ts';
import { misfit } from './check-values.ts';
import type { PutUp, PutUpTasks } from './put-up-tasks.ts';
import { failure, ServedTask, type TaskOffer, type TaskOwner } from './served-task.ts';
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
  readonly hub: () => Pick<WorkerHub, 'offer' | 'drop'>;
  readonly putUp: (waiting: () => Iterable<PutUp>) => PutUpTasks;
  readonly types: Pick<NodeTypes, 'resolveServed'>;
  readonly openPorts: OpenEffectPorts;
  readonly clock: Clock;
  readonly limits: HostLimits;
  readonly log: Log;
}

const MOST_LOSSES = 5;
const LOOK_AGAIN_MS = 1_000;

const UNKNOWN: Outcome = failure(
  'effect_outcome_unknown',
  'The worker lost its lease while this node was under way, so nobody knows whether its effect happened. Decide by hand, then start a new run.',
);

export function createOwnTasks(options: OwnTaskOptions): OwnTasks {
  const { clock, limits, log } = options;
  const workLimits: WorkLimits = { steps: limits.expressionSteps, bytes: limits.expressionBytes };
  const tasks = new Map<string, OwnTask>();
  const byRun = new Map<string, Set<OwnTask>>();
  /** Tasks that were cut off while a worker had them → until when it may be at work. */
  const cutOff = new Map<string, number>();
  let restUntil = 0;
  const putUp = options.putUp(function* waiting() {
    for (const own of tasks.values()) if (own.served.state === 'waiting') yield own;
  });

  function perform(task: EffectTask): EffectHandle {
    const { servedBy } = effectType(task.effect.node);
    if (servedBy === undefined) throw new Error(`${task.effect.node.type.typeId} is performed by the host.`);
    const invocation = invocationOf(task);
    const offer = offerOf(task, servedBy, invocation);
    const own = new OwnTask(task, offer, ownerOf(task, servedBy, offer), {
      now: clock.now(),
      onResult: (result, settled) => takeResult(own, result, settled),
      onBack: () => void offerTo(own),
      onLost: (losses) => survives(own, losses),
    });
    tasks.set(offer.taskId, own);
    keepByRun(own);
    begin(own, servedBy);
    return {
      abort(isLost) {
        // Whoever takes this up again under the same claim must not have it performed by two.
        if (isLost && own.served.holding !== undefined) noteCutOff(offer.taskId);
        options.hub().drop(own.served, isLost ? 'lease_lost' : 'cancelled');
        if (isLost) putUp.leave(own);
        else putUp.withdraw(own);
        forget(own);
      },
      withdraw() {
        const { state } = own.served;
        if (state === 'held' || state === 'given') return false;
        options.hub().drop(own.served, 'shutdown');
        putUp.leave(own);
        forget(own);
        return true;
      },
    };
  }

  function begin(own: OwnTask, servedBy: ServedBy): void {
    const { effect } = own.task;
    const wrong = misfit('inputs', servedBy.checkInputs, effect.inputs, workLimits);
    if (wrong !== undefined) {
      queueMicrotask(() => end(own, wrong));
      return;
    }
    if (effect.isRepeat === true) void beginAgain(own);
    else void offerTo(own);
  }

  /** It may be in the store, with a result or at a worker of another process; or at a worker that has not come back yet. */
  async function beginAgain(own: OwnTask): Promise<void> {
    const { taskId, tenant } = own.served.offer;
    try {
      if (await putUp.find(own)) return;
      own.mayBeResumed = true;
    } catch (error) {
      log('warn', { tenant, taskId, ...errorFields(error) }, 'a task could not be looked for');
      return later(own, LOOK_AGAIN_MS, () => void beginAgain(own));
    }
    const until = Math.max(restUntil, cutOff.get(taskId) ?? 0);
    const now = clock.monotonic();
    if (until <= now) void offerTo(own);
    else later(own, until - now, () => void offerTo(own));
  }

  function later(own: OwnTask, ms: number, act: () => void): void {
    if (tasks.get(own.served.offer.taskId) !== own || own.served.state !== 'resting') return;
    own.resting = setTimeout(act, ms);
    own.resting.unref();
  }

  /** Workers of another version may have been told to perform it. */
  async function offerTo(own: OwnTask): Promise<void> {
    const { tenant, typeId } = own.served.offer;
    try {
      const version = await options.types.resolveServed(tenant, typeId, own.version);
      own.served.offer = { ...own.served.offer, version };
      await putUp.prepare(own);
      if (own.served.state !== 'resting' || tasks.get(own.served.offer.taskId) !== own) return;
      if (!putUp.offer(own)) options.hub().offer(own.served);
    } catch (error) {
      log('warn', { tenant, typeId, ...errorFields(error) }, 'which version serves a task could not be read');
      later(own, LOOK_AGAIN_MS, () => void offerTo(own));
    }
  }

  /** What came of it at another process; taken down there once it is durable here. */
  function takeResult(own: OwnTask, { outcome, chunks }: TaskResult, settled: () => void): void {
    const { served, task } = own;
    if (tasks.get(served.offer.taskId) !== own) return;
    const ports = served.owner.openPorts();
    for (const { index, ...chunk } of chunks) task.progress({ ...ports.hideChunk(chunk), index });
    end(own, served.owner.check(outcome), (isDurable) => {
      if (isDurable) settled();
    });
  }

  /** False: it was lost once too often. */
  function survives(own: OwnTask, losses: number): boolean {
    if (own.task.effect.node.settings.onUnknownOutcome === 'fail') end(own, UNKNOWN);
    else if (losses >= MOST_LOSSES) end(own, workerLost());
    else return true;
    return false;
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
      openPorts() {
        const { tenant, principal, runId, epoch, limits: runLimits, effect } = task;
        const { attempt, redaction } = effect;
        const nodeKey = executionOf(effect);
        return options.openPorts({
          tenant,
          principal,
          runId,
          epoch,
          nodeKey,
          attempt,
          limits: runLimits,
          redaction,
        });
      },
      chunk: (chunk, told) => task.progress(chunk, told),
      check(outcome) {
        if (!outcome.ok) return outcome;
        return misfit('outputs', servedBy.checkOutputs, outcome.outputs, workLimits) ?? outcome;
      },
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
    if (tasks.get(own.served.offer.taskId) !== own) return told?.(false);
    own.served.state = 'over';
    forget(own);
    own.task.done(outcome, told);
  }

  function keepByRun(own: OwnTask): void {
    const { runId } = own.task;
    const known = byRun.get(runId);
    if (known === undefined) byRun.set(runId, new Set([own]));
    else known.add(own);
  }

  function forget(own: OwnTask): void {
    clearTimeout(own.resting);
    if (tasks.get(own.served.offer.taskId) === own) tasks.delete(own.served.offer.taskId);
    const ofRun = byRun.get(own.task.runId);
    ofRun?.delete(own);
    if (ofRun?.size === 0) byRun.delete(own.task.runId);
  }

  function noteCutOff(taskId: string): void {
    const now = clock.monotonic();
    forgetCutOff(now);
    cutOff.delete(taskId);
    cutOff.set(taskId, now + limits.workerLeaseMs);
  }

  /** All have the same time, so the oldest come first. */
  function forgetCutOff(now: number): void {
    for (const [taskId, until] of cutOff) {
      if (until > now) return;
      cutOff.delete(taskId);
    }
  }

  return {
    perform,
    findHeld(tenant, taskId, lease) {
      const served = tasks.get(taskId)?.served;
      if (served === undefined || served.offer.tenant !== tenant) return undefined;
      if (served.holding !== undefined) return served.holding.lease === lease ? served : undefined;
      const mayStillHave = tasks.get(taskId)?.mayBeResumed === true && served.timesGiven === 0;
      return mayStillHave ? served : undefined;
    },
    putUp,
    of: (runId) =>
      [...(byRun.get(runId) ?? [])].map((own) => ({ served: own.served, elsewhere: putUp.noteOf(own) })),
    remap(tenant) {
      for (const own of tasks.values()) {
        if (own.served.offer.tenant !== tenant || own.served.state !== 'waiting') continue;
        options.hub().drop(own.served, 'shutdown');
        own.served.state = 'resting';
        void offerTo(own);
      }
    },
    hasCutOff() {
      forgetCutOff(clock.monotonic());
      return cutOff.size > 0;
    },
    start() {
      restUntil = clock.monotonic() + limits.workerLeaseMs;
      putUp.start();
    },
  };
}

class OwnTask implements PutUp {
  readonly task: EffectTask;
  readonly served: ServedTask;
  /** That the run was compiled with. */
  readonly version: string;
  resting: NodeJS.Timeout | undefined;
  /** It had begun before, and the store does not know of it: a worker may still have it. */
  mayBeResumed = false;

  readonly onResult: PutUp['onResult'];
  readonly onBack: PutUp['onBack'];
  readonly onLost: PutUp['onLost'];

  constructor(
    task: EffectTask,
    offer: TaskOffer,
    owner: TaskOwner,
    { now, ...heard }: Pick<PutUp, 'onResult' | 'onBack' | 'onLost'> & { readonly now: number },
  ) {
    this.task = task;
    this.version = offer.version;
    this.served = new ServedTask(offer, owner, now);
    this.onResult = heard.onResult;
    this.onBack = heard.onBack;
    this.onLost = heard.onLost;
  }
}

function workerLost(): Outcome {
  return failure(
    'worker_lost',
    `${MOST_LOSSES} workers in a row lost their lease while they performed this node; it may be what ends them.`,
    { retryable: true, details: { losses: MOST_LOSSES } },
  );
}

function offerOf(task: EffectTask, servedBy: ServedBy, invocationId: string): TaskOffer {
  const { tenant, runId, workflowId, effect, limits } = task;
  const { node, attempt, timeoutMs, inputs } = effect;
  const { typeId, version, secrets, heartbeatTimeoutMs = 0 } = servedBy;
  const named = requiredSecrets(node.type, node.config, node.node.credentialsRef);
  const traceparent = task.traceparent?.();
  const message: TaskOffer['message'] = {
    workflowId,
    nodeId: node.id,
    invocationId,
    attempt: attempt + 1,
    config: node.config,
    inputs,
    ...(timeoutMs > 0 && { timeoutMs }),
    ...(traceparent !== undefined && { traceparent }),
  };
  return {
    taskId: `${invocationId}.${attempt + 1}`,
    tenant,
    runId,
    typeId,
    version,
    concurrency: limits.concurrency,
    timeoutMs,
    heartbeatTimeoutMs,
    secrets: [...new Set([...secrets, ...named])],
    message,
  };
}
