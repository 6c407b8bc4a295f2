import { type JsonObject, WorkBudget } from '@weft/protocol';
import type { NodeResult } from '../../model/node-type.ts';
import type { RunHead, CommandResult } from '../../ports/store.ts';
import { fireDueTrigger, isTriggerDue, nextTrigger, skipDormant } from '../channels/channel-triggers.ts';
import { checkChannelWrites } from '../channels/channels.ts';
import { signalToParent } from '../children/child-signals.ts';
import { childCreated } from '../children/children.ts';
import { childRequest } from '../children/dispatch-child.ts';
import { openFrontier, type Task } from './frontier.ts';
import type { LiveRun, Batch } from './live-run.ts';
import { timeOutInterrupt } from '../interrupts/interrupts.ts';
import { beginChildAgain } from '../steps/child-steps.ts';
import { continueSteps, isStepping, recoverStep, retryStep, takeStepOutcome } from '../steps/steps.ts';
import { endIteration } from '../loops/loop.ts';
import { budgetOf } from '../costs/budget.ts';
import { toNodeError } from './node-error.ts';
import { resolveInputs } from './node-inputs.ts';
import { recordProgress } from './effect-progress.ts';
import { finishNode, recordEvents } from './node-finish.ts';
import { failAttempt, failNode, skipNode } from './node-settle.ts';
import { causeText } from '../fold/overlay.ts';
import { childStep } from '../fold/step-fold.ts';
import { askAgain, isCutOff, restartNode } from './fork-cut.ts';
import { finishTimer, startNode } from './node-start.ts';
import type { NodePlan, Plan } from '../compile/plan.ts';
import { isEmpty, OpenBatch } from './recorder.ts';
import { receivedSensitivity } from '../redaction/result-sensitivity.ts';
import { applyCommand } from './run-commands.ts';
import { checkDuration, durationDeadline, endRun } from './run-end.ts';
import { breachBudget } from './budget-end.ts';
import {
  askingNode,
  type CreationRecord,
  dueTime,
  effectKey,
  effectOwner,
  type EffectKey,
  isLiveStatus,
  isTerminalStatus,
  isWaitingStatus,
  type NodeKey,
  nodeKey,
  type NodeState,
  type RunState,
} from '../../model/run-state.ts';
import { maskingOf } from '../redaction/redaction.ts';
import { placeOf } from '../expressions/scope.ts';
import { runRedaction } from '../redaction/sensitive.ts';
import type { Budget, Input, Moment, Outcome, Step } from './step.ts';

/**
 * The decider. `advance` takes what happened and returns what should: facts to append, effects to perform once the facts
 * are durable.
 *
 * E-1. Pure: the same run, input, moment and budget give the same decision. No clock, no randomness, no I/O.
 * E-2. Every decision is a fact before anything follows from it: only `evolve` changes the state.
 * E-3. A batch continues while something can be decided without input from outside, and stops at its budget.
 * E-4. After a terminal event nothing is recorded.
 * E-5. One decision (the start or end of a node, a command) has one budget of work for all expressions, patterns and schemas
 *      that it evaluates. The budget counts steps and bytes, not time, so that E-1 holds.
 */
export function advance(run: LiveRun, input: Input, moment: Moment, budget: Budget): Step {
  const isHeldBack = (input.type === 'start' || input.type === 'recovered') && input.commandsWait === true;
  const timersWait = (input.type === 'command' || input.type === 'continue') && input.commandsWait === true;
  const ownCause = causeText('continue', timersWait);
  const batch = new OpenBatch(run, moment);
  batch.serve(ownCause);
  run.budget.renew();
  const statusBefore = run.state.status;
  const commandResult = accept(batch, input);
  batch.serve(ownCause);
  const more = isHeldBack ? hasWork(run) : continueBatch(batch, budget, timersWait);
  const toParent = signalToParent(run, statusBefore);
  if (toParent !== undefined) batch.notify(toParent);
  run.budget.renew(); // and nothing that was made for the last decision is kept while the run waits
  const { events, effects, children, signals, aborts } = batch;
  if (commandResult === undefined) return { events, effects, children, signals, aborts, more };
  // What the command led to in this batch is part of its answer.
  const answer = { ...commandResult, status: run.state.status };
  return { events, effects, children, signals, aborts, more, commandResult: answer };
}

const NO_CAPABILITIES: ReadonlySet<string> = new Set();

