import { createAllowance, isJsonObject, type JsonObject, type WorkBudget } from '@weft/protocol';
import type { ResolveCommand, CommandResult } from '../../ports/store.ts';
import {
  type Asked,
  type Evaluation,
  type ReceivedEvent,
  refused,
  schemaProblem,
  type Taken,
} from './kind-rules.ts';
import { INTERRUPT_RULES } from './kinds.ts';
import { causeOf } from '../children/dispatch-child.ts';
import type { Batch } from '../decide/live-run.ts';
import { isLastTurn, noteTurn } from './conversation.ts';
import { nodeInput } from '../decide/node-context.ts';
import { toHiddenError } from '../decide/node-error.ts';
import { finishNode } from '../decide/node-finish.ts';
import { resolveInputs } from '../decide/node-inputs.ts';
import { completeNode, failAttempt, failNode, identity } from '../decide/node-settle.ts';
import { newReads } from '../decide/node-work.ts';
import type { NodePlan } from '../compile/plan.ts';
import { shownMembers } from '../decide/recorder.ts';
import { mixedSensitivity, receivedSensitivity } from '../redaction/result-sensitivity.ts';
import { type InterruptState, type NodeState, nodeKey } from '../../model/run-state.ts';
import type { Draft } from '../../model/run-event.ts';
import { placeOf } from '../expressions/scope.ts';
import { ofMembers, type Sensitivity } from '../redaction/sensitivity.ts';

/** Answers, votes and silence: what becomes of a question that a node has asked (suspend.ts). */
export function resolveInterrupt(batch: Batch, command: ResolveCommand): CommandResult {
  const { run } = batch;
  const known = askedNode(batch, command);
  const node = run.plan.nodes.get(command.nodeId);
  const refusal = refusalOf(known, command);
  if (refusal !== undefined || node === undefined || known?.interrupt === undefined) {
    return notApplied(batch, refusal ?? NOT_FOUND);
  }
  const { interrupt, iteration: path } = known;
  const asked: Asked = { batch, node, path, interrupt };
  const evaluation = evaluate(interrupt, command, run.budget);
  if (evaluation.type === 'refused') {
    const { type: _, ...problem } = evaluation;
    return notApplied(batch, problem);
  }
  const problem = INTERRUPT_RULES[interrupt.kind].answerProblem?.(asked, evaluation);
  if (problem !== undefined) return notApplied(batch, problem);
  carryOut(asked, evaluation);
  return { applied: true, status: run.state.status, at: run.state.lastAt };
}

function evaluate(interrupt: InterruptState, command: ResolveCommand, budget: WorkBudget): Evaluation {
  const { value, by, byUser, viaLink } = command;
  const means = { budget, allowance: createAllowance() };
  if (!isJsonObject(value)) return refused('resumeValue must be an object.', 'resumeValue');
  return (
    schemaProblem(interrupt.resumeSchema, value, means) ??
    INTERRUPT_RULES[interrupt.kind].evaluate(interrupt, { value, by, byUser, viaLink }, means)
  );
}

/** The node that is meant. Inside loops the iteration may be left out while only one of them asks. */
function askedNode({ run }: Batch, command: ResolveCommand): NodeState | undefined {
  const exact = run.state.nodes.get(nodeKey(command.nodeId, command.iteration ?? []));
  if (exact !== undefined || command.iteration !== undefined) return exact;
  const asking = run.state.suspended.filter((key) => run.state.nodes.get(key)?.nodeId === command.nodeId);
  return asking.length === 1 ? run.state.nodes.get(asking[0] ?? '') : undefined;
}

/** No answer came in time. */
export function timeOutInterrupt(batch: Batch, node: NodePlan, path: readonly number[]): void {
  const interrupt = batch.run.state.nodes.get(nodeKey(node.id, path))?.interrupt;
  if (interrupt === undefined) return;
  const { interruptId, kind, timeoutMs } = interrupt;
  const { received, silentAnswer, concludeSilently } = INTERRUPT_RULES[kind];
  const place = { ...identity(node, path), interruptId };
  if (silentAnswer !== undefined && received !== undefined)
    batch.record({ ...received(place, silentAnswer, undefined), nodeId: node.id });
  batch.record({
    type: 'interrupt.resolved',
    nodeId: node.id,
    payload: { ...place, kind, outcome: 'rejected', reason: 'timeout' },
  });
  if (concludeSilently !== undefined) {
    batch.record({ type: 'node.resumed', nodeId: node.id, payload: place });
    const outputs = concludeSilently({ batch, node, path, interrupt });
    return completeNode(batch, node, path, {
      outputs,
      sensitivity: receivedSensitivity(batch.run, outputs),
    });
  }
  failNode(batch, node, path, {
    code: 'interrupt_timeout',
    message: `No answer within ${timeoutMs ?? 0} ms.`,
    details: { interruptId, timeoutMs: timeoutMs ?? 0 },
  });
}

