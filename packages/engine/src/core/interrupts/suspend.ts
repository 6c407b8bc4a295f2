import type { Question } from '../../model/node-type.ts';
import { INTERRUPT_RULES } from './kinds.ts';
import type { Batch } from '../decide/live-run.ts';
import { toHiddenError } from '../decide/node-error.ts';
import { failAttempt, identity } from '../decide/node-settle.ts';
import type { NodePlan } from '../compile/plan.ts';
import { type NodeWork, sensitivityOfSaid } from '../decide/node-work.ts';
import { shownMembers } from '../decide/recorder.ts';
import { nodeKey } from '../../model/run-state.ts';
import { recorded, type Sensitivity } from '../redaction/sensitivity.ts';

/**
 * A node that asks and waits:
 *
 *   running ──asks──► suspended ──answer accepted──► running ──► completed
 *                        │  ▲                            (rejected ──► failed)
 *                        └──┘ vote, question back        timeout ──► failed
 *
 * E-21. At most one question is open per node and iteration; its id is built from node, iteration, attempt and step, so that
 *       equal executions ask under equal ids.
 * E-22. A rejected answer leaves no trace.
 * E-23. The first answer that decides wins; later ones are rejected and say so.
 */
export function suspendNode(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  ask: () => Question,
  { work, step }: Asker,
): void {
  const { run } = batch;
  let question: Question;
  try {
    question = ask();
    INTERRUPT_RULES[question.kind].checkQuestion?.(batch, node, question.data);
  } catch (error) {
    return failAttempt(batch, node, path, toHiddenError(error, node, work?.reads));
  }
  if (INTERRUPT_RULES[question.kind].breachesCap?.(batch, node, path) === true) return;
  const sensitivity = sensitivityOfSaid(node, question.data, work);
  recordQuestion(batch, node, path, { question, sensitivity, step });
  if (question.timeoutMs !== undefined) run.timers.add(nodeKey(node.id, path));
}

interface Asker {
  readonly work?: NodeWork | undefined;
  /** Of a node that works in steps: under which name it gets the answer. */
  readonly step?: string;
}

function recordQuestion(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  {
    question,
    sensitivity,
    step,
  }: { question: Question; sensitivity: Sensitivity | undefined; step: string | undefined },
): void {
  const { run } = batch;
  const { kind, data, resumeSchema, timeoutMs, authRequired } = question;
  const rules = INTERRUPT_RULES[kind];
  const shown = shownMembers(data, sensitivity, run.masking);
  const interruptId = interruptIdOf(batch, node, path, step);
  const id = identity(node, path);
  const reason = rules.reason?.(data) ?? (question.reason !== undefined && { reason: question.reason });
  const suspendedSeq = batch.record({
    type: 'node.suspended',
    nodeId: node.id,
    payload: { ...id, interruptId, kind, key: interruptId, ...reason, ...(step !== undefined && { step }) },
  });
  rules.opened?.(batch, node, path, { data, sensitivity, suspendedSeq });
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
  const legacy = rules.requested?.({ ...id, interruptId }, shown, data);
  if (legacy !== undefined) batch.record({ ...legacy, nodeId: node.id });
}

/** Built from node, iteration, visit, attempt and step only, so that equal executions ask under equal ids. */
function interruptIdOf({ run }: Batch, node: NodePlan, path: readonly number[], step?: string): string {
  const key = nodeKey(node.id, path);
  const visit = run.state.visits.get(key) ?? 0;
  const attempt = run.state.nodes.get(key)?.attempt ?? 0;
  const id = visit === 0 ? `${key}:${attempt}` : `${key}#${visit}:${attempt}`;
  return step === undefined ? id : `${id}:${step}`;
}
