import type { JsonObject } from '@weft/protocol';
import type { Question } from '../node-type.ts';
import type { ResolveCommand, Verdict } from '../store.ts';
import { type Judgement, judge } from './answers.ts';
import type { Stretch } from './live-run.ts';
import { toNodeError } from './node-error.ts';
import { completeNode, failAttempt, failNode, identity } from './node-settle.ts';
import type { NodePlan } from './plan.ts';
import { type InterruptState, type NodeState, nodeKey } from './run-state.ts';

/**
 * A node that asks and waits:
 *
 *   running ──asks──► suspended ──answer accepted──► running ──► completed
 *                        │  ▲                            (rejected ──► failed)
 *                        └──┘ vote, question back        timeout ──► failed
 *
 * I1. At most one question is open per node and iteration; its id is built from node, iteration and attempt, so that equal
 *     executions ask under equal ids.
 * I2. An answer that is refused leaves no trace.
 * I3. The first answer that decides wins; later ones are told so.
 */
export function suspendNode(
  stretch: Stretch,
  node: NodePlan,
  path: readonly number[],
  ask: () => Question,
): void {
  const { run } = stretch;
  let question: Question;
  try {
    question = ask();
  } catch (error) {
    return failAttempt(stretch, node, path, toNodeError(error));
  }
  const attempt = run.state.nodes.get(nodeKey(node.id, path))?.attempt ?? 0;
  const interruptId = `${nodeKey(node.id, path)}:${attempt}`;
  const { kind, data, resumeSchema, timeoutMs, authRequired } = question;
  const id = identity(node, path);
  stretch.record({
    type: 'node.suspended',
    nodeId: node.id,
    payload: { ...id, interruptId, kind, key: interruptId },
  });
  stretch.record({
    type: 'interrupt.requested',
    nodeId: node.id,
    payload: {
      ...id,
      runId: run.record.runId,
      interruptId,
      kind,
      key: interruptId,
      data,
      ...(resumeSchema !== undefined && { resumeSchema }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(authRequired === true && { authRequired }),
    },
  });
  const twin = LEGACY_TWINS[kind]?.(data);
  if (twin !== undefined) {
    stretch.record({ type: twin.type, nodeId: node.id, payload: { ...id, interruptId, ...twin.payload } });
  }
  if (timeoutMs !== undefined) run.timers.add(nodeKey(node.id, path));
}

export function resolveInterrupt(stretch: Stretch, command: ResolveCommand): Verdict {
  const { run } = stretch;
  const path = command.iteration ?? [];
  const known = run.state.nodes.get(nodeKey(command.nodeId, path));
  const node = run.plan.nodes.get(command.nodeId);
  const refusal = refusalOf(known, command);
  if (refusal !== undefined || node === undefined || known?.interrupt === undefined) {
    return refused(stretch, refusal ?? NOT_FOUND);
  }
  const judgement = judge(known.interrupt, command);
  if (judgement.type === 'refused') {
    const { code, message, details } = judgement;
    return refused(stretch, { code, message, ...(details !== undefined && { details }) });
  }
  carryOut(stretch, node, path, known.interrupt, judgement);
  return { applied: true, status: run.state.status, at: run.state.lastAt };
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
  if (judgement.type === 'noted') {
    const payload = { ...id, interruptId, value, askedBy: voter };
    return stretch.record({ type: 'weft.approval.asked', nodeId: node.id, payload });
  }
  const received = receivedPayload(kind, value, voter);
  if (received !== undefined) {
    stretch.record({
      type: received.type,
      nodeId: node.id,
      payload: { ...id, interruptId, ...received.payload },
    });
  }
  if (judgement.type === 'vote') return;

  const resolved = { ...id, interruptId, kind, resumeValue: value, resolvedBy: voter };
  stretch.record({ type: 'interrupt.resolved', nodeId: node.id, payload: resolved });
  stretch.run.timers.delete(nodeKey(node.id, path));
  if (judgement.type === 'rejected') {
    const message = `The approval was rejected by ${voter}.`;
    return failNode(stretch, node, path, { code: 'approval_rejected', message, details: { interruptId } });
  }
  stretch.record({
    type: 'node.resumed',
    nodeId: node.id,
    payload: { ...id, interruptId, resumeValue: value },
  });
  completeNode(stretch, node, path, { outputs: { ...value, output: value } });
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

/** The kind-specific events that readers of earlier drafts look for, beside the general ones. */
const LEGACY_TWINS: Readonly<
  Record<string, ((data: JsonObject) => { type: string; payload: JsonObject }) | undefined>
> = {
  approval: (data) => ({
    type: 'approval.requested',
    payload: {
      artifactId: data['artifactId'] ?? '',
      artifactType: data['artifactType'] ?? '',
      actions: (data['actions'] as string[]).map((action) => (action === 'edit-accept' ? 'edit' : action)),
      ...pick(data, ['title', 'approversList', 'requiredApprovals']),
    },
  }),
  clarification: (data) => ({ type: 'clarification.requested', payload: pick(data, ['questions']) }),
};

function receivedPayload(
  kind: string,
  value: JsonObject,
  voter: string,
): { type: string; payload: JsonObject } | undefined {
  if (kind === 'clarification') {
    return {
      type: 'clarification.resolved',
      payload: { answers: value['answers'] ?? {}, answeredBy: voter },
    };
  }
  if (kind !== 'approval') return undefined;
  const said = pick(value, ['comment', 'feedback', 'refineFeedback', 'editedArtifactData']);
  return { type: 'approval.received', payload: { action: value['action'] ?? '', decidedBy: voter, ...said } };
}

function pick(from: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])));
}