function carryOut(asked: Asked, taken: Taken): void {
  const { batch, node, path, interrupt } = asked;
  const { interruptId, kind } = interrupt;
  const { received, conclude, wholePort } = INTERRUPT_RULES[kind];
  const { value, voter } = taken;
  const place = { ...identity(node, path), interruptId };
  const shownValue = shownMembers(value, answerSensitivity(node, wholePort, value), batch.run.masking);
  /** A fact that tells the answer, as it is and as others may see it. */
  const tell = (draftOf: (answer: JsonObject) => Draft<AnswerEvent>): void => {
    const draft = draftOf(value);
    const shown = shownValue === value ? draft.payload : draftOf(shownValue).payload;
    batch.record({ ...draft, nodeId: node.id, shown });
  };
  if (taken.type === 'noted') {
    tell((answer) => ({ type: 'weft.approval.asked', payload: { ...place, value: answer, askedBy: voter } }));
    return;
  }
  if (taken.type === 'turn') {
    const isLast = isLastTurn(asked);
    noteTurn(asked, taken);
    if (!isLast) return;
  }
  if (received !== undefined) tell((answer) => received(place, answer, voter));
  if (taken.type === 'vote') return;

  tell((answer) => ({
    type: 'interrupt.resolved',
    payload: { ...place, kind, resumeValue: answer, resolvedBy: voter },
  }));
  batch.run.timers.delete(nodeKey(node.id, path));
  const { kind: nodeKind } = node.type;
  if (taken.type === 'rejected' && nodeKind !== 'steps')
    return failNode(batch, node, path, { ...taken.error, details: { interruptId } });
  tell((answer) => ({ type: 'node.resumed', payload: { ...place, resumeValue: answer } }));
  // Whatever the answer is, the node gets it as that of a step.
  if (nodeKind === 'steps') return void batch.run.stepping.add(nodeKey(node.id, path));
  const outputs = conclude?.(asked, taken);
  if (outputs !== undefined) return takeAnswer(batch, node, path, outputs, outputs);
  takeAnswer(batch, node, path, value, { ...value, output: value });
}

type AnswerEvent = ReceivedEvent | 'weft.approval.asked' | 'interrupt.resolved' | 'node.resumed';

/** Of an answer: what was decided stays to be seen, unless the node declares it by its own name. */
const DECISIONS: ReadonlySet<string> = new Set(['action', 'operation']);

/** An answer becomes the outputs of its node, whole and member by member, and is as sensitive as these are declared. */
function answerSensitivity(
  { sensitivePorts }: NodePlan,
  wholePort = 'output',
  answer: JsonObject,
): Sensitivity | undefined {
  if (sensitivePorts.size === 0) return undefined;
  const isDeclared = (port: string): boolean => sensitivePorts.get(port) === true;
  const isWhole = isDeclared(wholePort);
  const isHidden = (name: string): boolean => isDeclared(name) || (isWhole && !DECISIONS.has(name));
  return ofMembers(
    Object.entries(answer)
      .filter(([name]) => isHidden(name))
      .map(([name, value]) => [name, isJsonObject(value) ? eachMember(value) : true]),
  );
}

/** All of it, but for the names: answers are still known by their questions. */
function eachMember(value: JsonObject): Sensitivity {
  return Object.fromEntries(Object.keys(value).map((name) => [name, true]));
}

/** What the node makes of its answer; most simply pass it on. */
function takeAnswer(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  answer: JsonObject,
  outputs: JsonObject,
): void {
  const { run } = batch;
  const { answered } = node.type;
  if (answered === undefined) {
    const sensitivity = receivedSensitivity(run, outputs);
    return completeNode(batch, node, path, { outputs, sensitivity });
  }
  const reads = newReads(run);
  try {
    const inputs = resolveInputs(run.plan, placeOf(run, node, path), node, reads);
    const result = answered(nodeInput(batch, node, path, inputs, reads), answer);
    const sensitivity = mixedSensitivity(run, reads, node, inputs, result.outputs);
    const causeSeq = causeOf(batch, node, path);
    finishNode(batch, node, path, result, { sensitivity, work: { inputs, reads }, causeSeq });
  } catch (error) {
    failAttempt(batch, node, path, toHiddenError(error, node, reads));
  }
}

interface Refusal {
  readonly code:
    | 'interrupt_not_found'
    | 'interrupt_already_resolved'
    | 'interrupt_gone'
    | 'auth_elevation_required';
  readonly message: string;
}

const NOT_FOUND: Refusal = {
  code: 'interrupt_not_found',
  message: 'This node has asked nothing; the run’s snapshot names the open questions.',
};

function refusalOf(known: NodeState | undefined, command: ResolveCommand): Refusal | undefined {
  const interrupt = known?.interrupt;
  if (interrupt === undefined) return NOT_FOUND;
  const isOther = command.interruptId !== undefined && command.interruptId !== interrupt.interruptId;
  if (interrupt.closed === 'cancelled') {
    return { code: 'interrupt_gone', message: 'The question was withdrawn with its run.' };
  }
  if (interrupt.closed !== undefined || isOther) {
    return { code: 'interrupt_already_resolved', message: 'The question has been answered already.' };
  }
  if (command.viaLink && interrupt.authRequired === true) {
    return {
      code: 'auth_elevation_required',
      message: 'This question can only be answered with an API key.',
    };
  }
  return undefined;
}

function notApplied(
  batch: Batch,
  refusal: NonNullable<Extract<CommandResult, { applied: false }>['refusal']>,
): CommandResult {
  return { applied: false, status: batch.run.state.status, refusal };
}
