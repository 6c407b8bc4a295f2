import { decideJoin, decidesAlone, type EdgeCounts } from './join.ts';
import { type EdgeOutcome, edgeOutcome } from './edges.ts';
import { type EdgePlan, ExpressionError, type NodePlan, type Plan, type ScopePlan } from '../compile/plan.ts';
import { type NodeError, type NodeKey, nodeKey, type RunState } from '../../model/run-state.ts';

/**
 * Which decisions a run can take next. Derived from plan and state, kept up to date as nodes settle, so that a step costs
 * what its own edges cost, not what the whole graph costs.
 *
 * E-6. A node is offered once per iteration, as soon as its join rule is decided.
 * E-7. Tasks leave in lexicographic order of node id, then iteration: the same log always continues the same way.
 * E-8. `openFrontier` on a folded state offers exactly what the frontier that wrote the log would offer.
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
      readonly error: Pick<NodeError, 'code' | 'message' | 'details'>;
    }
  /** Every node of a loop's body has settled in this iteration (`path` ends with its index). */
  | { readonly action: 'end-iteration'; readonly node: NodePlan; readonly path: readonly number[] }
  | { readonly action: 'end-run' };

interface ScopeRun {
  remaining: number;
  /** Incoming edges not yet settled; absent = all of them. */
  unsettled: Map<NodePlan, number> | undefined;
}

export function openFrontier(plan: Plan, state: RunState): Frontier {
  const frontier = new RunFrontier(plan, state);
  if (state.status !== 'pending' && state.endedAt === undefined) frontier.reopen(plan.root, []);
  return frontier;
}

/** A class because every run makes one: what it can do is shared by all of them. */
class RunFrontier implements Frontier {
  readonly #plan: Plan;
  readonly #state: RunState;
  readonly #queue: Task[] = [];
  readonly #held: Task[] = [];
  readonly #offered = new Set<NodeKey>();
  /** The whole graph outside loops; the running iterations are in `#iterations`. */
  readonly #root: ScopeRun;
  #iterations: Map<string, ScopeRun> | undefined;

  constructor(plan: Plan, state: RunState) {
    this.#plan = plan;
    this.#state = state;
    this.#root = newScopeRun(plan.root);
  }

  get size(): number {
    return this.#queue.length;
  }

  next(): Task | undefined {
    return this.#queue.shift();
  }

