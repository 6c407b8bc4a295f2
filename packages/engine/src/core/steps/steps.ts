import type { JsonObject } from '@weft/protocol';
import { type NodeEvent, NodeFailure, type StepMove, type StepRequest } from '../../model/node-type.ts';
import {
  dueTime,
  effectKey,
  effectOwner,
  type EffectKey,
  type NodeError,
  type NodeKey,
  nodeKey,
  type NodeState,
  type StepState,
} from '../../model/run-state.ts';
import { checkChannelWrites } from '../channels/channels.ts';
import type { NodePlan } from '../compile/plan.ts';
import { type BudgetBreach, budgetOf } from '../costs/budget.ts';
import type { Batch, LiveRun, StepOwner } from '../decide/live-run.ts';
import { nodeInput } from '../decide/node-context.ts';
import { hideKnown, toHiddenError, toNodeError } from '../decide/node-error.ts';
import { breachBudget } from '../decide/budget-end.ts';
import { finishNode, recordEvents } from '../decide/node-finish.ts';
import { resolveInputs } from '../decide/node-inputs.ts';
import { errorPayload, failNode, identity, tooLargeError } from '../decide/node-settle.ts';
import { newReads } from '../decide/node-work.ts';
import { mayRetry, retryDelay } from '../decide/retry.ts';
import type { Outcome } from '../decide/step.ts';
import { placeOf } from '../expressions/scope.ts';
import { lastRound, stepOf } from '../fold/step-fold.ts';
import { suspendNode } from '../interrupts/suspend.ts';
import { mixedSensitivity } from '../redaction/result-sensitivity.ts';
import { beginChild } from './child-steps.ts';
import { hasEnded, recordsOf } from './step-records.ts';
import { callOf, requestOfCall, shownResult } from './worker-calls.ts';

/**
 * Nodes that perform several effects, each with its own durable outcome:
 *
 *   started ──► what next? ──steps──► open ──all ended──► what next? ──► completed | failed
 *                   │  ▲
 *                   └──┘ question, answered; child run, ended (child-steps.ts)
 *
 * E-32. A step begins by a fact, before it is performed, and ends by a fact, as soon as its outcome is known. One with an end on
 *       record is never performed again; one without is performed again under the same invocation id, or fails if that is not safe.
 * E-33. What comes next is a function of the node's input and of the steps on record, asked only while none is open. So it is the
 *       same for a new holder, in a replay, and in a fork from any event.
 * E-34. At most four steps of a node are open at a time.
 */
const MAX_OPEN = 4;

/** The node has started, or its last open step or question has ended: decides what comes next. */
export function continueSteps(batch: Batch, key: NodeKey): void {
  const { run } = batch;
  run.stepping.delete(key);
  const known = run.state.nodes.get(key);
  const node = known && run.plan.nodes.get(known.nodeId);
  if (known === undefined || node === undefined || node.type.kind !== 'steps') return;
  const { iteration: path } = known;
  const reads = newReads(run);
  const { inputs } = ownerOf(run, node, known);
  let move: StepMove;
  try {
    move = node.type.next(nodeInput(batch, node, path, inputs, reads), recordsOf(known.steps ?? []));
    if ('outputs' in move && move.channels !== undefined) checkChannelWrites(run, node, move.channels);
  } catch (error) {
    return failNode(batch, node, path, toHiddenError(error, node, reads));
  }
  if ('outputs' in move) {
    const sensitivity = mixedSensitivity(run, reads, node, inputs, move.outputs);
    return finishNode(batch, node, path, move, { sensitivity });
  }
  const events = move.events ?? [];
  const overBudget = toolCallBreach(run, events);
  if (overBudget !== undefined) return breachBudget(batch, overBudget, { nodeId: node.id, path });
  recordEvents(batch, node, events, undefined);
  if ('failure' in move) return failNode(batch, node, path, toNodeError(move.failure));
  if ('steps' in move) return beginSteps(batch, node, known, move.steps);
  if ('child' in move) return beginChild(batch, node, known, move, reads);
  const { ask, step } = move;
  suspendNode(batch, node, path, () => ask, { step });
}

