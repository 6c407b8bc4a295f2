import type { JsonObject } from '@weft/protocol';
import type { Question } from '../node-type.ts';
import { checkOpening, openConversation } from './conversation.ts';
import type { Stretch } from './live-run.ts';
import { toNodeError } from './node-error.ts';
import { failAttempt, identity } from './node-settle.ts';
import { pick } from './pick.ts';
import type { NodePlan } from './plan.ts';
import { breachCap } from './run-end.ts';
import { nodeKey } from './run-state.ts';

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
    if (question.kind === 'conversation.exchange') checkOpening(stretch, node, question.data);
  } catch (error) {
    return failAttempt(stretch, node, path, toNodeError(error));
  }
  const { kind, data, resumeSchema, timeoutMs, authRequired } = question;
  if (kind === 'clarification' && isOverCap(stretch, node, path)) return;
  const interruptId = interruptIdOf(stretch, node, path);
  const id = identity(node, path);
  const suspendedSeq = stretch.record({
    type: 'node.suspended',
    nodeId: node.id,
    payload: { ...id, interruptId, kind, key: interruptId, ...reasonOf(question) },
  });
  if (kind === 'conversation.exchange') openConversation(stretch, node, path, data, suspendedSeq);
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

/** Built from node, iteration, visit and attempt only, so that equal executions ask under equal ids. */
function interruptIdOf({ run }: Stretch, node: NodePlan, path: readonly number[]): string {
  const key = nodeKey(node.id, path);
  const visit = run.state.visits.get(key) ?? 0;
  const attempt = run.state.nodes.get(key)?.attempt ?? 0;
  return visit === 0 ? `${key}:${attempt}` : `${key}#${visit}:${attempt}`;
}

/** What readers of the protocol look for beside the kind. */
function reasonOf({ kind, data, reason }: Question): JsonObject {
  if (kind === 'low-confidence') {
    return { reason: 'low-confidence', ...pick(data, ['agentId', 'threshold', 'observed']) };
  }
  if (kind === 'conversation.exchange') return { reason: 'conversation-input' };
  return reason === undefined ? {} : { reason };
}

function isOverCap(stretch: Stretch, node: NodePlan, path: readonly number[]): boolean {
  const { run } = stretch;
  const limit = run.record.limits.clarificationRounds;
  if ((run.state.clarifications.get(nodeKey(node.id, path)) ?? 0) < limit) return false;
  breachCap(stretch, { kind: 'clarification', limit, observed: limit + 1, nodeId: node.id });
  return true;
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
