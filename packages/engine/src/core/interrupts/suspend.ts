import type { JsonObject } from '@weft/protocol';
import type { Question } from '../../model/node-type.ts';
import { checkOpening, openConversation } from './conversation.ts';
import type { Batch } from '../decide/live-run.ts';
import { toHiddenError } from '../decide/node-error.ts';
import { failAttempt, identity } from '../decide/node-settle.ts';
import { pick } from '../json/pick.ts';
import type { NodePlan } from '../compile/plan.ts';
import { breachCap } from '../decide/run-end.ts';
import { type NodeWork, sensitivityOfSaid } from '../decide/node-work.ts';
import { shownMembers } from '../decide/recorder.ts';
import type { OfNode } from '../../model/event-payloads.ts';
import type { Draft, Payload } from '../../model/run-event.ts';
import { nodeKey } from '../../model/run-state.ts';
import { recorded } from '../redaction/sensitivity.ts';

/**
 * A node that asks and waits:
 *
 *   running ──asks──► suspended ──answer accepted──► running ──► completed
 *                        │  ▲                            (rejected ──► failed)
 *                        └──┘ vote, question back        timeout ──► failed
 *
 * E-21. At most one question is open per node and iteration; its id is built from node, iteration and attempt, so that equal
 *       executions ask under equal ids.
 * E-22. A rejected answer leaves no trace.
 * E-23. The first answer that decides wins; later ones are rejected and say so.
 */
export function suspendNode(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  ask: () => Question,
  work: NodeWork | undefined,
): void {
  const { run } = batch;
  let question: Question;
  try {
    question = ask();
    if (question.kind === 'conversation.exchange') checkOpening(batch, node, question.data);
  } catch (error) {
    return failAttempt(batch, node, path, toHiddenError(error, node, work?.reads));
  }
  const { kind, data, resumeSchema, timeoutMs, authRequired } = question;
  const sensitivity = sensitivityOfSaid(node, data, work);
  const shown = shownMembers(data, sensitivity, run.masking);
  if (kind === 'clarification' && isOverCap(batch, node, path)) return;
  const interruptId = interruptIdOf(batch, node, path);
  const id = identity(node, path);
  const suspendedSeq = batch.record({
    type: 'node.suspended',
    nodeId: node.id,
    payload: { ...id, interruptId, kind, key: interruptId, ...reasonOf(question) },
  });
  if (kind === 'conversation.exchange')
    openConversation(batch, node, path, { data, sensitivity, suspendedSeq });
  const requested = {
    ...id,
    runId: run.record.runId,
    interruptId,
    kind,
    key: interruptId,
    data,
    ...(resumeSchema !== undefined && { resumeSchema }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(authRequired === true && { authRequired }),
  };
  batch.record({
    type: 'interrupt.requested',
    nodeId: node.id,
    payload: { ...requested, ...recorded('sensitive', sensitivity) },
    ...(sensitivity !== undefined && { shown: { ...requested, data: shown } }),
  });
  const twin = LEGACY_EVENTS[kind]?.({ ...id, interruptId }, shown, data);
  if (twin !== undefined) batch.record({ ...twin, nodeId: node.id });
  if (timeoutMs !== undefined) run.timers.add(nodeKey(node.id, path));
}

/** Built from node, iteration, visit and attempt only, so that equal executions ask under equal ids. */
function interruptIdOf({ run }: Batch, node: NodePlan, path: readonly number[]): string {
  const key = nodeKey(node.id, path);
  const visit = run.state.visits.get(key) ?? 0;
  const attempt = run.state.nodes.get(key)?.attempt ?? 0;
  return visit === 0 ? `${key}:${attempt}` : `${key}#${visit}:${attempt}`;
}

/** What readers of the protocol look for beside the kind. */
function reasonOf({ kind, data, reason }: Question): { reason?: string } {
  if (kind === 'low-confidence') {
    return { reason: 'low-confidence', ...pick(data, ['agentId', 'threshold', 'observed']) };
  }
  if (kind === 'conversation.exchange') return { reason: 'conversation-input' };
  return reason === undefined ? {} : { reason };
}

function isOverCap(batch: Batch, node: NodePlan, path: readonly number[]): boolean {
  const { run } = batch;
  const limit = run.record.limits.clarificationRounds;
  if ((run.state.clarifications.get(nodeKey(node.id, path)) ?? 0) < limit) return false;
  breachCap(batch, { kind: 'clarification', limit, observed: limit + 1, nodeId: node.id });
  return true;
}

type LegacyEvent = (
  asked: OfNode & { interruptId: string },
  shown: JsonObject,
  data: JsonObject,
) => Draft<'approval.requested' | 'clarification.requested'>;

/** The kind-specific events that readers of earlier drafts look for, beside the general ones. The node has made the data by its kind. */
const LEGACY_EVENTS: { readonly [Kind in Question['kind']]?: LegacyEvent } = {
  approval: (asked, shown, data) => ({
    type: 'approval.requested',
    payload: {
      ...asked,
      artifactId: shown['artifactId'] ?? '',
      artifactType: shown['artifactType'] ?? '',
      actions: (data['actions'] as string[]).map((action) => (action === 'edit-accept' ? 'edit' : action)),
      ...pick(shown, ['title', 'approversList', 'requiredApprovals']),
    } as Payload<'approval.requested'>,
  }),
  clarification: (asked, shown) => ({
    type: 'clarification.requested',
    payload: { ...asked, ...pick(shown, ['questions']) } as Payload<'clarification.requested'>,
  }),
};
