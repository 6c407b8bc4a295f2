import type { Json, JsonObject } from '@weft/protocol';
import type { NodePlan } from '../../core/compile/plan.ts';
import { breachEvents } from '../../core/fold/node-caps.ts';
import { budgetOf } from '../../core/costs/budget.ts';
import { shownMembers } from '../../core/decide/recorder.ts';
import type { RunLimits } from '../../model/run-state.ts';
import type { EffectRequest, NumberedChunk, Outcome } from '../../core/decide/step.ts';
import {
  type EffectContext,
  type EffectInput,
  type EffectNodeType,
  type Egress,
  type NodeEvent,
  NodeFailure,
  type NodeResult,
  type Secrets,
  type StepsNodeType,
} from '../../model/node-type.ts';
import { LONGEST_TIMEOUT_MS } from '../../ports/clock.ts';
import { BudgetFailure } from '../costs/metered-models.ts';
import { executionOf, PerformedEffect } from './effect-context.ts';
import type { NewTask } from '../../ports/store.ts';
import type { EffectPorts, OpenEffectPorts } from '../../ports/effect-ports.ts';
import { createFairQueue, type Ticket } from '../fairness/fair-queue.ts';
import { StopSource } from './stop-source.ts';
import { findNonJson } from './json-safe.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import type { Told } from '../scheduling/waiting-inputs.ts';
import { requiredSecrets, resolveRequired } from '../secrets/required-secrets.ts';

/**
 * Performs effects: the only place of the runtime that lets a node touch the world. A task waits in its run's lane until the
 * run, its tenant and the host have room, then runs, then reports.
 *
 * W-26. `done` is called exactly once per task, unless the task was aborted or its claim was lost before it began: then
 *       never.
 * W-27. A task that ignores its signal does not keep its place: time-out and abort free it at once.
 * W-28. Waiting tenants alternate, and so do the runs of each, so that many effects of one do not starve the others. No
 *       tenant has all places, so that long effects of one do not either.
 * W-29. A task begins only while the claim of its run holds, checked in the turn in which it begins.
 */
export interface Performer {
  perform(task: EffectTask): EffectHandle;
  /** Running effects in this process. */
  active(): number;
  /** Effects that wait for room. */
  queued(): number;
}

export interface EffectTask {
  readonly tenant: string;
  readonly runId: string;
  readonly workflowId: string;
  /** Of the claim under which it is performed. */
  readonly epoch: number;
  /** False when this process has lost that claim; what it still has in hand is then neither performed nor reported. */
  readonly holdsClaim: () => boolean;
  readonly limits: RunLimits;
  readonly effect: EffectRequest;
  readonly principal: string | undefined;
  readonly configurable: JsonObject;
  /** Trace context of the attempt; made when a node asks for it. */
  readonly traceparent?: () => string;
  /** `told` hears whether the outcome became durable. */
  readonly done: (outcome: Outcome, told?: Told) => void;
  /** Streamed text, before `done`. */
  readonly progress: (chunk: NumberedChunk, told?: Told) => void;
  /** A fact to record before `done`. */
  readonly say: (event: NodeEvent) => void;
}

export interface EffectHandle {
  /** `isLost`: the run is not ours any more, or is loaded again; otherwise no one wants the effect any more. */
  abort(isLost: boolean): void;
  /** Of an effect that is about to be aborted: what is to be recorded of it. Nothing more of that kind will come. */
  lastWords?(): readonly NodeEvent[];
  /** Of a task that waits for a worker: true when none has it, and none will. */
  withdraw?(): boolean;
  /** Of a task that waits for a worker: what is to be kept of it if its run leaves memory; undefined when it does not only wait. */
  parked?(): NewTask | undefined;
}

export interface PerformerOptions {
  readonly maxActive: number;
  readonly maxPerTenant: number;
  readonly egress: Egress;
  readonly openPorts: OpenEffectPorts;
  /** Performs what is code of users. */
  readonly workers: Pick<Performer, 'perform'>;
  readonly log: Log;
}

interface Job {
  readonly task: EffectTask;
  readonly stop: StopSource;
  state: 'queued' | 'active' | 'over';
  timer: NodeJS.Timeout | undefined;
  ports: EffectPorts | undefined;
  /** Its place, in the queue and while it is active. */
  ticket: Ticket<Job> | undefined;
}

