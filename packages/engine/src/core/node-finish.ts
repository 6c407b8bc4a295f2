import type { NodeResult } from '../node-type.ts';
import { suspendNode } from './suspend.ts';
import type { Stretch } from './live-run.ts';
import { completeNode } from './node-settle.ts';
import type { NodePlan } from './plan.ts';
import { breachCap } from './run-end.ts';

/** What a node returned becomes facts: its events, then a question, another round of its cycle, or its completion. */
export function finishNode(
  stretch: Stretch,
  node: NodePlan,
  path: readonly number[],
  result: NodeResult,
  reason?: string,
  causeSeq?: number,
): void {
  if (isOverLoopCap(stretch, node, result)) return;
  recordEvents(stretch, node, result);
  const { ask } = result;
  if (ask !== undefined) return suspendNode(stretch, node, path, () => ask);
  completeNode(stretch, node, path, {
    outputs: result.outputs,
    ...(result.variables !== undefined && { variables: result.variables }),
    ...(result.channels !== undefined && { channels: result.channels }),
    ...(reason !== undefined && { reason }),
    ...(result.again === true && node.cycle !== undefined && { reenters: node.cycle }),
    ...(causeSeq !== undefined && { causeSeq }),
  });
}

function recordEvents(stretch: Stretch, node: NodePlan, { events = [] }: NodeResult): void {
  const sequences: number[] = [];
  for (const { type, payload, causedBy } of events) {
    const causeSeq = causedBy === undefined ? undefined : sequences[causedBy];
    sequences.push(
      stretch.record({ type, nodeId: node.id, payload, ...(causeSeq !== undefined && { causeSeq }) }),
    );
  }
}

/** An orchestrator that does not come to an end is stopped before the decision that would be one too many. */
function isOverLoopCap(stretch: Stretch, node: NodePlan, { events = [] }: NodeResult): boolean {
  const { run } = stretch;
  const limit = run.record.limits.loopIterations;
  const decides = events.some(({ type }) => type === 'runOrchestrator.decided');
  if (!decides || run.state.decisions < limit) return false;
  breachCap(stretch, { kind: 'loop-iterations', limit, observed: limit + 1, nodeId: node.id });
  return true;
}
