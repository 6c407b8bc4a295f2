import { isJsonObject, type JsonObject } from '@weft/protocol';
import type { ResolveCommand, Verdict } from '../../ports/store.ts';
import { type Judgement, judge } from './answers.ts';
import { causeOf } from '../children/children.ts';
import type { Stretch } from '../decide/live-run.ts';
import {
  closeConversation,
  isLastTurn,
  lastWord,
  noteTurn,
  silentClose,
  turnProblem,
} from './conversation.ts';
import { nodeInput } from '../decide/node-context.ts';
import { toHiddenError, toNodeError } from '../decide/node-error.ts';
import { finishNode } from '../decide/node-finish.ts';
import { resolveInputs } from '../decide/node-inputs.ts';
import { completeNode, failAttempt, failNode, identity } from '../decide/node-settle.ts';
import { newReads } from '../decide/node-work.ts';
import { pick } from '../json/pick.ts';
import type { NodePlan } from '../compile/plan.ts';
import { shownMembers } from '../decide/recorder.ts';
import { mixedSensitivity, receivedSensitivity } from '../redaction/result-sensitivity.ts';
import { type InterruptState, type NodeState, nodeKey } from '../../model/run-state.ts';
import { placeOf } from '../expressions/scope.ts';
import { ofMembers, type Sensitivity } from '../redaction/sensitivity.ts';

/** Answers, votes and silence: what becomes of a question that a node has asked (suspend.ts). */
export function resolveInterrupt(stretch: Stretch, command: ResolveCommand): Verdict {
  const { run } = stretch;
  const known = askedNode(stretch, command);
  const path = known?.iteration ?? [];
  const node = run.plan.nodes.get(command.nodeId);
  const refusal = refusalOf(known, command);
  if (refusal !== undefined || node === undefined || known?.interrupt === undefined) {
    return refused(stretch, refusal ?? NOT_FOUND);
  }
  const judgement = judge(known.interrupt, command, run.budget);
  if (judgement.type === 'refused') {
    const { code, message, details } = judgement;
    return refused(stretch, { code, message, ...(details !== undefined && { details }) });
  }
  const unfit = unfitAnswer(stretch, node, known, judgement);
  if (unfit !== undefined) return refused(stretch, unfit);
  carryOut(stretch, node, path, known.interrupt, judgement);
  return { applied: true, status: run.state.status, at: run.state.lastAt };
}

/** What only the node or its channel can say against an answer; found out before anything is recorded. */
function unfitAnswer(
  stretch: Stretch,
  node: NodePlan,
  { interrupt, iteration }: NodeState,
  judgement: Exclude<Judgement, { type: 'refused' }>,
): NonNullable<Extract<Verdict, { applied: false }>['refusal']> | undefined {
  if (interrupt === undefined) return undefined;
  if (judgement.type === 'turn') return turnProblem(stretch, node, interrupt, judgement);
  const { answered } = node.type;
  if (interrupt.kind !== 'low-confidence' || judgement.type !== 'accepted' || answered === undefined)
    return undefined;
  try {
    answered(nodeInput(stretch, node, iteration, {}), judgement.value);
    return undefined;
  } catch (error) {
    const { message } = toNodeError(error);
    return { code: 'validation_error', message, details: { field: 'resumeValue.decision' } };
  }
}

/** The node that is meant. Inside loops the iteration may be left out while only one of them asks. */
function askedNode({ run }: Stretch, command: ResolveCommand): NodeState | undefined {
  const exact = run.state.nodes.get(nodeKey(command.nodeId, command.iteration ?? []));
  if (exact !== undefined || command.iteration !== undefined) return exact;
  const asking = run.state.suspended.filter((key) => run.state.nodes.get(key)?.nodeId === command.nodeId);
  return asking.length === 1 ? run.state.nodes.get(asking[0] ?? '') : undefined;
}

/** Nobody answered in time. Silence is never consent: an approval counts as rejected. */
export function timeOutInterrupt(stretch: Stretch, node: NodePlan, path: readonly number[]): void {
  const interrupt = stretch.run.state.nodes.get(nodeKey(node.id, path))?.interrupt;
  if (interrupt === undefined) return;
  const { interruptId, kind, timeoutMs } = interrupt;
  const id = identity(node, path);
  if (kind === 'approval') {
    stretch.record({
      type: 'approval.received',
      nodeId: node.id,
      payload: { ...id, interruptId, action: 'timeout' },
    });
  }
  stretch.record({
    type: 'interrupt.resolved',
    nodeId: node.id,
    payload: { ...id, interruptId, kind, outcome: 'rejected', reason: 'timeout' },
  });
  if (kind === 'conversation.exchange') {
    stretch.record({ type: 'node.resumed', nodeId: node.id, payload: { ...id, interruptId } });
    const outputs = silentClose(stretch, node, interrupt);
    return completeNode(stretch, node, path, {
      outputs,
      sensitivity: receivedSensitivity(stretch.run, outputs),
    });
  }
  failNode(stretch, node, path, {
    code: 'interrupt_timeout',
    message: `Nobody answered within ${timeoutMs ?? 0} ms.`,
    details: { interruptId, timeoutMs: timeoutMs ?? 0 },
  });
}