export function createPerformer(options: PerformerOptions): Performer {
  const { log } = options;
  const jobs = createFairQueue<Job>({
    quota: options.maxActive,
    laneQuota: (depth, { task }) => (depth === 0 ? options.maxPerTenant : task.limits.concurrency),
  });
  let isPumping = false;

  function perform(task: EffectTask): EffectHandle {
    const { type } = task.effect.node;
    if (type.kind === 'effect' && type.servedBy !== undefined) return options.workers.perform(task);
    const job: Job = {
      task,
      stop: new StopSource(),
      state: 'queued',
      timer: undefined,
      ports: undefined,
      ticket: undefined,
    };
    job.ticket = jobs.push(job, task.tenant, task.runId);
    pump();
    return { abort: () => cut(job, undefined), lastWords: () => usedBy(job.ports) };
  }

  /** A job that is refused its turn ends and frees a place: the next one is taken by this loop, not by recursion. */
  function pump(): void {
    if (isPumping) return;
    isPumping = true;
    for (let next = jobs.take(); next !== undefined; next = jobs.take()) begin(next.item);
    isPumping = false;
  }

  function begin(job: Job): void {
    job.state = 'active';
    if (!job.task.holdsClaim()) return leave(job);
    const { timeoutMs } = job.task.effect;
    if (timeoutMs > 0) {
      job.timer = setTimeout(
        () => cut(job, toldOutcome(job.ports, timedOut(timeoutMs))),
        Math.min(timeoutMs, LONGEST_TIMEOUT_MS),
      );
      job.timer.unref();
    }
    outcomeOf(job).then(
      (outcome) => finish(job, outcome),
      (error: unknown) => finish(job, failureOf(job.task, error, log)),
    );
  }

  async function outcomeOf(job: Job): Promise<Outcome> {
    const { effect, tenant, runId, epoch, principal, limits } = job.task;
    const { attempt, redaction, spent, node } = effect;
    const ports = options.openPorts({
      tenant,
      principal,
      runId,
      epoch,
      nodeId: node.id,
      nodeKey: executionOf(effect),
      attempt,
      limits,
      redaction,
      spent,
      budget: budgetOf(job.task.configurable),
    });
    job.ports = ports;
    try {
      return toldOutcome(ports, checkResult(await resultOf(job, ports)));
    } catch (error) {
      // What a node says when it fails may hold a secret as well as what it returns.
      return toldOutcome(ports, failureOf(job.task, error, log));
    }
  }

  function resultOf(job: Job, ports: EffectPorts): Promise<NodeResult> {
    const { node } = job.task.effect;
    const required = requiredSecrets(performedType(node), node.config, node.node.credentialsRef);
    if (required.length === 0) return callNode(job, ports, undefined);
    return resolveRequired(ports.secrets, required).then((secrets) => {
      if (!job.task.holdsClaim()) cut(job, undefined);
      if (job.state === 'over') throw stopped();
      return callNode(job, ports, secrets);
    });
  }

  function callNode(job: Job, ports: EffectPorts, secrets: Secrets | undefined): Promise<NodeResult> {
    const { task, stop } = job;
    const { node, inputs } = task.effect;
    const type = performedType(node);
    let index = 0;
    let deltas = 0;
    return performWith(
      task.effect,
      {
        nodeId: node.id,
        config: node.config,
        prepared: node.prepared,
        inputs,
        shownInputs: shownInputs(task.effect),
        configurable: task.configurable,
        agent: node.node.agent,
        credentialsRef: type.takesCredentialsRef === true ? node.node.credentialsRef : undefined,
      },
      new PerformedEffect({
        task,
        stop,
        egress: options.egress,
        ports,
        secrets,
        emit(chunk) {
          if (job.state !== 'active') return;
          task.progress({ ...ports.hideChunk(chunk), index });
          index += 1;
        },
        tellReasoning({ agentId, verbosity, text, isLast }) {
          if (job.state !== 'active') return;
          const delta = ports.hideReasoning(text, isLast);
          if (delta === '') return;
          const payload = { agentId, delta, sequence: deltas, verbosity };
          task.say({ type: 'agent.reasoning.delta', payload });
          deltas += 1;
        },
      }),
    );
  }

  function finish(job: Job, outcome: Outcome): void {
    if (job.state === 'over') return;
    leave(job);
    job.task.done(outcome);
    pump();
  }

  /** Ends a job that is still at work; whatever it says afterwards is not heard. */
  function cut(job: Job, outcome: Outcome | undefined): void {
    if (job.state === 'over') return;
    leave(job);
    job.stop.stop();
    if (outcome !== undefined) job.task.done(outcome);
    pump();
  }

  function leave(job: Job): void {
    if (job.state === 'over') return;
    job.state = 'over';
    job.ticket?.leave();
    clearTimeout(job.timer);
  }

  return { perform, active: jobs.held, queued: jobs.waiting };
}

