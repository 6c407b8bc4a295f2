import { childRunId } from './child-run-id.ts';
import type { Batch } from '../decide/live-run.ts';
import type { ChildSpec } from '../../model/node-type.ts';
import { identity } from '../decide/node-settle.ts';
import type { NodePlan } from '../compile/plan.ts';
import { shownMembers } from '../decide/recorder.ts';
import { type NodeKey, nodeKey } from '../../model/run-state.ts';
import { recorded, type Sensitivity } from '../redaction/sensitivity.ts';
import type { ChildRequest } from '../decide/step.ts';

/** How a child run begins: its id is fixed by a fact of the parent, and it is created once that is durable. */

/** What a new holder has to create again, should it not exist. */
export function childRequest(batch: Batch, key: string): ChildRequest | undefined {
  const { run } = batch;
  const known = run.state.nodes.get(key);
  const node = known && run.plan.nodes.get(known.nodeId);
  if (known?.child === undefined || node === undefined) return undefined;
  const { child } = known;
  return {
    key,
    nodeId: node.id,
    childRunId: child.runId,
    spec: {
      workflowId: child.workflowId,
      inputs: known.childInputs ?? {},
      outputMapping: child.outputMapping,
      propagateCancellation: child.propagateCancellation,
    },
    ...(known.sensitiveChildInputs !== undefined && { sensitiveInputs: known.sensitiveChildInputs }),
  };
}

export function dispatchChild(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  dispatched: Dispatched,
): void {
  announceChild(batch, node, path, dispatched);
  const request = childRequest(batch, nodeKey(node.id, path));
  if (request !== undefined) batch.spawn(request);
}

/** Records which child is to be created, before any process creates it. */
export function announceChild(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  { spec, done, sensitivity }: Dispatched,
): void {
  const { run } = batch;
  const key = nodeKey(node.id, path);
  const known = run.state.nodes.get(key);
  const id = idOfChild(batch, key, done);
  const link = { childRunId: id, childWorkflowId: spec.workflowId };
  const causeSeq = causeOf(batch, node, path);
  batch.record({
    type: 'node.dispatched',
    nodeId: node.id,
    payload: {
      ...link,
      ...identity(node, path),
      done,
      childInputs: spec.inputs,
      ...recorded('sensitiveChildInputs', sensitivity),
      outputMapping: { ...spec.outputMapping },
      onFailure: spec.onFailure,
      propagateCancellation: spec.propagateCancellation,
    },
    shown: known?.decision?.sensitive === true ? shownMembers(link, WORKFLOW, run.masking) : link,
    ...(causeSeq !== undefined && { causeSeq }),
  });
  run.spawning.add(key);
}

const WORKFLOW: Sensitivity = { childWorkflowId: true };

/** A dispatch acts on a decision; its facts name that as their cause. */
export function causeOf({ run }: Batch, { id }: NodePlan, path: readonly number[]): number | undefined {
  return run.state.nodes.get(nodeKey(id, path))?.decision?.seq;
}

interface Dispatched {
  readonly spec: ChildSpec;
  /** Children of the node that came before. */
  readonly done: number;
  /** Of the inputs. */
  readonly sensitivity: Sensitivity | undefined;
}

/** The same for a new holder, and in a replay, which speaks of the children of its source. */
export function idOfChild({ run }: Batch, key: NodeKey, done: number): string {
  const { fork, runId } = run.record;
  return childRunId(fork?.mode === 'replay' ? (fork.seedRunId ?? fork.sourceRunId) : runId, key, [
    run.state.visits.get(key) ?? 0,
    run.state.nodes.get(key)?.attempt ?? 0,
    done,
  ]);
}
