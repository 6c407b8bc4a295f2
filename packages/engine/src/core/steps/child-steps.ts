import type { JsonObject } from '@weft/protocol';
import { announceChild, dispatchChild, idOfChild } from '../children/dispatch-child.ts';
import type { NodePlan } from '../compile/plan.ts';
import type { Batch } from '../decide/live-run.ts';
import { hideKnown } from '../decide/node-error.ts';
import { errorPayload, identity } from '../decide/node-settle.ts';
import { childStep, lastRound } from '../fold/step-fold.ts';
import type { ChildSpec, StepChild } from '../../model/node-type.ts';
import { type NodeError, type NodeKey, nodeKey, type NodeState } from '../../model/run-state.ts';
import type { ChildCommand } from '../../ports/store.ts';
import type { SensitiveReads } from '../redaction/sensitive-reads.ts';
import { ofMade, ofMembers, type Sensitivity } from '../redaction/sensitivity.ts';

/**
 * A step that a child run performs. It begins by two facts of one decision, that of the step and that of the dispatch, and ends by
 * what the child says of its own end, or by its not having come to be.
 *
 * E-35. A node that works in steps has at most one child at a time, and no other open step at the same time.
 */
export function beginChild(
  batch: Batch,
  node: NodePlan,
  known: NodeState,
  move: { readonly child: StepChild; readonly step: string },
  reads: SensitiveReads | undefined,
): void {
  const { child, step } = move;
  const done = childrenBefore(known, step);
  const round = lastRound(known) + 1;
  record(batch, node, known, { child, step, done, round, attempt: 0 });
  const isSensitive = known.sensitiveInputs !== undefined || reads?.isTouched === true;
  const sensitivity = isSensitive ? allOf(child.inputs) : undefined;
  dispatchChild(batch, node, known.iteration, { spec: specOf(child), done, sensitivity });
}

/** A branch was cut while a child of its source performed the step: one of its own does, which is created with what else is recovered. */
export function beginChildAgain(batch: Batch, key: NodeKey): void {
  const { run } = batch;
  const known = run.state.nodes.get(key);
  const node = known && run.plan.nodes.get(known.nodeId);
  const step = known && childStep(known);
  if (known === undefined || node === undefined || step === undefined) return;
  const { workflow, arguments: inputs } = step.request as { workflow: string; arguments: JsonObject };
  const child = { workflowId: workflow, inputs };
  const sensitivity = known.sensitiveChildInputs;
  const done = childrenBefore(known, step.id);
  resume(batch, node, known);
  record(batch, node, known, { child, step: step.id, done, round: step.round, attempt: step.attempt + 1 });
  announceChild(batch, node, known.iteration, { spec: specOf(child), done, sensitivity });
}

/** However it ended: what that means is for the node to say. */
export function childStepEnded(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  { childRunId, status, outputs = {}, error }: ChildCommand,
): void {
  const key = nodeKey(node.id, path);
  const known = batch.run.state.nodes.get(key);
  const step = known && childStep(known);
  if (step === undefined) return;
  const result: JsonObject = {
    childRunId,
    childStatus: status,
    ...(Object.keys(outputs).length > 0 && { output: outputs }),
    ...(error !== undefined && { childError: { code: error.code, message: error.message } }),
  };
  batch.record({
    type: 'weft.step.completed',
    nodeId: node.id,
    payload: { ...identity(node, path), step: step.id, result, childRunId },
    isForeign: true,
  });
  batch.run.stateBytes += JSON.stringify(result).length;
  batch.run.stepping.add(key);
}

export function childStepFailed(batch: Batch, node: NodePlan, known: NodeState, error: NodeError): void {
  const step = childStep(known);
  if (step?.childRunId === undefined) return;
  resume(batch, node, known);
  const place = identity(node, known.iteration);
  batch.record({
    type: 'weft.step.failed',
    nodeId: node.id,
    payload: {
      ...place,
      step: step.id,
      error: errorPayload(hideKnown(batch.run, error)),
      attempts: step.attempt + 1,
      childRunId: step.childRunId,
    },
  });
  batch.run.stepping.add(nodeKey(node.id, known.iteration));
}

interface Begun {
  readonly child: StepChild;
  readonly step: string;
  readonly done: number;
  readonly round: number;
  readonly attempt: number;
}

function record(
  batch: Batch,
  node: NodePlan,
  { iteration }: NodeState,
  { child, step, done, round, attempt }: Begun,
): void {
  batch.record({
    type: 'weft.step.started',
    nodeId: node.id,
    payload: {
      ...identity(node, iteration),
      step,
      round,
      attempt,
      request: { workflow: child.workflowId, arguments: child.inputs },
      childRunId: idOfChild(batch, nodeKey(node.id, iteration), done),
    },
    isForeign: true,
  });
}

function specOf(child: StepChild): ChildSpec {
  return { ...child, outputMapping: {}, onFailure: 'absorb', propagateCancellation: true };
}

/** It waited with its child. */
function resume(batch: Batch, node: NodePlan, { status, iteration }: NodeState): void {
  if (status !== 'suspended') return;
  batch.record({ type: 'node.resumed', nodeId: node.id, payload: identity(node, iteration) });
}

function childrenBefore({ steps = [] }: NodeState, step: string): number {
  return steps.filter(({ id, childRunId }) => childRunId !== undefined && id !== step).length;
}

/** A model's output may hold any part of its input. */
function allOf(inputs: JsonObject): Sensitivity | undefined {
  return ofMembers(Object.entries(inputs).map(([name, value]) => [name, ofMade(value)]));
}
