import { openFrontier, isSettled } from '../decide/frontier.ts';
import type { LiveRun, Batch } from '../decide/live-run.ts';
import { skipNode } from '../decide/node-settle.ts';
import type { TriggerPlan } from '../compile/plan.ts';
import { breachCap } from '../decide/run-end.ts';

/**
 * Nodes that start when a channel is written:
 *
 *   dormant ──write──► due ──debounce over, free──► fired ──► started … settled ──write──► due …
 *      └──nothing else left to do──► skipped ──write──► due …
 *
 * E-12. A write makes the node due unless the writer is the node itself or a node downstream of it. That is decided at the
 *       write and recorded in its overlay, so a new holder comes to the same result.
 * E-13. A due node fires when its debounce is over and the last visit, with everything downstream, has settled.
 *       `weft.trigger.fired` says which nodes run again.
 * E-14. Writes before the node starts are served by that start; later ones make it due again, once.
 * E-15. A run does not end while a node is due. When only dormant nodes are left, they are skipped in order of id.
 */

/** Why a dormant node is skipped. */
export const NOT_TRIGGERED = 'not-triggered';
const DEFAULT_VISITS = 100;

/** True while some trigger has a write to serve. */
export function isTriggerDue({ plan, state }: LiveRun): boolean {
  for (const nodeId of state.dueTriggers.keys()) if (plan.triggers.has(nodeId)) return true;
  return false;
}

/** When the earliest due node that is free may fire. */
export function nextTrigger(run: LiveRun): number | undefined {
  let earliest: number | undefined;
  for (const [nodeId, dueAt] of run.state.dueTriggers) {
    const trigger = run.plan.triggers.get(nodeId);
    if (trigger === undefined || !isFree(run, trigger)) continue;
    if (earliest === undefined || dueAt < earliest) earliest = dueAt;
  }
  return earliest;
}

/** Fires one trigger whose time has come, the earliest first, then by node id. False when there is none. */
export function fireDueTrigger(batch: Batch): boolean {
  const { run } = batch;
  if (run.state.dueTriggers.size === 0) return false;
  const now = Math.max(batch.now, run.state.lastAt);
  let next: { trigger: TriggerPlan; dueAt: number } | undefined;
  for (const [nodeId, dueAt] of run.state.dueTriggers) {
    const trigger = run.plan.triggers.get(nodeId);
    if (trigger === undefined || dueAt > now || !isFree(run, trigger)) continue;
    const isEarlier =
      next === undefined || dueAt < next.dueAt || (dueAt === next.dueAt && nodeId < next.trigger.nodeId);
    if (isEarlier) next = { trigger, dueAt };
  }
  if (next === undefined) return false;
  fire(batch, next.trigger);
  return true;
}

/** Nothing is running and nothing can come any more: the first dormant node is skipped. False when there is none. */
export function skipDormant(batch: Batch): boolean {
  const { run } = batch;
  const { plan, state } = run;
  const canContinue = state.activeNodes > 0 || state.suspended.length > 0 || isTriggerDue(run);
  if (plan.triggers.size === 0 || canContinue) return false;
  for (const nodeId of plan.triggers.keys()) {
    const node = plan.nodes.get(nodeId);
    if (node === undefined || state.nodes.has(nodeId) || state.firedTriggers.has(nodeId)) continue;
    skipNode(batch, node, [], NOT_TRIGGERED);
    return true;
  }
  return false;
}

function fire(batch: Batch, { nodeId, again }: TriggerPlan): void {
  const { run } = batch;
  const { nodes, visits } = run.state;
  const hasRun = nodes.has(nodeId);
  const visit = (visits.get(nodeId) ?? 0) + (hasRun ? 1 : 0);
  const limit = run.plan.definition.settings.maxLoopbackIterations ?? DEFAULT_VISITS;
  if (visit + 1 > limit) {
    const breach = { kind: 'loop-iterations', limit, observed: limit + 1, nodeId } as const;
    return breachCap(batch, breach, { message: tooOften(nodeId, limit) });
  }
  batch.record({
    type: 'weft.trigger.fired',
    nodeId,
    payload: { nodeId, trigger: 'channel-write', visit, ...(hasRun && { reenters: [...again] }) },
  });
  run.frontier = openFrontier(run.plan, run.state);
}

function tooOften(nodeId: string, limit: number): string {
  return `The channel-write trigger of node "${nodeId}" may start it ${limit} times and wanted to once more. Raise settings.maxLoopbackIterations or the trigger's debounceMs, or write less often.`;
}

/** Not between firing and start, and not while the last visit is at work. */
function isFree({ state }: LiveRun, { nodeId, again }: TriggerPlan): boolean {
  if (state.firedTriggers.has(nodeId)) return false;
  if (!state.nodes.has(nodeId)) return true;
  return again.every((member) => isSettled(state.nodes.get(member)?.status ?? ''));
}