/** Tools are called in the steps that follow, so this is the last moment not to. */
function toolCallBreach({ record, state }: LiveRun, events: readonly NodeEvent[]): BudgetBreach | undefined {
  const limit = budgetOf(record.configurable)?.maxToolCalls;
  if (limit === undefined) return undefined;
  const calls = events.filter(({ type }) => type === 'agent.toolCalled').length;
  if (calls === 0 || state.toolCalls + calls <= limit) return undefined;
  return { dimension: 'toolCalls', limit, consumed: state.toolCalls, scope: 'run' };
}

function beginSteps(batch: Batch, node: NodePlan, known: NodeState, requests: readonly StepRequest[]): void {
  const { run } = batch;
  const wanted = requests.filter(({ id }) => stepOf(known, id) === undefined);
  if (wanted.length === 0) {
    const message = `Node type ${node.type.typeId} asks for no step that is not on record.`;
    return failNode(batch, node, known.iteration, toNodeError(new NodeFailure('node_failed', message)));
  }
  const round = lastRound(known) + 1;
  const isCalled = node.type.kind === 'steps' && node.type.called !== undefined;
  for (const { id, request: asked, onUnknownOutcome = node.settings.onUnknownOutcome } of wanted.slice(
    0,
    MAX_OPEN,
  )) {
    let request = asked;
    try {
      if (isCalled) request = requestOfCall(run, node, known.steps ?? []);
    } catch (error) {
      return failNode(batch, node, known.iteration, toNodeError(error));
    }
    const begun = {
      ...identity(node, known.iteration),
      step: id,
      round,
      attempt: 0,
      ...(onUnknownOutcome === 'fail' && { onUnknownOutcome }),
    };
    batch.record({
      type: 'weft.step.started',
      nodeId: node.id,
      payload: { ...begun, request },
      shown: isCalled ? { ...begun, request: {} } : undefined,
      isForeign: true,
    });
    const step = stepOf(known, id);
    if (step === undefined) continue;
    run.inFlight.add(effectKey(nodeKey(node.id, known.iteration), id));
    batch.performStep(step, ownerOf(run, node, known), false);
  }
}

/** How a step ended. Late and repeated outcomes change nothing. */
export function takeStepOutcome(batch: Batch, key: EffectKey, attempt: number, outcome: Outcome): void {
  const { run } = batch;
  const found = openStep(run, key);
  if (found === undefined || found.step.attempt !== attempt) return;
  const { node, known, step } = found;
  if (outcome.events !== undefined) recordEvents(batch, node, outcome.events, undefined);
  if (!outcome.ok && outcome.breach !== undefined) {
    const place = { nodeId: node.id, path: known.iteration, step: step.id };
    return breachBudget(batch, outcome.breach, place);
  }
  if (!outcome.ok) return failStep(batch, found, outcome.error, outcome);
  const isCalled = node.type.kind === 'steps' && node.type.called !== undefined;
  const result = outcome.outputs;
  const text = JSON.stringify(result);
  const tooLarge = tooLargeError(run, text);
  if (tooLarge !== undefined) return failStep(batch, found, tooLarge);
  const ended = { ...identity(node, known.iteration), step: step.id };
  batch.record({
    type: 'weft.step.completed',
    nodeId: node.id,
    payload: { ...ended, result },
    shown: isCalled ? { ...ended, result: shownResult(run, node, result) } : undefined,
    isForeign: true,
  });
  run.stateBytes += text.length;
  stepEnded(run, key, known);
}

interface OpenStep {
  readonly key: EffectKey;
  readonly node: NodePlan;
  readonly known: NodeState;
  readonly step: StepState;
}

function failStep(
  batch: Batch,
  { key, node, known, step }: OpenStep,
  error: NodeError,
  times: { readonly retryAfterMs?: number; readonly delayMs?: number } = {},
): void {
  const { run } = batch;
  const { retry } = node.settings;
  const shownError = errorPayload(hideKnown(run, error));
  const place = { ...identity(node, known.iteration), step: step.id };
  if (!mayRetry(retry, error, step.failures)) {
    const payload = { ...place, error: shownError, attempts: step.attempt + 1 };
    batch.record({ type: 'weft.step.failed', nodeId: node.id, payload });
    return stepEnded(run, key, known);
  }
  const delayMs = times.delayMs ?? retryDelay(retry, step.failures, batch.random, times.retryAfterMs);
  const payload = { ...place, attempt: step.attempt + 1, delayMs, lastError: shownError };
  batch.record({ type: 'weft.step.retried', nodeId: node.id, payload });
  run.inFlight.delete(key);
  run.timers.add(effectOwner(key).key);
  run.frontier.unhold(1);
}

