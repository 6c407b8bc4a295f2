import type { Json, JsonObject } from '@weft/protocol';
import type { NodePlan } from '../core/plan.ts';
import { shownMembers } from '../core/recorder.ts';
import type { RunLimits } from '../core/run-state.ts';
import type { EffectRequest, NumberedChunk, Outcome } from '../core/step.ts';
import {
  type EffectNodeType,
  type Egress,
  NodeFailure,
  type NodeResult,
  type Secrets,
} from '../node-type.ts';
import { LONGEST_TIMEOUT_MS } from './clock.ts';
import { executionOf, PerformedEffect } from './effect-context.ts';
import type { EffectPorts, OpenEffectPorts } from './effect-ports.ts';
import { StopSource } from './stop-source.ts';
import { findNonJson } from './json-safe.ts';
import { errorFields, type Log } from './log.ts';
import { requiredSecrets, resolveRequired } from './secrets/required-secrets.ts';

/**
 * Performs effects: the only place of the runtime that lets a node touch the world. A task waits in its run's queue until
 * both the run and the host have room, then runs, then reports.
 *
 * P1. `done` is called exactly once per task, unless the task was aborted or its claim was lost before it began: then never.
 * P2. A task that ignores its signal does not hold its place: time-out and abort free it at once.
 * P3. Runs that wait take turns, so that one run with many effects does not starve the others.
 * P4. A task begins only while the claim of its run holds, looked at in the turn in which it begins.
 */
export interface Performer {
  perform(task: EffectTask): EffectHandle;
  /** Effects under way in this process. */
  active(): number;
  /** Effects that wait for room. */
  queued(): number;
}

export interface EffectTask {
  readonly tenant: string;
  readonly runId: string;
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
  readonly done: (outcome: Outcome) => void;
  /** Streamed text, before `done`. */
  readonly progress: (chunk: NumberedChunk) => void;
}

export interface EffectHandle {
  abort(): void;
}

export interface PerformerOptions {
  readonly maxActive: number;
  readonly egress: Egress;
  readonly openPorts: OpenEffectPorts;
  readonly log: Log;
}

interface Job {
  readonly task: EffectTask;
  readonly stop: StopSource;
  state: 'queued' | 'active' | 'over';
  timer: NodeJS.Timeout | undefined;
}

interface RunQueue {
  active: number;
  readonly jobs: Job[];
}

export function createPerformer(options: PerformerOptions): Performer {
  const { log } = options;
  // A Map keeps insertion order: a run that has had its turn is moved to the end.
  const runs = new Map<string, RunQueue>();
  let active = 0;
  let queued = 0;
  let isPumping = false;
  let isPumpAsked = false;

  function perform(task: EffectTask): EffectHandle {
    const job: Job = { task, stop: new StopSource(), state: 'queued', timer: undefined };
    const run = runs.get(task.runId) ?? { active: 0, jobs: [] };
    runs.set(task.runId, run);
    queued += 1;
    // With room for both, and nobody before it, the job need not wait for its turn.
    if (queued === 1 && active < options.maxActive && run.active < task.limits.concurrency) begin(job, run);
    else {
      run.jobs.push(job);
      pump();
    }
    return { abort: () => cut(job, undefined) };
  }

  /** Whoever is refused its turn ends, and what it leaves lets others in: they are looked for here, not one inside the other. */
  function pump(): void {
    isPumpAsked = true;
    if (isPumping) return;
    isPumping = true;
    while (isPumpAsked) {
      isPumpAsked = false;
      beginWhatMay();
    }
    isPumping = false;
  }

  function beginWhatMay(): void {
    for (const [runId, run] of runs) {
      if (active >= options.maxActive) return;
      const job = run.jobs[0];
      if (job === undefined || run.active >= job.task.limits.concurrency) continue;
      run.jobs.shift();
      runs.delete(runId);
      runs.set(runId, run);
      begin(job, run);
    }
  }

  function begin(job: Job, run: RunQueue): void {
    job.state = 'active';
    queued -= 1;
    active += 1;
    run.active += 1;
    // Whoever calls this looks for the next one, if there is one.
    if (!job.task.holdsClaim()) return leave(job);
    const { timeoutMs } = job.task.effect;
    if (timeoutMs > 0) {
      job.timer = setTimeout(() => cut(job, timedOut(timeoutMs)), Math.min(timeoutMs, LONGEST_TIMEOUT_MS));
      job.timer.unref();
    }
    outcomeOf(job).then(
      (outcome) => finish(job, outcome),
      (error: unknown) => finish(job, failure(job.task, error)),
    );
  }

  async function outcomeOf(job: Job): Promise<Outcome> {
    const { effect, tenant, runId, epoch, principal, limits } = job.task;
    const nodeKey = executionOf(effect);
    const { attempt, redaction } = effect;
    const ports = options.openPorts({ tenant, principal, runId, epoch, nodeKey, attempt, limits, redaction });
    try {
      return ports.hideOutcome(checkResult(await resultOf(job, ports)));
    } catch (error) {
      // What a node says when it fails may hold a secret as well as what it returns.
      return ports.hideOutcome(failure(job.task, error));
    }
  }

  function resultOf(job: Job, ports: EffectPorts): Promise<NodeResult> {
    const { node } = job.task.effect;
    const required = requiredSecrets(effectType(node), node.config, node.node.credentialsRef);
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
    const type = effectType(node);
    let index = 0;
    return type.perform(
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
      }),
    );
  }

  function failure(task: EffectTask, error: unknown): Outcome {
    if (error instanceof NodeFailure) return failed(error);
    const { effect, runId } = task;
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

  function finish(job: Job, outcome: Outcome): void {
    if (job.state === 'over') return;
    leave(job);
    job.task.done(outcome);
    if (queued > 0) pump();
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
    const run = runs.get(job.task.runId);
    if (job.state === 'active') {
      active -= 1;
      if (run !== undefined) run.active -= 1;
    } else {
      queued -= 1;
      run?.jobs.splice(run.jobs.indexOf(job), 1);
    }
    if (run !== undefined && run.active === 0 && run.jobs.length === 0) runs.delete(job.task.runId);
    job.state = 'over';
    clearTimeout(job.timer);
  }

  return { perform, active: () => active, queued: () => queued };
}

function effectType({ type }: NodePlan): EffectNodeType {
  if (type.kind !== 'effect') throw new Error(`${type.typeId} is no effect`);
  return type;
}

/** A value that the mode would leave out is marked: whoever keeps it must have something to keep. */
function shownInputs({ inputs, redaction }: EffectRequest): JsonObject | undefined {
  if (redaction?.inputs === undefined) return undefined;
  const { masking } = redaction;
  return shownMembers(inputs, redaction.inputs, masking.mode === 'omit' ? { mode: 'mask' } : masking);
}

/** Said to nobody: what was cut while its secrets were read must not begin. */
function stopped(): NodeFailure {
  return new NodeFailure('service_unavailable', 'The node was stopped before it began.', { retryable: true });
}

function timedOut(timeoutMs: number): Outcome {
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

function failed(error: NodeFailure): Outcome {
  return {
    ok: false,
    error: {
      code: error.code,
      message: error.message,
      retryable: error.retryable,
      ...(error.details !== undefined && { details: error.details }),
    },
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
