import type { JsonObject } from '@weft/protocol';
import type { Batch } from './live-run.ts';
import { cancelRunningNodes, errorPayload } from './node-settle.ts';
import { isEmpty, shownResult } from './recorder.ts';
import type { BudgetScope } from '../costs/budget.ts';
import type { NodeError } from '../../model/run-state.ts';
import { collectOutputs, unrecoveredFailure } from './scope-result.ts';

/** Every node has settled: the run is over, well or badly. */
export function endRun(batch: Batch): void {
  const { run } = batch;
  const failure = unrecoveredFailure(run.state, run.plan.root, []);
  if (failure !== undefined) {
    noteDeadLetter(batch, failure.error, failure.nodeId);
    return failRun(batch, failure.error, failure.nodeId);
  }
  const outputs = collectOutputs(run.state, run.plan.root, []);
  if (isEmpty(outputs)) return void batch.record({ type: 'run.completed', payload: {} });
  const shown = shownResult(run.state, run.plan.root, run.masking);
  const payload = { outputs };
  batch.record({
    type: 'run.completed',
    payload,
    // One terminal node that hides nothing is shown as it is: no need to serialize it twice.
    shown: shown === outputs ? payload : withOutputs(shown),
  });
}

export type Breach =
  | {
      readonly kind: 'node-executions' | 'loop-iterations' | 'clarification';
      readonly limit: number;
      readonly observed: number;
      readonly nodeId: string;
    }
  | { readonly kind: 'run-duration'; readonly limit: number; readonly observed: number }
  | {
      readonly kind: 'budget-tokens' | 'budget-cost' | 'budget-tool-calls';
      readonly limit: number;
      readonly observed: number;
      readonly nodeId: string;
      readonly scope: BudgetScope;
      /** Of a node that works in steps: the one that was not performed. */
      readonly step?: string;
      readonly iteration?: number[];
    };

/** A cap was reached: the breach is on record before the failure it causes. `said` where the usual error says something else. */
export function breachCap(batch: Batch, breach: Breach, said: Partial<NodeError> = {}): void {
  const nodeId = breach.kind === 'run-duration' ? undefined : breach.nodeId;
  batch.record({ type: 'cap.breached', ...(nodeId !== undefined && { nodeId }), payload: { ...breach } });
  cancelRunningNodes(batch, breach.kind === 'run-duration' ? 'run-timeout' : 'run-failed');
  failRun(batch, { ...breachError(breach), ...said }, nodeId);
}

/**
 * Fails the run when its active time is used up. `observed` is the limit plus one: the first moment past it, whatever
 * moment the host noticed, so that two equal executions leave equal payloads.
 */
export function checkDuration(batch: Batch): void {
  const first = firstDeadline(batch.run);
  if (first === undefined || batch.now < first.deadline) return;
  const { limit } = first;
  breachCap(batch, { kind: 'run-duration', limit, observed: limit + 1 });
}

/** When the run has been active for longer than it may; undefined when there is no limit or the clock stands. */
export function durationDeadline(run: Batch['run']): number | undefined {
  return firstDeadline(run)?.deadline;
}

interface Deadline {
  readonly limit: number;
  readonly deadline: number;
}

function firstDeadline({ record, state }: Batch['run']): Deadline | undefined {
  const { runDurationMs, workflowTimeoutMs = 0 } = record.limits;
  const ofRun = deadlineOf(runDurationMs, state.activeSince, state.activeMs, state.countedFrom);
  const ofWork = deadlineOf(workflowTimeoutMs, state.workingSince, state.workingMs, state.countedFrom);
  if (ofRun === undefined || ofWork === undefined) return ofRun ?? ofWork;
  return ofWork.deadline < ofRun.deadline ? ofWork : ofRun;
}

function deadlineOf(
  limit: number,
  since: number | undefined,
  usedMs: number,
  countedFrom: number,
): Deadline | undefined {
  if (limit === 0 || since === undefined) return undefined;
  return { limit, deadline: Math.max(since, countedFrom) + (limit - usedMs) + 1 };
}

/** A failure that was retried to the last attempt is for a person to look at. Runs of before this was recorded stay as they were. */
function noteDeadLetter(batch: Batch, error: NodeError, nodeId: string): void {
  const { run } = batch;
  const policy = run.plan.nodes.get(nodeId)?.settings.retry;
  if (run.record.limits.deadLetters !== true || policy === undefined || policy.maxAttempts < 2) return;
  if (error.retryable !== true || policy.never.includes(error.code)) return;
  batch.record({
    type: 'run.dead_lettered',
    payload: { runId: run.record.runId, reason: error.code, attempts: policy.maxAttempts, nodeId },
  });
}

function failRun(batch: Batch, error: NodeError, failedNodeId: string | undefined): void {
  batch.record({
    type: 'run.failed',
    payload: { error: errorPayload(error), ...(failedNodeId !== undefined && { failedNodeId }) },
  });
}

function breachError(breach: Breach): NodeError {
  if (breach.kind === 'run-duration') {
    return {
      code: 'run_timeout',
      message: `The run was active for longer than its limit of ${breach.limit} ms.`,
      details: { limit: breach.limit, elapsedMs: breach.observed },
    };
  }
  if (breach.kind === 'loop-iterations') {
    return {
      code: 'loop_limit_exceeded',
      message: `The orchestrator may decide ${breach.limit} times and wanted to decide once more. Raise configurable.maxLoopIterations, or let it terminate earlier.`,
      details: { limit: breach.limit, iteration: breach.observed },
    };
  }
  if (breach.kind === 'clarification') {
    return {
      code: 'clarification_limit_exceeded',
      message: `A node may ask for clarification ${breach.limit} times and wanted to ask once more.`,
      details: { limit: breach.limit, observed: breach.observed, nodeId: breach.nodeId },
    };
  }
  return {
    code: 'recursion_limit_exceeded',
    message: `The run may start ${breach.limit} nodes and wanted to start one more. Raise configurable.recursionLimit, or the host's --max-node-executions.`,
    details: { limit: breach.limit, observed: breach.observed },
  };
}

function withOutputs(outputs: JsonObject): JsonObject {
  return isEmpty(outputs) ? {} : { outputs };
}