  hold(task: Task): void {
    insert(this.#held, task);
  }

  unhold(slots: number): void {
    if (this.#held.length === 0) return;
    for (const task of this.#held.splice(0, slots)) {
      if (task.action === 'start') this.#offered.delete(nodeKey(task.node.id, task.path));
      this.#offer(task);
    }
  }

  openScope(scope: ScopePlan, path: readonly number[]): void {
    this.#scopeRun(scope, path);
    for (const node of scope.sources) this.#offerNode(node, path);
  }

  settled(node: NodePlan, path: readonly number[]): void {
    const run = this.#scopeRun(node.scope, path);
    run.remaining -= 1;
    for (const edge of node.outgoing) {
      const left = settleEdge(run, edge.target);
      if (!this.#state.nodes.has(nodeKey(edge.target.id, path))) this.#decide(edge.target, path, edge, left);
    }
    if (run.remaining === 0) this.#close(node.scope, path);
  }

  /** Rebuilds one scope from the fold: counts what has settled, offers what can be decided. */
  reopen(scope: ScopePlan, path: readonly number[]): void {
    const run = this.#scopeRun(scope, path);
    for (const node of scope.nodes) {
      const status = this.#state.nodes.get(nodeKey(node.id, path))?.status;
      if (status === undefined) continue;
      if (isSettled(status)) {
        run.remaining -= 1;
        for (const edge of node.outgoing) settleEdge(run, edge.target);
      } else if (node.loop !== undefined && status === 'running') {
        this.#reopenLoop(node, path);
      }
    }
    for (const node of scope.nodes) {
      if (this.#state.nodes.has(nodeKey(node.id, path))) continue;
      if (node.incoming.length === 0) this.#offerNode(node, path);
      else this.#redecide(node, path, run.unsettled?.get(node) ?? node.incoming.length);
    }
    if (run.remaining === 0) this.#close(scope, path);
  }

  #offer(task: Task): void {
    if (task.action !== 'end-run' && task.action !== 'end-iteration') {
      const key = nodeKey(task.node.id, task.path);
      if (this.#offered.has(key)) return;
      this.#offered.add(key);
    }
    insert(this.#queue, task);
  }

  #offerNode(node: NodePlan, path: readonly number[]): void {
    if (node.disabled) this.#offer({ action: 'skip', node, path, reason: 'disabled' });
    else if (!this.#plan.triggers.has(node.id) || this.#state.firedTriggers.has(node.id))
      this.#offer({ action: 'start', node, path });
  }

  #scopeRun(scope: ScopePlan, path: readonly number[]): ScopeRun {
    if (scope.loop === undefined) return this.#root;
    this.#iterations ??= new Map();
    const key = nodeKey(scope.loop.id, path);
    let found = this.#iterations.get(key);
    if (found === undefined) {
      found = newScopeRun(scope);
      this.#iterations.set(key, found);
    }
    return found;
  }

  /** Every node of the scope has settled. */
  #close(scope: ScopePlan, path: readonly number[]): void {
    if (scope.loop === undefined) return this.#offer({ action: 'end-run' });
    this.#iterations?.delete(nodeKey(scope.loop.id, path));
    this.#offer({ action: 'end-iteration', node: scope.loop, path });
  }

  #decide(target: NodePlan, path: readonly number[], edge: EdgePlan | undefined, left: number): void {
    const state = this.#state;
    try {
      if (left > 0) {
        if (edge === undefined) return;
        const outcome = edgeOutcome(state, edge, path);
        if (outcome === 'pending' || !decidesAlone(target.rule, outcome)) return;
      }
      const counts = countEdges(state, target, path);
      const decision = decideJoin(target.rule, counts);
      if (decision === 'fire') this.#offerNode(target, path);
      if (decision === 'skip')
        this.#offer({ action: 'skip', node: target, path, reason: skipReason(state, target, path, counts) });
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      const { code = 'condition_failed', message, details } = error;
      const refused = { code, message, ...(details !== undefined && { details }) };
      this.#offer({ action: 'refuse', node: target, path, error: refused });
    }
  }

  #redecide(node: NodePlan, path: readonly number[], left: number): void {
    if (left === 0) return this.#decide(node, path, undefined, 0);
    for (const edge of node.incoming) this.#decide(node, path, edge, left);
  }

  /** The running iteration is the highest one in which a body node is known, or was before its cycle began again. */
  #reopenLoop(loop: NodePlan, path: readonly number[]): void {
    const body = loop.loop?.body;
    if (body === undefined) return;
    const { nodes, visits } = this.#state;
    let index = 0;
    const isKnown = (key: NodeKey): boolean => nodes.has(key) || visits.has(key);
    while (body.nodes.some((node) => isKnown(nodeKey(node.id, [...path, index + 1])))) index += 1;
    this.reopen(body, [...path, index]);
  }
}

function newScopeRun(scope: ScopePlan): ScopeRun {
  return { remaining: scope.nodes.length, unsettled: undefined };
}

/** One more edge into the target has settled: how many are left. The last one is kept too, for those who count again. */
function settleEdge(run: ScopeRun, target: NodePlan): number {
  const left = (run.unsettled?.get(target) ?? target.incoming.length) - 1;
  run.unsettled ??= new Map();
  run.unsettled.set(target, left);
  return left;
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

/** Into a list that is in order already, behind its equals. */
function insert(tasks: Task[], task: Task): void {
  const last = tasks.at(-1);
  // Nodes of a scope are offered in order, and there may be many.
  if (last === undefined || compareTasks(last, task) <= 0) {
    tasks.push(task);
    return;
  }
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
