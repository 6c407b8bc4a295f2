import { decideJoin, decidesAlone, type EdgeCounts } from './join.ts';
import { type EdgeOutcome, edgeOutcome } from './edges.ts';
import { type EdgePlan, ExpressionError, type NodePlan, type Plan, type ScopePlan } from './plan.ts';
import { type NodeKey, nodeKey, type RunState } from './run-state.ts';

/**
 * Which decisions a run can take next. Derived from plan and state, kept up to date as nodes settle, so that a step costs
 * what its own edges cost, not what the whole graph costs.
 *
 * F1. A node is offered once per iteration, as soon as its join rule is decided.
 * F2. Tasks leave in lexicographic order of node id, then iteration: the same log always continues the same way.
 * F3. `openFrontier` on a folded state offers exactly what the frontier that wrote the log would offer.
 */
export interface Frontier {
  next(): Task | undefined;
  readonly size: number;
  /** Puts a task aside: an effect over the concurrency bound. */
  hold(task: Task): void;
  /** Offers held tasks again, as many as there are free slots, in the order of all tasks: when they were held is not on record. */
  unhold(slots: number): void;
  openScope(scope: ScopePlan, path: readonly number[]): void;
  settled(node: NodePlan, path: readonly number[]): void;
}

export type Task =
  | { readonly action: 'start'; readonly node: NodePlan; readonly path: readonly number[] }
  | {
      readonly action: 'skip';
      readonly node: NodePlan;
      readonly path: readonly number[];
      readonly reason: string;
    }
  | {
      readonly action: 'refuse';
      readonly node: NodePlan;
      readonly path: readonly number[];
      readonly message: string;
    }
  /** Every node of a loop's body has settled in this iteration (`path` ends with its index). */
  | { readonly action: 'end-iteration'; readonly node: NodePlan; readonly path: readonly number[] }
  | { readonly action: 'end-run' };

interface ScopeRun {
  remaining: number;
  /** Incoming edges not yet settled; absent = all of them. */
  readonly unsettled: Map<NodePlan, number>;
}