function failureOf({ effect, runId }: EffectTask, error: unknown, log: Log): Outcome {
  if (error instanceof NodeFailure) {
    const events = breachEvents(error, effect.node.id);
    return events.length === 0 ? failed(error) : { ...failed(error), events };
  }
  log(
    'error',
    { runId, nodeId: effect.node.id, typeId: effect.node.type.typeId, ...errorFields(error) },
    'a node threw an error it did not foresee',
  );
  return {
    ok: false,
    error: {
      code: 'node_failed',
      message: 'The node failed in a way it did not foresee; the host log names the place.',
      retryable: false,
    },
  };
}

function usedBy(ports: EffectPorts | undefined): readonly NodeEvent[] {
  const events = ports?.settleUsed() ?? [];
  return ports?.hideOutcome({ ok: true, outputs: {}, events }).events ?? [];
}

/** With what it has used of models, which is so whether or not it came to anything. */
function toldOutcome(ports: EffectPorts | undefined, outcome: Outcome): Outcome {
  if (ports === undefined) return outcome;
  const used = ports.settleUsed() ?? [];
  if (used.length === 0) return ports.hideOutcome(outcome);
  const said = outcome.events?.map((event) =>
    event.causedBy === undefined ? event : { ...event, causedBy: event.causedBy + used.length },
  );
  return ports.hideOutcome({ ...outcome, events: [...used, ...(said ?? [])] });
}

/** The step's result is its outputs. Not async: a promise around a promise takes three more turns of the microtask queue. */
function performWith(
  { node: { type }, step }: EffectRequest,
  input: EffectInput,
  context: EffectContext,
): Promise<NodeResult> {
  if (type.kind === 'effect') return type.perform(input, context);
  if (type.kind !== 'steps' || step === undefined) throw new Error(`${type.typeId} is no effect`);
  return type.perform({ ...input, step }, context).then((outputs) => ({ outputs }));
}

function performedType({ type }: NodePlan): EffectNodeType | StepsNodeType {
  if (type.kind !== 'effect' && type.kind !== 'steps') throw new Error(`${type.typeId} is no effect`);
  return type;
}

export function effectType({ type }: NodePlan): EffectNodeType {
  if (type.kind !== 'effect') throw new Error(`${type.typeId} is no effect`);
  return type;
}

/** A value that the mode would leave out is replaced by the mark: an effect that stores it needs a value. */
function shownInputs({ inputs, redaction }: EffectRequest): JsonObject | undefined {
  if (redaction?.inputs === undefined) return undefined;
  const { masking } = redaction;
  return shownMembers(inputs, redaction.inputs, masking.mode === 'omit' ? { mode: 'mask' } : masking);
}

/** Said to no one: what was cut while its secrets were read must not begin. */
function stopped(): NodeFailure {
  return new NodeFailure('service_unavailable', 'The node was stopped before it began.', { retryable: true });
}

export function timedOut(timeoutMs: number): Outcome {
  return {
    ok: false,
    error: {
      code: 'node_timeout',
      message: `The node did not finish within settings.timeoutMs (${timeoutMs} ms).`,
      retryable: true,
      details: { timeoutMs },
    },
  };
}

export function failed(error: NodeFailure): Outcome {
  return {
    ok: false,
    error: {
      code: error.code,
      message: error.message,
      retryable: error.retryable,
      ...(error.details !== undefined && { details: error.details }),
    },
    ...(error instanceof BudgetFailure && { breach: error.breach }),
    ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
  };
}

/** Size is the core's business; here only that it can be stored at all. */
function checkResult(result: NodeResult): Outcome {
  const { outputs, variables, channels, events } = result;
  const bad =
    findNonJson(outputs, 'outputs') ??
    (variables && findNonJson(variables, 'variables')) ??
    (channels && firstBad(channels, 'channels', ({ value }) => value)) ??
    (events && firstBad(events, 'events', ({ payload }) => payload));
  if (bad !== undefined) {
    return refusedOutput('node_failed', `The node returned a value that is not JSON at ${bad}.`, {
      path: bad,
    });
  }
  // In this order: a member that is added to a copy makes it twenty times as slow.
  return { ok: true, ...result };
}

function firstBad<Item>(
  items: readonly Item[],
  name: string,
  valueOf: (item: Item) => Json,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const bad = findNonJson(valueOf(item), `${name}[${index}]`);
    if (bad !== undefined) return bad;
  }
  return undefined;
}

function refusedOutput(code: string, message: string, details: JsonObject): Outcome {
  return { ok: false, error: { code, message, retryable: false, details } };
}