/** Takes a folded run into hand. Costs what the state costs; done once per claim. */
export function openRun(
  plan: Plan,
  record: CreationRecord,
  state: RunState,
  capabilities: ReadonlySet<string> = NO_CAPABILITIES,
): LiveRun {
  const inFlight = new Set<EffectKey>();
  const stepping = new Set<NodeKey>();
  const timers = new Set<NodeKey>();
  const spawning = new Set<NodeKey>();
  let stateBytes = isEmpty(record.inputs) ? 2 : JSON.stringify(record.inputs).length;
  for (const [key, node] of state.nodes) {
    const kind = plan.nodes.get(node.nodeId)?.type.kind;
    if (dueTime(node) !== undefined) timers.add(key);
    else if (node.status === 'running' && kind === 'effect') inFlight.add(key);
    else if (node.status === 'running' && node.child !== undefined && node.child.isKnown !== true)
      spawning.add(key);
    if (kind === 'steps' && isStepping(node)) stepping.add(key);
    for (const step of runningSteps(node)) inFlight.add(effectKey(key, step));
    stateBytes += sizeOf(node);
  }
  const { redactor, known } = runRedaction({ plan, record, state });
  return {
    plan,
    record,
    state,
    capabilities,
    frontier: openFrontier(plan, state),
    inFlight,
    stepping,
    spawning,
    timers,
    draining: false,
    isLeaving: false,
    followsClock: true,
    redactor,
    known,
    masking: maskingOf(plan, record.tenant),
    stateBytes,
    budget: new WorkBudget(plan.workLimits),
  };
}

function runningSteps({ steps = [] }: NodeState): string[] {
  return steps
    .filter(({ status, childRunId }) => status === 'running' && childRunId === undefined)
    .map(({ id }) => id);
}

/** As JSON, roughly. */
function sizeOf({ outputs, steps = [] }: NodeState): number {
  let size = outputs === undefined ? 0 : JSON.stringify(outputs).length;
  for (const { result } of steps) if (result !== undefined) size += JSON.stringify(result).length;
  return size;
}

/**
 * When someone must look at the run if no one holds it: 0 = at once, a time = a timer, null = only a command moves it.
 * While effects are in flight the answer is 0, because a new holder would have to perform them again.
 */
export function nextWake(run: LiveRun): number | null {
  const { status } = run.state;
  if (status === 'pending') return 0;
  if (!isLiveStatus(status)) return null;
  if (run.inFlight.size > 0 || run.spawning.size > 0 || hasWork(run)) return 0;
  return nextTimer(run) ?? null;
}

/** The earliest due time among delays, retries and the run's own deadline: when the holder must `tick`. */
export function nextTimer(run: LiveRun): number | undefined {
  if (!run.followsClock || !isLiveStatus(run.state.status)) return undefined;
  let earliest = durationDeadline(run);
  const trigger = run.state.dueTriggers.size > 0 ? nextTrigger(run) : undefined;
  if (trigger !== undefined && (earliest === undefined || trigger < earliest)) earliest = trigger;
  for (const key of run.timers) {
    const known = run.state.nodes.get(key);
    const dueAt = known && dueTime(known);
    if (dueAt !== undefined && (earliest === undefined || dueAt < earliest)) earliest = dueAt;
  }
  return earliest;
}

/** The projection to write with an append. */
export function headOf(run: LiveRun): RunHead {
  const { status, startedAt, endedAt, error } = run.state;
  const head: { -readonly [Field in keyof RunHead]: RunHead[Field] } = { status, wakeAt: nextWake(run) };
  const currentNodeId = isWaitingStatus(status) ? askingNode(run.state) : undefined;
  if (currentNodeId !== undefined) head.currentNodeId = currentNodeId;
  if (startedAt !== undefined) head.startedAt = startedAt;
  if (endedAt !== undefined) head.endedAt = endedAt;
  if (error !== undefined) head.errorCode = error.code;
  return head;
}

function accept(batch: OpenBatch, input: Input): CommandResult | undefined {
  const { run } = batch;
  if (input.type === 'command') {
    if (run.state.status === 'running') checkDuration(batch);
    batch.serve(causeText(input.command.type, input.commandsWait));
    return applyCommand(batch, input.command);
  }
  if (isTerminalStatus(run.state.status)) return undefined;
  batch.serve(causeText(input.type === 'tick' ? 'continue' : input.type));
  switch (input.type) {
    case 'start':
      start(batch);
      break;
    case 'recovered':
      if (run.state.status === 'pending') start(batch);
      else recover(batch);
      break;
    case 'forked':
      continueFromPrefix(batch);
      break;
    case 'outcome':
      takeOutcome(batch, input.key, input.attempt, input.outcome);
      break;
    case 'progress':
      recordProgress(batch, input.key, input.attempt, input);
      break;
    case 'child-created':
      childCreated(batch, input);
      break;
    case 'tick':
    case 'continue':
      break;
  }
  return undefined;
}