export function openFrontier(plan: Plan, state: RunState): Frontier {
  const queue: Task[] = [];
  const held: Task[] = [];
  const offered = new Set<NodeKey>();
  const scopes = new Map<string, ScopeRun>();

  function offer(task: Task): void {
    if (task.action !== 'end-run' && task.action !== 'end-iteration') {
      const key = nodeKey(task.node.id, task.path);
      if (offered.has(key)) return;
      offered.add(key);
    }
    insert(queue, task);
  }

  function offerNode(node: NodePlan, path: readonly number[]): void {
    if (node.disabled) offer({ action: 'skip', node, path, reason: 'disabled' });
    else if (!plan.triggers.has(node.id) || state.firedTriggers.has(node.id))
      offer({ action: 'start', node, path });
  }

  function scopeRun(scope: ScopePlan, path: readonly number[]): ScopeRun {
    const key = scopeKey(scope, path);
    let found = scopes.get(key);
    if (found === undefined) {
      found = { remaining: scope.nodes.length, unsettled: new Map() };
      scopes.set(key, found);
    }
    return found;
  }

  function decide(target: NodePlan, path: readonly number[], edge: EdgePlan | undefined, left: number): void {
    try {
      if (left > 0) {
        if (edge === undefined) return;
        const outcome = edgeOutcome(state, edge, path);
        if (outcome === 'pending' || !decidesAlone(target.rule, outcome)) return;
      }
      const counts = countEdges(state, target, path);
      const decision = decideJoin(target.rule, counts);
      if (decision === 'fire') offerNode(target, path);
      if (decision === 'skip')
        offer({ action: 'skip', node: target, path, reason: skipReason(state, target, path, counts) });
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      offer({ action: 'refuse', node: target, path, message: error.message });
    }
  }

  const frontier: Frontier = {
    next: () => queue.shift(),
    get size() {
      return queue.length;
    },
    hold: (task) => insert(held, task),
    unhold(slots) {
      if (held.length === 0) return;
      for (const task of held.splice(0, slots)) {
        if (task.action === 'start') offered.delete(nodeKey(task.node.id, task.path));
        offer(task);
      }
    },
    openScope(scope, path) {
      scopeRun(scope, path);
      for (const node of scope.sources) offerNode(node, path);
    },
    settled(node, path) {
      const scope = scopeRun(node.scope, path);
      scope.remaining -= 1;
      for (const edge of node.outgoing) {
        const left = (scope.unsettled.get(edge.target) ?? edge.target.incoming.length) - 1;
        scope.unsettled.set(edge.target, left);
        if (!state.nodes.has(nodeKey(edge.target.id, path))) decide(edge.target, path, edge, left);
      }
      if (scope.remaining > 0) return;
      scopes.delete(scopeKey(node.scope, path));
      if (node.scope.loop === undefined) offer({ action: 'end-run' });
      else offer({ action: 'end-iteration', node: node.scope.loop, path });
    },
  };

  /** Rebuilds one scope from the fold: counts what has settled, offers what can be decided. */
  function reopen(scope: ScopePlan, path: readonly number[]): void {
    const run = scopeRun(scope, path);
    for (const node of scope.nodes) {
      const status = state.nodes.get(nodeKey(node.id, path))?.status;
      if (status === undefined) continue;
      if (isSettled(status)) {
        run.remaining -= 1;
        for (const edge of node.outgoing) {
          run.unsettled.set(edge.target, (run.unsettled.get(edge.target) ?? edge.target.incoming.length) - 1);
        }
      } else if (node.loop !== undefined && status === 'running') {
        reopenLoop(node, path);
      }
    }
    for (const node of scope.nodes) {
      if (state.nodes.has(nodeKey(node.id, path))) continue;
      if (node.incoming.length === 0) offerNode(node, path);
      else redecide(node, path, run.unsettled.get(node) ?? node.incoming.length);
    }
    if (run.remaining > 0) return;
    scopes.delete(scopeKey(scope, path));
    if (scope.loop === undefined) offer({ action: 'end-run' });
    else offer({ action: 'end-iteration', node: scope.loop, path });
  }

  function redecide(node: NodePlan, path: readonly number[], left: number): void {
    if (left === 0) return decide(node, path, undefined, 0);
    for (const edge of node.incoming) decide(node, path, edge, left);
  }

  /** The iteration under way is the highest one in which a body node is known, or was before its cycle began again. */
  function reopenLoop(loop: NodePlan, path: readonly number[]): void {
    const body = loop.loop?.body;
    if (body === undefined) return;
    let index = 0;
    const isKnown = (key: NodeKey): boolean => state.nodes.has(key) || state.visits.has(key);
    while (body.nodes.some((node) => isKnown(nodeKey(node.id, [...path, index + 1])))) index += 1;
    reopen(body, [...path, index]);
  }

  if (state.status !== 'pending' && state.endedAt === undefined) reopen(plan.root, []);
  return frontier;
}

export function isSettled(status: string): boolean {
  return status === 'completed' || status === 'failed' || status === 'skipped' || status === 'cancelled';
}

function countEdges(state: RunState, target: NodePlan, path: readonly number[]): EdgeCounts {
  const counts: Record<EdgeOutcome, number> = { pending: 0, success: 0, failed: 0, skipped: 0 };
  for (const edge of target.incoming) counts[edgeOutcome(state, edge, path)] += 1;
  return counts;
}

function skipReason(state: RunState, target: NodePlan, path: readonly number[], counts: EdgeCounts): string {
  if (counts.failed > 0) return 'upstream-failed';
  const isNotTaken = target.incoming.some(
    (edge) => state.nodes.get(nodeKey(edge.source.id, path))?.status === 'completed',
  );
  return isNotTaken ? 'condition-not-met' : 'upstream-skipped';
}

function scopeKey(scope: ScopePlan, path: readonly number[]): string {
  return `${scope.loop?.id ?? ''}|${path.join('.')}`;
}

/** Into a list that is in order already, behind its equals. */
function insert(tasks: Task[], task: Task): void {
  let low = 0;
  let high = tasks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareTasks(tasks[middle] as Task, task) <= 0) low = middle + 1;
    else high = middle;
  }
  tasks.splice(low, 0, task);
}

/** Order of tasks: node id by code unit, then iteration by number; the end of the run comes last. */
function compareTasks(a: Task, b: Task): number {
  if (a.action === 'end-run' || b.action === 'end-run') {
    return Number(a.action === 'end-run') - Number(b.action === 'end-run');
  }
  if (a.node.id !== b.node.id) return a.node.id < b.node.id ? -1 : 1;
  for (let depth = 0; depth < Math.max(a.path.length, b.path.length); depth += 1) {
    const difference = (a.path[depth] ?? -1) - (b.path[depth] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}
