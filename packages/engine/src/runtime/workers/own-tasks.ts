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
import { requiredSecrets } from '../secrets/required-secrets.ts';
import { misfit } from './check-values.ts';
import { failure, ServedTask, type TaskOffer, type TaskOwner } from './served-task.ts';
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
  of(runId: string): readonly ServedTask[];
  /** Other versions may perform what waits. */
  remap(tenant: string): void;
  /** A worker may be at a task that was cut off. */
  hasCutOff(): boolean;
  start(): void;
}

export interface OwnTaskOptions {
  readonly hub: () => Pick<WorkerHub, 'offer' | 'drop'>;
  readonly types: Pick<NodeTypes, 'resolveServed'>;
  readonly openPorts: OpenEffectPorts;
  readonly clock: Clock;
  readonly limits: HostLimits;
  readonly log: Log;
}

const MOST_LOSSES = 5;
const MAPPING_RETRY_MS = 1_000;

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

  function perform(task: EffectTask): EffectHandle {
    const { servedBy } = effectType(task.effect.node);
    if (servedBy === undefined) throw new Error(`${task.effect.node.type.typeId} is performed by the host.`);
    const invocation = invocationOf(task);
    const offer = offerOf(task, servedBy, invocation);
    const own = new OwnTask(task, offer, ownerOf(task, servedBy, offer), clock.now());
    tasks.set(offer.taskId, own);
    keepByRun(own);
    begin(own, servedBy);
    return {
      abort(isLost) {
        // Whoever takes this up again under the same claim must not have it performed by two.
        if (isLost && own.served.holding !== undefined) noteCutOff(offer.taskId);
        options.hub().drop(own.served, isLost ? 'lease_lost' : 'cancelled');
        forget(own);
      },
      withdraw() {
        const { state } = own.served;
        if (state === 'held' || state === 'given') return false;
        options.hub().drop(own.served, 'shutdown');
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
    const now = clock.monotonic();
    const until =
      effect.isRepeat === true ? Math.max(restUntil, cutOff.get(own.served.offer.taskId) ?? 0) : 0;
    if (until <= now) void offerTo(own);
    else {
      own.resting = setTimeout(() => void offerTo(own), until - now);
      own.resting.unref();
    }
  }

  /** Workers of another version may have been told to perform it. */
  async function offerTo(own: OwnTask): Promise<void> {
    const { tenant, typeId } = own.served.offer;
    try {
      const version = await options.types.resolveServed(tenant, typeId, own.version);
      if (own.served.state !== 'resting' || tasks.get(own.served.offer.taskId) !== own) return;
      own.served.offer = { ...own.served.offer, version };
      options.hub().offer(own.served);
    } catch (error) {
      log('warn', { tenant, typeId, ...errorFields(error) }, 'which version serves a task could not be read');
      own.resting = setTimeout(() => void offerTo(own), MAPPING_RETRY_MS);
      own.resting.unref();
    }
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
        if (task.effect.node.settings.onUnknownOutcome === 'fail') return end(known, UNKNOWN);
        if (known.served.losses >= MOST_LOSSES) return end(known, workerLost());
        repeat();
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
      const mayStillHave = tasks.get(taskId)?.task.effect.isRepeat === true && served.timesGiven === 0;
      return mayStillHave ? served : undefined;
    },
    of: (runId) => [...(byRun.get(runId) ?? [])].map(({ served }) => served),
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
    },
  };
}

class OwnTask {
  readonly task: EffectTask;
  readonly served: ServedTask;
  /** That the run was compiled with. */
  readonly version: string;
  resting: NodeJS.Timeout | undefined;

  constructor(task: EffectTask, offer: TaskOffer, owner: TaskOwner, since: number) {
    this.task = task;
    this.version = offer.version;
    this.served = new ServedTask(offer, owner, since);
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