function start(batch: Batch): void {
  const { run } = batch;
  if (run.state.status !== 'pending') return;
  const { record } = run;
  // Inputs, tags and versions stay out: they are on the snapshot, and would make any two runs differ at their first event.
  batch.record({
    type: 'run.started',
    payload: { workflowId: record.workflowId, transport: record.transport },
  });
  const { source } = record;
  if (source !== undefined) {
    batch.record({
      type: 'trigger.delivery.attempted',
      payload: {
        subscriptionId: source.id,
        dedupKey: source.dedupKey,
        attempt: source.attempt,
        outcome: 'delivered',
      },
    });
  }
  const budget = budgetOf(record.configurable);
  if (budget !== undefined) {
    const { maxTokens, maxCostUsd, maxToolCalls } = budget;
    const effectiveBudget = {
      ...(maxTokens !== undefined && { maxTokens }),
      ...(maxCostUsd !== undefined && { maxCostUsd }),
      ...(maxToolCalls !== undefined && { maxToolCalls }),
    };
    batch.record({ type: 'budget.reserved', payload: { effectiveBudget, scope: 'run' } });
  }
  run.frontier.openScope(run.plan.root, []);
}

/**
 * A new holder: effects whose outcome is not on record are performed again under the same id, or failed if so configured. Whether a
 * worker was given a task is known to the runtime: one that only waited for a worker waits again.
 */
function recover(batch: Batch, isSameRun = true): void {
  const { run } = batch;
  // Also while the run is paused: the log has announced the child, and a resume would not ask for it again.
  for (const key of [...run.spawning].sort()) {
    const request = childRequest(batch, key);
    if (request === undefined) run.spawning.delete(key);
    else batch.spawn(request);
  }
  if (!isLiveStatus(run.state.status)) return;
  for (const key of [...run.inFlight].sort()) {
    if (effectOwner(key).step !== undefined) {
      recoverStep(batch, key);
      continue;
    }
    const known = run.state.nodes.get(key);
    const node = known && run.plan.nodes.get(known.nodeId);
    if (known === undefined || node === undefined) continue;
    if (node.settings.onUnknownOutcome === 'fail' && !(isSameRun && isServed(node))) {
      failNode(batch, node, known.iteration, {
        code: 'effect_outcome_unknown',
        message:
          'The host stopped while this node was running, so whether its effect happened is unknown. Check that by hand, then start a new run.',
      });
    } else {
      const inputs = known.inputs ?? inputsAgain(run, node, known.iteration);
      batch.performAgain(node, known.iteration, inputs, known.sensitiveInputs);
    }
  }
}

/**
 * A branch begins where its source was cut. Questions stay open, delays keep their time, effects are performed again under this
 * run's ids; a pause was the source's own, and so were its children: their nodes begin again.
 */
