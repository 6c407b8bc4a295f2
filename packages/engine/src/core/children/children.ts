import type { Json, JsonObject } from '@weft/protocol';
import type { ChildEnd, ChildSpec, NodeResult } from '../../model/node-type.ts';
import type { ChildCommand, CommandResult } from '../../ports/store.ts';
import { cancelChild } from './child-signals.ts';
import { causeOf, dispatchChild } from './dispatch-child.ts';
import type { LiveRun, Batch } from '../decide/live-run.ts';
import { nodeInput } from '../decide/node-context.ts';
import { toHiddenError, withoutWords } from '../decide/node-error.ts';
import { finishNode } from '../decide/node-finish.ts';
import { resolveInputs } from '../decide/node-inputs.ts';
import { changeVariables, failNode, identity } from '../decide/node-settle.ts';
import { newReads } from '../decide/node-work.ts';
import type { NodePlan } from '../compile/plan.ts';
import { mixedSensitivity } from '../redaction/result-sensitivity.ts';
import { breachCap } from '../decide/run-end.ts';
import {
  type ChildState,
  type Decision,
  isTerminalStatus,
  type NodeError,
  nodeKey,
  type NodeState,
} from '../../model/run-state.ts';
import { placeOf } from '../expressions/scope.ts';
import { handedSensitivity } from '../redaction/sensitive-reads.ts';
import { ofMade } from '../redaction/sensitivity.ts';
import { childStepEnded, childStepFailed } from '../steps/child-steps.ts';

/**
 * Nodes that run other workflows:
 *
 *   started ──dispatched──► running ──child waits──► suspended ──child resumes──► running
 *                 ▲            │
 *                 └─next child─┤ child ended ──► completed | failed
 *
 * E-9. The child's id is fixed by `node.dispatched`, before the child exists. It is made from run, node, visit, attempt and
 *      number, so a new holder creates the same child and not a second one.
 * E-10. The parent learns about the child from commands in its inbox. A command that is not about the running child is too
 *       late and changes nothing.
 * E-11. While a child waits, its parent waits for the same reason.
 */
export function startChildren(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  inputs: JsonObject,
): void {
  const cap = node.config['iterationCap'];
  const visits = batch.run.state.visits.get(nodeKey(node.id, path)) ?? 0;
  if (typeof cap === 'number' && visits >= cap) {
    return breachCap(batch, { kind: 'loop-iterations', limit: cap, observed: cap + 1, nodeId: node.id });
  }
  continueWith(batch, node, path, { inputs, done: 0 });
}

/** The child run exists, or never will. */
export function childCreated(
  batch: Batch,
  report: { readonly key: string; readonly childRunId: string; readonly error?: NodeError },
): void {
  const { run } = batch;
  const known = run.state.nodes.get(report.key);
  const node = known && run.plan.nodes.get(known.nodeId);
  if (known === undefined || node === undefined || known.child?.runId !== report.childRunId) return;
  // A child that has been heard of exists, whatever an attempt to create it says.
  if (!run.spawning.delete(report.key)) return;
  if (report.error === undefined || !isUnderWay(known)) return;
  // Whether it was written may be unknown: if it is there after all, it must not run on alone.
  cancelChild(batch, known);
  // Of a run that does not exist no one knows the workflow but by these words.
  const error = known.decision?.sensitive === true ? withoutWords(report.error) : report.error;
  if (node.type.kind === 'steps') return childStepFailed(batch, node, known, error);
  failNode(batch, node, known.iteration, error);
}

/** Undefined while the run is paused: what the child has to say is heard after the resume. */
export function hearChild(batch: Batch, command: ChildCommand): CommandResult | undefined {
  const { run } = batch;
  if (run.state.status === 'paused' || run.draining) return undefined;
  const known = run.state.nodes.get(command.nodeKey);
  const node = known && run.plan.nodes.get(known.nodeId);
  const child = known?.child;
  const isLate = child?.runId !== command.childRunId || known === undefined || !isHeard(known);
  if (isLate || child === undefined || node === undefined) {
    return { applied: false, status: run.state.status };
  }
  run.spawning.delete(command.nodeKey);
  if (known.status === 'suspended') {
    batch.record({ type: 'node.resumed', nodeId: node.id, payload: identity(node, known.iteration) });
  }
  if (isTerminalStatus(command.status)) childEnded(batch, node, known.iteration, child, command);
  else if (command.status.startsWith('waiting-')) waitWithChild(batch, node, known, command);
  return { applied: true, status: run.state.status, at: run.state.lastAt };
}

