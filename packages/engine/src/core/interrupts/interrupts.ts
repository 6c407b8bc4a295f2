import { isJsonObject, type JsonObject } from '@weft/protocol';
import type { ResolveCommand, CommandResult } from '../../ports/store.ts';
import { type Evaluation, evaluate } from './answers.ts';
import { causeOf } from '../children/children.ts';
import type { Batch } from '../decide/live-run.ts';
import {
  closeConversation,
  isLastTurn,
  closingTurn,
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
import type { Draft, Payload } from '../../model/run-event.ts';
import { placeOf } from '../expressions/scope.ts';
import { ofMembers, type Sensitivity } from '../redaction/sensitivity.ts';

/** Answers, votes and silence: what becomes of a question that a node has asked (suspend.ts). */
export function resolveInterrupt(batch: Batch, command: ResolveCommand): CommandResult {
  const { run } = batch;
  const known = askedNode(batch, command);
  const path = known?.iteration ?? [];
  const node = run.plan.nodes.get(command.nodeId);
  const refusal = refusalOf(known, command);
  if (refusal !== undefined || node === undefined || known?.interrupt === undefined) {
    return refused(batch, refusal ?? NOT_FOUND);
  }
  const evaluation = evaluate(known.interrupt, command, run.budget);
  if (evaluation.type === 'refused') {
    const { code, message, details } = evaluation;
    return refused(batch, { code, message, ...(details !== undefined && { details }) });
  }
  const unfit = unfitAnswer(batch, node, known, evaluation);
  if (unfit !== undefined) return refused(batch, unfit);
  carryOut(batch, node, path, known.interrupt, evaluation);
  return { applied: true, status: run.state.status, at: run.state.lastAt };
}

/** What only the node or its channel can say against an answer; found out before anything is recorded. */
function unfitAnswer(
  batch: Batch,
  node: NodePlan,
  { interrupt, iteration }: NodeState,
  evaluation: Exclude<Evaluation, { type: 'refused' }>,
): NonNullable<Extract<CommandResult, { applied: false }>['refusal']> | undefined {
  if (interrupt === undefined) return undefined;
  if (evaluation.type === 'turn') return turnProblem(batch, node, interrupt, evaluation);
  const { answered } = node.type;
  if (interrupt.kind !== 'low-confidence' || evaluation.type !== 'accepted' || answered === undefined)
    return undefined;
  try {
    answered(nodeInput(batch, node, iteration, {}), evaluation.value);
    return undefined;
  } catch (error) {
    const { message } = toNodeError(error);
    return { code: 'validation_error', message, details: { field: 'resumeValue.decision' } };
  }
}

/** The node that is meant. Inside loops the iteration may be left out while only one of them asks. */
function askedNode({ run }: Batch, command: ResolveCommand): NodeState | undefined {
  const exact = run.state.nodes.get(nodeKey(command.nodeId, command.iteration ?? []));
  if (exact !== undefined || command.iteration !== undefined) return exact;
  const asking = run.state.suspended.filter((key) => run.state.nodes.get(key)?.nodeId === command.nodeId);
  return asking.length === 1 ? run.state.nodes.get(asking[0] ?? '') : undefined;
}

/** Nobody answered in time. Silence is never consent: an approval counts as rejected. */
export function timeOutInterrupt(batch: Batch, node: NodePlan, path: readonly number[]): void {
  const interrupt = batch.run.state.nodes.get(nodeKey(node.id, path))?.interrupt;
  if (interrupt === undefined) return;
  const { interruptId, kind, timeoutMs } = interrupt;
  const id = identity(node, path);
  if (kind === 'approval') {
    batch.record({
      type: 'approval.received',
      nodeId: node.id,
      payload: { ...id, interruptId, action: 'timeout' },
    });
  }
  batch.record({
    type: 'interrupt.resolved',
    nodeId: node.id,
    payload: { ...id, interruptId, kind, outcome: 'rejected', reason: 'timeout' },
  });
  if (kind === 'conversation.exchange') {
    batch.record({ type: 'node.resumed', nodeId: node.id, payload: { ...id, interruptId } });
    const outputs = silentClose(batch, node, interrupt);
    return completeNode(batch, node, path, {
      outputs,
      sensitivity: receivedSensitivity(batch.run, outputs),
    });
  }
  failNode(batch, node, path, {
    code: 'interrupt_timeout',
    message: `Nobody answered within ${timeoutMs ?? 0} ms.`,
    details: { interruptId, timeoutMs: timeoutMs ?? 0 },
  });
}

function carryOut(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  interrupt: InterruptState,
  evaluation: Exclude<Evaluation, { type: 'refused' }>,
): void {
  const { interruptId, kind } = interrupt;
  const { value, voter } = evaluation;
  const id = identity(node, path);
  const shownValue = shownMembers(value, answerSensitivity(node, kind, value), batch.run.masking);
  /** A fact that tells the answer, as it is and as others may see it. */
  const tell = (draftOf: (answer: JsonObject) => Draft<AnswerEvent>): void => {
    const draft = draftOf(value);
    const shown = shownValue === value ? draft.payload : draftOf(shownValue).payload;
    batch.record({ ...draft, nodeId: node.id, shown });
  };
  if (evaluation.type === 'noted') {
    tell((answer) => ({
      type: 'weft.approval.asked',
      payload: { ...id, interruptId, value: answer, askedBy: voter },
    }));
    return;
  }
  if (evaluation.type === 'turn') {
    const isLast = isLastTurn(node, interrupt);
    noteTurn(batch, node, path, interrupt, value, voter);
    if (!isLast) return;
  }
  if (kind === 'clarification')
    tell(({ answers = {} }) => ({
      type: 'clarification.resolved',
      payload: { ...id, interruptId, answers: answers as JsonObject, answeredBy: voter },
    }));
  if (kind === 'approval')
    tell((answer) => ({
      type: 'approval.received',
      payload: {
        ...id,
        interruptId,
        ...({ action: '', decidedBy: voter, ...pick(answer, SAID) } as unknown as Vote),
      },
    }));
  if (evaluation.type === 'vote') return;

  tell((answer) => ({
    type: 'interrupt.resolved',
    payload: { ...id, interruptId, kind, resumeValue: answer, resolvedBy: voter },
  }));
  batch.run.timers.delete(nodeKey(node.id, path));
  if (evaluation.type === 'rejected') {
    const message = `${kind === 'approval' ? 'The approval' : 'The decision'} was rejected by ${voter}.`;
    const code = kind === 'approval' ? 'approval_rejected' : 'decision_rejected';
    return failNode(batch, node, path, { code, message, details: { interruptId } });
  }
  tell((answer) => ({ type: 'node.resumed', payload: { ...id, interruptId, resumeValue: answer } }));
  if (kind === 'conversation.exchange') {
    const closing = evaluation.type === 'turn' ? closingTurn(value) : { ...value, by: voter };
    const outputs = closeConversation(batch, node, interrupt, closing);
    return takeAnswer(batch, node, path, outputs, outputs);
  }
  takeAnswer(batch, node, path, value, { ...value, output: value });
}

type AnswerEvent =
  | 'weft.approval.asked'
  | 'clarification.resolved'
  | 'approval.received'
  | 'interrupt.resolved'
  | 'node.resumed';

/** As the question's kind lets it be answered. */
type Vote = Omit<Payload<'approval.received'>, 'nodeId' | 'iteration' | 'interruptId'>;

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

function refused(
  batch: Batch,
  refusal: NonNullable<Extract<CommandResult, { applied: false }>['refusal']>,
): CommandResult {
  return { applied: false, status: batch.run.state.status, refusal };
}