function carryOut(
  stretch: Stretch,
  node: NodePlan,
  path: readonly number[],
  interrupt: InterruptState,
  judgement: Exclude<Judgement, { type: 'refused' }>,
): void {
  const { interruptId, kind } = interrupt;
  const { value, voter } = judgement;
  const id = identity(node, path);
  const shownValue = shownMembers(value, answerSensitivity(node, kind, value), stretch.run.masking);
  /** A fact that tells the answer, as it is and as others may see it. */
  const tell = (type: string, payloadOf: (answer: JsonObject) => JsonObject): void => {
    const payload = { ...id, interruptId, ...payloadOf(value) };
    const shown = shownValue === value ? payload : { ...id, interruptId, ...payloadOf(shownValue) };
    stretch.record({ type, nodeId: node.id, payload, shown });
  };
  if (judgement.type === 'noted') {
    tell('weft.approval.asked', (answer) => ({ value: answer, askedBy: voter }));
    return;
  }
  if (judgement.type === 'turn') {
    const isLast = isLastTurn(node, interrupt);
    noteTurn(stretch, node, path, interrupt, value, voter);
    if (!isLast) return;
  }
  if (kind === 'clarification')
    tell('clarification.resolved', ({ answers = {} }) => ({ answers, answeredBy: voter }));
  if (kind === 'approval')
    tell('approval.received', (answer) => ({ action: '', decidedBy: voter, ...pick(answer, SAID) }));
  if (judgement.type === 'vote') return;

  tell('interrupt.resolved', (answer) => ({ kind, resumeValue: answer, resolvedBy: voter }));
  stretch.run.timers.delete(nodeKey(node.id, path));
  if (judgement.type === 'rejected') {
    const message = `${kind === 'approval' ? 'The approval' : 'The decision'} was rejected by ${voter}.`;
    const code = kind === 'approval' ? 'approval_rejected' : 'decision_rejected';
    return failNode(stretch, node, path, { code, message, details: { interruptId } });
  }
  tell('node.resumed', (answer) => ({ resumeValue: answer }));
  if (kind === 'conversation.exchange') {
    const closing = judgement.type === 'turn' ? lastWord(value) : { ...value, by: voter };
    const outputs = closeConversation(stretch, node, interrupt, closing);
    return takeAnswer(stretch, node, path, outputs, outputs);
  }
  takeAnswer(stretch, node, path, value, { ...value, output: value });
}

/** What an approval says of an answer. */
const SAID = ['action', 'comment', 'feedback', 'refineFeedback', 'editedArtifactData'];

/** Of an answer: what was decided stays to be seen, unless the node declares it by its own name. */
const DECISIONS: ReadonlySet<string> = new Set(['action', 'operation']);

/** An answer becomes the outputs of its node, whole and member by member, and is as sensitive as these are declared. */
function answerSensitivity(
  { sensitivePorts }: NodePlan,
  kind: string,
  answer: JsonObject,
): Sensitivity | undefined {
  if (sensitivePorts.size === 0) return undefined;
  const isDeclared = (port: string): boolean => sensitivePorts.get(port) === true;
  const isWhole = isDeclared(kind === 'conversation.exchange' ? 'outcome' : 'output');
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
  stretch: Stretch,
  node: NodePlan,
  path: readonly number[],
  answer: JsonObject,
  outputs: JsonObject,
): void {
  const { run } = stretch;
  const { answered } = node.type;
  if (answered === undefined) {
    const sensitivity = receivedSensitivity(run, outputs);
    return completeNode(stretch, node, path, { outputs, sensitivity });
  }
  const reads = newReads(run);
  try {
    const inputs = resolveInputs(run.plan, placeOf(run, node, path), node, reads);
    const result = answered(nodeInput(stretch, node, path, inputs, reads), answer);
    const sensitivity = mixedSensitivity(run, reads, node, inputs, result.outputs);
    const causeSeq = causeOf(stretch, node, path);
    finishNode(stretch, node, path, result, { sensitivity, work: { inputs, reads }, causeSeq });
  } catch (error) {
    failAttempt(stretch, node, path, toHiddenError(error, node, reads));
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

function refused(
  stretch: Stretch,
  refusal: NonNullable<Extract<Verdict, { applied: false }>['refusal']>,
): Verdict {
  return { applied: false, status: stretch.run.state.status, refusal };
}