function stepEnded(run: LiveRun, key: EffectKey, known: NodeState): void {
  run.inFlight.delete(key);
  run.frontier.unhold(1);
  if (isStepping(known)) run.stepping.add(effectOwner(key).key);
}

/** A new holder: what was open is performed again, or has failed where no one knows whether it happened. */
export function recoverStep(batch: Batch, key: EffectKey): void {
  const { run } = batch;
  const found = openStep(run, key);
  if (found === undefined) return;
  const { node, known, step } = found;
  if (step.onUnknownOutcome !== 'fail') return batch.performStep(step, ownerOf(run, node, known), true);
  failStep(batch, found, {
    code: 'effect_outcome_unknown',
    message:
      'The host stopped while this step was running, so whether its effect happened is unknown. Check that by hand, then start a new run.',
    retryable: false,
    details: { step: step.id },
  });
}

/** A pause that does not wait: the step is stopped and noted as due again. */
export function interruptStep(batch: Batch, key: EffectKey): void {
  const { run } = batch;
  const found = openStep(run, key);
  if (found === undefined) return;
  const { node, known, step } = found;
  batch.abort(key);
  batch.record({
    type: 'weft.step.retried',
    nodeId: node.id,
    payload: {
      ...identity(node, known.iteration),
      step: step.id,
      attempt: step.attempt + 1,
      delayMs: 0,
      reason: 'paused',
    },
  });
  run.inFlight.delete(key);
  run.timers.add(effectOwner(key).key);
}

/** Begins the next attempt of the step whose time has come first. */
export function retryStep(batch: Batch, node: NodePlan, known: NodeState): void {
  const { run } = batch;
  const key = nodeKey(node.id, known.iteration);
  const waiting = (known.steps ?? []).filter(({ dueAt }) => dueAt !== undefined);
  const due = dueTime(known);
  const step = waiting.find(({ dueAt }) => dueAt === due);
  if (waiting.length > 1) run.timers.add(key);
  if (step === undefined) return;
  const { id, round, attempt } = step;
  batch.record({
    type: 'weft.step.started',
    nodeId: node.id,
    payload: { ...identity(node, known.iteration), step: id, round, attempt },
  });
  run.inFlight.add(effectKey(key, id));
  batch.performStep(step, ownerOf(run, node, known), false);
}

/** Whether a node that works in steps is at the point where it decides. */
export function isStepping({ status, steps }: NodeState): boolean {
  return status === 'running' && (steps === undefined || steps.every(hasEnded));
}

/** The attempt that is running of an effect or a step; undefined when there is none. */
export function attemptOf({ state }: LiveRun, key: EffectKey): number | undefined {
  const owner = effectOwner(key);
  const known = state.nodes.get(owner.key);
  if (known === undefined || owner.step === undefined) return known?.attempt;
  return stepOf(known, owner.step)?.attempt;
}

function openStep(run: LiveRun, key: EffectKey): OpenStep | undefined {
  const owner = effectOwner(key);
  const known = run.state.nodes.get(owner.key);
  const node = known && run.plan.nodes.get(known.nodeId);
  const step = known && stepOf(known, owner.step ?? '');
  if (known === undefined || node === undefined || step === undefined) return undefined;
  const isOpen = known.status === 'running' && step.status === 'running' && run.inFlight.has(key);
  return isOpen ? { key, node, known, step } : undefined;
}

function ownerOf(run: LiveRun, node: NodePlan, known: NodeState): StepOwner {
  const path = known.iteration;
  const inputs: JsonObject = known.inputs ?? resolveInputs(run.plan, placeOf(run, node, path), node);
  const call = callOf(run, node, known.steps ?? []);
  return { node, path, inputs, sensitivity: known.sensitiveInputs, call };
}
