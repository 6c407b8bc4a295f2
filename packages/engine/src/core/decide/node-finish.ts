import type { JsonObject } from '@weft/protocol';
import type { NodeEvent, NodeResult } from '../../model/node-type.ts';
import { isSettled } from './frontier.ts';
import type { Batch } from './live-run.ts';
import { completeNode, failNode, type ResultSensitivity } from './node-settle.ts';
import type { NodePlan } from '../compile/plan.ts';
import { spendingOf, tellSpending } from '../costs/run-spending.ts';
import { breachCap } from './run-end.ts';
import type { Draft } from '../../model/run-event.ts';
import { nodeKey } from '../../model/run-state.ts';
import { type NodeWork, sayWithCare } from './node-work.ts';
import { suspendNode } from '../interrupts/suspend.ts';

/** What is known about a result. */
export interface Finish {
  readonly sensitivity: ResultSensitivity;
  /** What the node has read to work it out; absent for what came from outside. */
  readonly work?: NodeWork | undefined;
  readonly reason?: string | undefined;
  readonly causeSeq?: number | undefined;
}

/** What a node returned becomes facts: its events, then a question, another round of its cycle, or its completion. */
export function finishNode(
  batch: Batch,
  node: NodePlan,
  path: readonly number[],
  result: NodeResult,
  { sensitivity, work, reason, causeSeq }: Finish,
): void {
  if (result.events !== undefined) {
    if (isOverLoopCap(batch, node, result.events)) return;
    recordEvents(batch, node, result.events, work);
  }
  const { ask } = result;
  const reenters = result.again === true ? node.cycle : undefined;
  if (reenters !== undefined && isBusy(batch, node, path, reenters)) return;
  if (ask !== undefined) return suspendNode(batch, node, path, () => ask, { work });
  const { outputs, variables, channels } = result;
  completeNode(batch, node, path, {
    outputs,
    variables,
    channels,
    sensitivity,
    reason,
    reenters,
    causeSeq,
  });
}

/** `place`: of an effect that has not ended, kept for the fold alone; with the end of one it stands there. */
export function recordEvents(
  batch: Batch,
  node: NodePlan,
  events: readonly NodeEvent[],
  work: NodeWork | undefined,
  place?: JsonObject,
): void {
  const sequences: number[] = [];
  const before =
    batch.run.record.configurable['budget'] === undefined ? undefined : spendingOf(batch.run.state);
  for (const { type, payload, causedBy } of events) {
    const causeSeq = causedBy === undefined ? callOf(batch, type, payload) : sequences[causedBy];
    noteChangedTool(batch, node, type, payload);
    const said = withPlace(sayWithCare(batch.run, node, payload, work), place);
    // Of any type, and as its node has made it.
    const draft = { type, nodeId: node.id, ...said, causeSeq, isForeign: true };
    sequences.push(batch.record(draft as unknown as Draft));
  }
  if (before !== undefined) tellSpending(batch, node.id, before);
}

function withPlace<Said extends { readonly payload: JsonObject; readonly shown?: JsonObject }>(
  said: Said,
  place: JsonObject | undefined,
): Said {
  if (place === undefined) return said;
  return { ...said, payload: { ...said.payload, ...place }, shown: said.shown ?? said.payload };
}

/** A tool may be another than it was: the run says so before it is called. */
function noteChangedTool(batch: Batch, node: NodePlan, type: string, payload: JsonObject): void {
  const { toolName: tool, toolDigest: digest } = payload;
  if (type !== 'agent.toolCalled' || typeof tool !== 'string' || typeof digest !== 'string') return;
  const before = batch.run.state.toolDigests.get(tool);
  if (before === undefined || before === digest) return;
  batch.record({
    type: 'log.appended',
    nodeId: node.id,
    payload: {
      level: 'warn',
      nodeId: node.id,
      message: `The tool ${tool} has another definition than when this run called it before.`,
      fields: { tool, digest, before },
    },
  });
}

/** A tool that returns was called by an event before, perhaps long ago. */
function callOf({ run }: Batch, type: string, { callId }: JsonObject): number | undefined {
  return type === 'agent.toolReturned' ? run.state.openCalls.get(String(callId)) : undefined;
}

/** A round that is not over cannot begin again: what is still running would be done twice. */
function isBusy(batch: Batch, node: NodePlan, path: readonly number[], members: readonly string[]): boolean {
  const { nodes } = batch.run.state;
  const busy = members.filter((id) => {
    const status = id === node.id ? undefined : nodes.get(nodeKey(id, path))?.status;
    return status !== undefined && !isSettled(status);
  });
  if (busy.length === 0) return false;
  failNode(batch, node, path, {
    code: 'cycle_busy',
    message: `The cycle cannot begin again while ${busy.join(', ')} is at work. Let node "${node.id}" wait for all that leads to it: use the trigger rule all_success or all_complete.`,
    details: { nodes: busy },
  });
  return true;
}

/** An orchestrator that does not come to an end is stopped before the decision that would be one too many. */
function isOverLoopCap(batch: Batch, node: NodePlan, events: readonly NodeEvent[]): boolean {
  const { run } = batch;
  const limit = run.record.limits.loopIterations;
  const decides = events.some(({ type }) => type === 'runOrchestrator.decided');
  if (!decides || run.state.decisions < limit) return false;
  recordEvents(
    batch,
    node,
    events.filter(({ type }) => type === 'provider.usage'),
    undefined,
  );
  breachCap(batch, { kind: 'loop-iterations', limit, observed: limit + 1, nodeId: node.id });
  return true;
}
