import type { Outcome } from '../../core/decide/step.ts';
import type { ServedBy } from '../../model/node-type.ts';
import type { EffectPlace } from '../../ports/effect-ports.ts';
import { createEphemeralMap } from '../collections/ephemeral-map.ts';
import { executionOf } from '../effects/effect-context.ts';
import type { EffectTask } from '../effects/performer.ts';
import { requiredSecrets } from '../secrets/required-secrets.ts';
import type { PutUp } from './put-up-tasks.ts';
import { failure, ServedTask, type TaskOffer, type TaskOwner } from './served-task.ts';

/** A task of a run that this process holds. */
export class OwnTask implements PutUp {
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

/** By task, and by run. */
export interface OwnTaskIndex {
  add(own: OwnTask): void;
  get(taskId: string): OwnTask | undefined;
  has(own: OwnTask): boolean;
  remove(own: OwnTask): void;
  ofRun(runId: string): readonly OwnTask[];
  all(): Iterable<OwnTask>;
}

export function createOwnTaskIndex(): OwnTaskIndex {
  const tasks = createEphemeralMap<OwnTask>();
  const byRun = createEphemeralMap<Set<OwnTask>>();
  const has = (own: OwnTask): boolean => tasks.get(own.served.offer.taskId) === own;
  return {
    add(own) {
      tasks.set(own.served.offer.taskId, own);
      const { runId } = own.task;
      const known = byRun.get(runId);
      if (known === undefined) byRun.set(runId, new Set([own]));
      else known.add(own);
    },
    get: (taskId) => tasks.get(taskId),
    has,
    remove(own) {
      clearTimeout(own.resting);
      if (has(own)) tasks.delete(own.served.offer.taskId);
      const ofRun = byRun.get(own.task.runId);
      ofRun?.delete(own);
      if (ofRun?.size === 0) byRun.delete(own.task.runId);
    },
    ofRun: (runId) => [...(byRun.get(runId) ?? [])],
    all: () => tasks.values(),
  };
}

export function placeOf(task: EffectTask): EffectPlace {
  const { tenant, principal, runId, epoch, limits, effect } = task;
  const { attempt, redaction, node } = effect;
  const nodeKey = executionOf(effect);
  return { tenant, principal, runId, epoch, nodeKey, nodeId: node.id, attempt, limits, redaction };
}

const MOST_LOSSES = 5;

const UNKNOWN: Outcome = failure(
  'effect_outcome_unknown',
  'The worker that had this node was lost, so that it is not known whether its effect happened. Decide by hand, then start a new run.',
);

const WORKER_LOST: Outcome = failure(
  'worker_lost',
  `${MOST_LOSSES} workers in a row lost their lease while they performed this node; it may be what ends them.`,
  { retryable: true, details: { losses: MOST_LOSSES } },
);

/** Its outcome may not be unknown: that it is handed out is written to the store before it is. */
export function isOnce({ effect }: EffectTask): boolean {
  return effect.node.settings.onUnknownOutcome === 'fail';
}

/** How a task ends that lost its worker so often in a row; undefined when it is performed again. */
export function outcomeOfLoss(task: EffectTask, losses: number): Outcome | undefined {
  if (isOnce(task)) return UNKNOWN;
  return losses >= MOST_LOSSES ? WORKER_LOST : undefined;
}

export function offerOf(task: EffectTask, servedBy: ServedBy, invocationId: string): TaskOffer {
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
    ...(effect.run !== undefined && { run: effect.run }),
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