/** The next child, or the end of the node, after `done` children. */
function continueWith(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  { inputs, done, last }: { readonly inputs: JsonObject; readonly done: number; readonly last?: ChildEnd },
): void {
  const { type } = node;
  if (type.kind !== 'children') return;
  const reads = newReads(batch.run);
  let next: { readonly child: ChildSpec } | NodeResult;
  try {
    next = type.next(nodeInput(batch, node, path, inputs, reads), done, last);
  } catch (error) {
    const hidden = toHiddenError(error, node, reads);
    return failNode(batch, node, path, hidden, causeOf(batch, node, path));
  }
  if ('child' in next) {
    const spec = next.child;
    const sensitivity = reads && handedSensitivity(reads, spec.inputs);
    return dispatchChild(batch, node, path, { spec, done, sensitivity });
  }
  const sensitivity = mixedSensitivity(batch.run, reads, node, inputs, next.outputs);
  const causeSeq = causeOf(batch, node, path);
  finishNode(batch, node, path, next, { sensitivity, work: { inputs, reads }, causeSeq });
}

/** What a dispatch that starts now carries out: the newest decision of its own cycle, or of all where it closes none. */
export function decisionFor(
  { plan, state }: LiveRun,
  { id, type, cycle }: NodePlan,
  path: readonly number[],
): Decision | undefined {
  if (type.closesCycles !== true) return undefined;
  const taken = state.nodes.get(nodeKey(id, path))?.decision;
  if (taken !== undefined) return taken;
  const own = cycle?.filter((member) => plan.nodes.get(member)?.type.typeId === type.needs) ?? [];
  const open = state.openDecisions;
  return own.length === 0 ? open.at(-1) : open.findLast(({ nodeId }) => own.includes(nodeId));
}

function waitWithChild(batch: Batch, node: NodePlan, known: NodeState, command: ChildCommand): void {
  batch.record({
    type: 'node.suspended',
    nodeId: node.id,
    payload: {
      ...identity(node, known.iteration),
      interruptId: `${command.nodeKey}:${known.attempt}:child`,
      reason: 'child-waiting',
      childRunId: command.childRunId,
      childStatus: command.status,
    },
  });
}

function childEnded(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  child: ChildState,
  command: ChildCommand,
): void {
  if (node.type.kind === 'steps') return childStepEnded(batch, node, path, command);
  const status = command.status as ChildEnd['status'];
  if (status !== 'completed' && child.onFailure === 'fail') {
    return failNode(batch, node, path, childFailure(child, command), causeOf(batch, node, path));
  }
  if (status === 'completed') takeOver(batch, node, child, command);
  const { run } = batch;
  const frozen = run.state.nodes.get(nodeKey(node.id, path))?.inputs;
  const inputs = frozen ?? resolveInputs(run.plan, placeOf(run, node, path), node);
  const last: ChildEnd = {
    childRunId: child.runId,
    status,
    outputs: command.outputs ?? {},
    ...(command.error !== undefined && { error: command.error }),
  };
  continueWith(batch, node, path, { inputs, done: child.done + 1, last });
}

/** Mapped variables of the child; one that the child never set leaves the parent's as it is. */
function takeOver(batch: Batch, node: NodePlan, child: ChildState, command: ChildCommand): void {
  const given = command.variables ?? {};
  const secrets = new Set<string>();
  const variables: [string, Json][] = [];
  for (const [name, source] of Object.entries(child.outputMapping)) {
    const value = Object.hasOwn(given, source) ? given[source] : undefined;
    if (value === undefined) continue;
    variables.push([name, value]);
    if (command.sensitive?.includes(source) === true) secrets.add(name);
  }
  changeVariables(batch, node, Object.fromEntries(variables), (name, value) =>
    secrets.has(name) ? ofMade(value) : undefined,
  );
}

function childFailure(child: ChildState, command: ChildCommand): NodeError {
  const { error, status } = command;
  const why = error === undefined ? 'It was cancelled.' : `${error.code}: ${error.message}`;
  return {
    code: 'child_failed',
    message: `The child run of workflow "${child.workflowId}" ended as ${status}. ${why}`,
    details: {
      childRunId: child.runId,
      childStatus: status,
      ...(error !== undefined && { childError: { code: error.code, message: error.message } }),
    },
  };
}

/** A node that waits, and not for its child, has heard the end of it. */
function isHeard({ status, child }: NodeState): boolean {
  return status === 'running' || (status === 'suspended' && child?.waiting !== undefined);
}

function isUnderWay({ status }: NodeState): boolean {
  return status === 'running' || status === 'suspended';
}
