import type { Json, JsonObject } from '@weft/protocol';
import { invocationId } from '../core/invocation-id.ts';
import type { RunLimits } from '../core/run-state.ts';
import type { EffectRequest, NumberedChunk, Outcome } from '../core/step.ts';
import { sha256 } from '../hash.ts';
import { type EffectNodeType, type Egress, NodeFailure, type NodeResult } from '../node-type.ts';
import { LONGEST_TIMEOUT_MS } from './clock.ts';
import type { OpenEffectPorts } from './effect-ports.ts';
import { findNonJson } from './json-safe.ts';
import { errorFields, type Log } from './log.ts';
import { requiredSecrets, resolveRequired } from './secrets/required-secrets.ts';

/**
 * Performs effects: the only place of the runtime that lets a node touch the world. A task waits in its run's queue until
 * both the run and the host have room, then runs, then reports.
 *
 * P1. `done` is called exactly once per task, unless the task was aborted: then never.
 * P2. A task that ignores its signal does not hold its place: time-out and abort free it at once.
 * P3. Runs that wait take turns, so that one run with many effects does not starve the others.
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
  state: 'queued' | 'active' | 'over';
  readonly controller: AbortController;
  timer?: NodeJS.Timeout;
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

  function perform(task: EffectTask): EffectHandle {
    const job: Job = { task, state: 'queued', controller: new AbortController() };
    const run = runs.get(task.runId) ?? { active: 0, jobs: [] };
    runs.set(task.runId, run);
    run.jobs.push(job);
    queued += 1;
    // With room for both, and nobody before it, the job need not wait for its turn.
    if (queued === 1 && active < options.maxActive && run.active < task.limits.concurrency) {
      run.jobs.shift();
      begin(job, run);
    } else pump();
    return { abort: () => cut(job, undefined) };
  }

  function pump(): void {
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
    const { timeoutMs } = job.task.effect;
    if (timeoutMs > 0) {
      job.timer = setTimeout(() => cut(job, timedOut(timeoutMs)), Math.min(timeoutMs, LONGEST_TIMEOUT_MS));
      job.timer.unref();
    }
    attempt(job).then(
      (outcome) => finish(job, outcome),
      (error: unknown) => finish(job, failure(job.task, error)),
    );
  }

  async function attempt(job: Job): Promise<Outcome> {
    const { effect, tenant, runId, principal, limits, configurable } = job.task;
    const type = effectType(effect);
    const { agent, credentialsRef } = effect.node.node;
    const ports = options.openPorts({
      tenant,
      principal,
      runId,
      nodeKey: executionOf(effect),
      attempt: effect.attempt,
      limits,
    });
    const required = requiredSecrets(type, effect.node.config, credentialsRef);
    const secrets = required.length === 0 ? ports.secrets : await resolveRequired(ports.secrets, required);
    if (job.state === 'over') throw stopped();
    let index = 0;
    const performed = type.perform(
      {
        nodeId: effect.node.id,
        config: effect.node.config,
        prepared: effect.node.prepared,
        inputs: effect.inputs,
        configurable,
        ...(agent !== undefined && { agent }),
        ...(type.takesCredentialsRef === true && credentialsRef !== undefined && { credentialsRef }),
      },
      {
        invocationId: invocationId(
          { tenant, runId, nodeId: executionOf(effect), ordinal: 0, providerKey: type.typeId },
          sha256,
        ),
        attempt: effect.attempt,
        signal: job.controller.signal,
        egress: options.egress,
        secrets,
        memory: ports.memory,
        artifacts: ports.artifacts,
        get traceparent() {
          return job.task.traceparent?.();
        },
        emit(chunk) {
          if (job.state !== 'active') return;
          job.task.progress({ ...ports.hideChunk(chunk), index });
          index += 1;
        },
      },
    );
    // What a node says when it fails may hold a secret as well as what it returns.
    const outcome = await performed.then(checkResult, (error: unknown) => failure(job.task, error));
    return ports.hideOutcome(outcome);
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
    job.controller.abort();
    if (outcome !== undefined) job.task.done(outcome);
    pump();
  }

  function leave(job: Job): void {
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

/** Another visit is another effect: it must not look like a repetition of the last one. */
function executionOf({ key, visit = 0 }: EffectRequest): string {
  return visit === 0 ? key : `${key}#${visit}`;
}

function effectType(effect: EffectRequest): EffectNodeType {
  const { type } = effect.node;
  if (type.kind !== 'effect') throw new Error(`${type.typeId} is no effect`);
  return type;
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
  const { outputs, variables, channels = [], events = [] } = result;
  const bad =
    findNonJson(outputs, 'outputs') ??
    (variables && findNonJson(variables, 'variables')) ??
    firstBad(
      channels.map(({ value }) => value),
      'channels',
    ) ??
    firstBad(
      events.map(({ payload }) => payload),
      'events',
    );
  if (bad !== undefined) {
    return refusedOutput('node_failed', `The node returned a value that is not JSON at ${bad}.`, {
      path: bad,
    });
  }
  return { ok: true, ...result };
}

function firstBad(values: readonly Json[], name: string): string | undefined {
  for (const [index, value] of values.entries()) {
    const bad = findNonJson(value, `${name}[${index}]`);
    if (bad !== undefined) return bad;
  }
  return undefined;
}

function refusedOutput(code: string, message: string, details: JsonObject): Outcome {
  return { ok: false, error: { code, message, retryable: false, details } };
}