function continueFromPrefix(batch: Batch): void {
  const { run } = batch;
  if (run.state.status === 'pending') return start(batch);
  if (run.state.status === 'paused') batch.record({ type: 'run.resumed', payload: { reason: 'forked' } });
  for (const [key, known] of [...run.state.nodes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const node = run.plan.nodes.get(known.nodeId);
    if (childStep(known) !== undefined) beginChildAgain(batch, key);
    if (node === undefined || !isCutOff(known, node)) continue;
    if (node.type.kind === 'steps') askAgain(batch, key);
    else restartNode(batch, key);
  }
  recover(batch, false);
}

function isServed({ type }: NodePlan): boolean {
  return type.kind === 'effect' && type.servedBy !== undefined;
}

function takeOutcome(batch: Batch, key: EffectKey, attempt: number, outcome: Outcome): void {
  const { run } = batch;
  if (effectOwner(key).step !== undefined) return takeStepOutcome(batch, key, attempt, outcome);
  const known = run.state.nodes.get(key);
  const node = known && run.plan.nodes.get(known.nodeId);
  if (known === undefined || node === undefined) return;
  if (known.status !== 'running' || known.attempt !== attempt || !run.inFlight.has(key)) return; // late or repeated
  if (outcome.ok) finishEffect(batch, node, known.iteration, outcome);
  else {
    if (outcome.events !== undefined) recordEvents(batch, node, outcome.events, undefined);
    if (outcome.breach !== undefined)
      return breachBudget(batch, outcome.breach, { nodeId: node.id, path: known.iteration });
    failAttempt(batch, node, known.iteration, outcome.error, outcome);
  }
}

function finishEffect(batch: Batch, node: NodePlan, path: readonly number[], result: NodeResult): void {
  try {
    if (result.channels !== undefined) checkChannelWrites(batch.run, node, result.channels);
  } catch (error) {
    return failAttempt(batch, node, path, toNodeError(error));
  }
  const sensitivity = receivedSensitivity(batch.run, result.outputs);
  batch.run.inFlight.delete(nodeKey(node.id, path));
  finishNode(batch, node, path, result, { sensitivity });
}

/** Decides what can be decided; true when the budget ended it early. */
function continueBatch(batch: OpenBatch, budget: Budget, timersWait: boolean): boolean {
  const { run } = batch;
  const firstExecution = run.state.executions;
  while (isLiveStatus(run.state.status) && !run.draining) {
    if (budget.canContinue?.() === false) return hasWork(run);
    run.budget.renew();
    checkDuration(batch);
    if (!isLiveStatus(run.state.status)) break;
    if (!decideSteps(batch) && !fireDue(batch, timersWait)) {
      const task = run.frontier.next();
      if (task !== undefined) carryOut(batch, task);
      else if (!skipDormant(batch)) break;
    }
    const isSpent =
      run.state.executions - firstExecution >= budget.maxNodes ||
      batch.bytes >= budget.maxBytes ||
      budget.spent();
    if (isSpent && isLiveStatus(run.state.status) && hasWork(run)) return true;
  }
  return false;
}

/** Whether something can be decided without input from outside. */
export function hasWork({ frontier, stepping }: LiveRun): boolean {
  return frontier.size > 0 || stepping.size > 0;
}

/** Lets one node that works in steps decide what comes next. False when none is at that point. */
function decideSteps(batch: Batch): boolean {
  const { stepping, isLeaving } = batch.run;
  if (stepping.size === 0 || isLeaving) return false;
  const [first] = stepping.size === 1 ? stepping : [...stepping].sort();
  if (first !== undefined) continueSteps(batch, first);
  return true;
}

function carryOut(batch: Batch, task: Task): void {
  const { run } = batch;
  switch (task.action) {
    case 'end-run':
      // A due trigger opens the frontier again when it fires, and the end is offered again.
      return isTriggerDue(run) ? undefined : endRun(batch);
    case 'end-iteration':
      return endIteration(batch, task.node, task.path);
    case 'skip':
      return skipNode(batch, task.node, task.path, task.reason);
    case 'refuse':
      return failNode(batch, task.node, task.path, task.error);
    case 'start':
      if (task.node.type.kind === 'effect' && run.inFlight.size >= run.record.limits.concurrency) {
        return run.frontier.hold(task);
      }
      return startNode(batch, task.node, task.path);
  }
}

function fireDue(batch: Batch, timersWait: boolean): boolean {
  const { isLeaving } = batch.run;
  return (!timersWait && !isLeaving && fireDueTimer(batch)) || fireDueTrigger(batch);
}

/** Ends one delay or begins one retry whose time has come, the earliest first. False when none is due. */
function fireDueTimer(batch: Batch): boolean {
  const { run } = batch;
  if (run.timers.size === 0) return false;
  const key = dueTimer(run, batch.now);
  if (key === undefined) return false;
  const known = run.state.nodes.get(key);
  const node = known && run.plan.nodes.get(known.nodeId);
  run.timers.delete(key);
  if (known === undefined || node === undefined) return true;
  if (known.status === 'suspended') timeOutInterrupt(batch, node, known.iteration);
  else if (node.type.kind === 'steps') retryStep(batch, node, known);
  else if (known.status === 'backoff') startNode(batch, node, known.iteration);
  else finishTimer(batch, node, known.iteration);
  return true;
}

function dueTimer({ timers, state }: LiveRun, now: number): NodeKey | undefined {
  let due: { key: NodeKey; at: number } | undefined;
  for (const key of timers) {
    const known = state.nodes.get(key);
    const at = known && dueTime(known);
    if (at === undefined || at > now) continue;
    if (due === undefined || at < due.at || (at === due.at && key < due.key)) due = { key, at };
  }
  return due?.key;
}

function inputsAgain(run: LiveRun, node: NodePlan, path: readonly number[]): JsonObject {
  const inputs = run.state.nodes.get(nodeKey(node.id, path))?.inputs;
  return inputs ?? resolveInputs(run.plan, placeOf(run, node, path), node);
}
