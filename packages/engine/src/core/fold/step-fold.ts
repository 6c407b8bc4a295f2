import { isJsonObject, type Json } from '@weft/protocol';
import type { Payload } from '../../model/run-event.ts';
import type { NodeState, StepState } from '../../model/run-state.ts';
import { toNumber, toText } from './to-plain.ts';

/** How facts about the steps of a node change what is known of it. */

export function stepOf({ steps }: NodeState, id: string): StepState | undefined {
  return steps?.find((step) => step.id === id);
}

export function stepStarted(node: NodeState, payload: Payload<'weft.step.started'>): void {
  const known = stepOf(node, toText(payload.step));
  if (known === undefined) {
    begin(node, {
      id: toText(payload.step),
      round: toNumber(payload.round),
      request: isJsonObject(payload.request) ? payload.request : {},
      onUnknownOutcome: payload.onUnknownOutcome === 'fail' ? 'fail' : 'repeat',
      status: 'running',
      attempt: toNumber(payload.attempt),
      failures: 0,
      ...(payload.childRunId !== undefined && { childRunId: toText(payload.childRunId) }),
    });
    return;
  }
  known.status = 'running';
  if (payload.childRunId !== undefined) known.childRunId = toText(payload.childRunId);
  known.attempt = toNumber(payload.attempt);
  known.dueAt = undefined;
  known.chunks = undefined;
}

export function stepCompleted(node: NodeState, payload: Payload<'weft.step.completed'>): void {
  const step = stepOf(node, toText(payload.step));
  if (step === undefined) return;
  end(step, 'completed');
  step.result = payload.result;
}

export function stepFailed(node: NodeState, payload: Payload<'weft.step.failed'>): void {
  const step = stepOf(node, toText(payload.step));
  if (step === undefined) return;
  end(step, 'failed');
  step.error = payload.error;
}

export function stepRetried(node: NodeState, payload: Payload<'weft.step.retried'>, at: number): void {
  const step = stepOf(node, toText(payload.step));
  if (step === undefined) return;
  step.status = 'backoff';
  step.attempt = toNumber(payload.attempt);
  step.dueAt = at + toNumber(payload.delayMs);
  if (payload.lastError !== undefined) step.failures += 1;
}

/** An answer is kept like the result of a step, under the name that the node gave to its question. */
export function stepAnswered(node: NodeState, answer: Json | undefined): void {
  const id = node.interrupt?.step;
  if (id === undefined || !isJsonObject(answer)) return;
  begin(node, {
    id,
    round: lastRound(node) + 1,
    request: {},
    onUnknownOutcome: 'repeat',
    status: 'completed',
    attempt: 0,
    failures: 0,
    result: answer,
  });
}

/** The step that a child run performs now. */
export function childStep({ steps = [] }: NodeState): StepState | undefined {
  const last = steps.at(-1);
  return last?.childRunId !== undefined && last.status === 'running' ? last : undefined;
}

/** Of the newest steps; -1 where there are none. */
export function lastRound({ steps }: NodeState): number {
  return steps?.at(-1)?.round ?? -1;
}

function begin(node: NodeState, step: StepState): void {
  node.steps ??= [];
  node.steps.push(step);
}

function end(step: StepState, status: 'completed' | 'failed'): void {
  step.status = status;
  step.dueAt = undefined;
  step.chunks = undefined;
}
