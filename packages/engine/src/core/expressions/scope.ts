import type { Json, JsonObject, WorkBudget } from '@weft/protocol';
import { LazyMap } from './cel/values.ts';
import type { Reads } from './expression-reads.ts';
import type { LiveRun } from '../decide/live-run.ts';
import type { ExpressionScope, NodePlan, ScopePlan } from '../compile/plan.ts';
import { type CreationRecord, nodeKey, type NodeState, type RunState } from '../../model/run-state.ts';
import type { SensitiveReads } from '../redaction/sensitive-reads.ts';

/** Where an expression stands: the node's scope and the loop indexes around it. */
export interface Place {
  readonly record: CreationRecord;
  readonly state: RunState;
  readonly scope: ScopePlan;
  readonly path: readonly number[];
  /** Of the decision for which it is evaluated. */
  readonly budget: WorkBudget;
}

export function placeOf({ record, state, budget }: LiveRun, node: NodePlan, path: readonly number[]): Place {
  return { record, state, scope: node.scope, path, budget };
}

/** What only this expression sees. */
interface Local {
  readonly outputs?: JsonObject;
  /** Instead of the run's inputs. */
  readonly inputs?: JsonObject;
  /** How often the node was entered before. */
  readonly visit?: number;
  /** Instead of the innermost loop's index: where the loop itself is looked at. */
  readonly index?: number;
  /** The node that is completing with `outputs`; it counts among `nodes` already. */
  readonly self?: string;
  /** Collects what the expression reads. */
  readonly reads?: SensitiveReads | undefined;
}

/**
 * What CEL sees. Members are getters, and those of variables and nodes are looked up one by one, so an expression pays only for
 * what it names: a run may have twenty thousand nodes, and each of as many edges look at one of them.
 */
export function expressionScope(place: Place, local: Local): ExpressionScope {
  // Read by the names of the roots only, one of which each getter has.
  return new ScopeView(place, local) as unknown as ExpressionScope;
}

/** To be called with what an expression reads, before it is evaluated in the scope. */
export function noteReads(scope: object, reads: Reads): void {
  if (scope instanceof ScopeView) scope.noteReads(reads);
}

/** A class because V8 keeps an object with accessors of its own, and the run behind it, until a full collection. */
class ScopeView {
  readonly #place: Place;
  readonly #local: Local;

  constructor(place: Place, local: Local) {
    this.#place = place;
    this.#local = local;
  }

  noteReads(reads: Reads): void {
    this.#local.reads?.noteExpression(reads, this.#place, this.#local.inputs !== undefined);
  }

  get inputs(): JsonObject {
    return this.#local.inputs ?? this.#place.record.inputs;
  }

  get outputs(): JsonObject {
    return this.#local.outputs ?? {};
  }

  get output(): Json {
    return this.outputs['output'] ?? null;
  }

  get variables(): LazyMap {
    const { variables } = this.#place.state;
    return new LazyMap({ get: (name) => variables.get(name), names: () => [...variables.keys()] });
  }

  get vars(): LazyMap {
    return this.variables;
  }

  get nodes(): LazyMap {
    const place = this.#place;
    const { self } = this.#local;
    return new LazyMap({
      get: (id) => (id === self ? this.outputs : visibleOutputs(place, id)),
      names: () => namesOfVisible(place, self),
    });
  }

  get item(): Json {
    return currentItem(this.#place) ?? null;
  }

  get index(): Json {
    return this.#local.index ?? this.#place.path.at(-1) ?? null;
  }

  get iteration(): Json {
    return [...this.#place.path];
  }

  get visit(): number {
    return this.#local.visit ?? 0;
  }
}

/** The state of a node as seen from a place: in the same scope, or in one of those around it. */
export function visibleNode(place: Place, node: NodePlan): NodeState | undefined {
  let scope: ScopePlan | undefined = place.scope;
  let path = place.path;
  while (scope !== undefined) {
    if (node.scope === scope) return place.state.nodes.get(nodeKey(node.id, path));
    scope = scope.loop?.scope;
    path = path.slice(0, -1);
  }
  return undefined;
}

/** The item of the innermost loop around the place, if that loop has items. */
export function currentItem(place: Place): Json | undefined {
  const loop = place.scope.loop;
  if (loop === undefined) return undefined;
  const index = place.path.at(-1) ?? 0;
  return place.state.nodes.get(nodeKey(loop.id, place.path.slice(0, -1)))?.items?.[index];
}

/** The outputs of the node with this id, if it can be seen from the place. */
function visibleOutputs(place: Place, id: string): JsonObject | undefined {
  let scope: ScopePlan | undefined = place.scope;
  let path = place.path;
  while (scope !== undefined) {
    if (hasNode(scope, id)) return place.state.nodes.get(nodeKey(id, path))?.outputs;
    scope = scope.loop?.scope;
    path = path.slice(0, -1);
  }
  return undefined;
}

/** Nodes of a scope are in order of their ids. */
function hasNode({ nodes }: ScopePlan, id: string): boolean {
  let low = 0;
  let high = nodes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const found = (nodes[middle] as NodePlan).id;
    if (found === id) return true;
    if (found < id) low = middle + 1;
    else high = middle;
  }
  return false;
}

function namesOfVisible(place: Place, self: string | undefined): string[] {
  const names = new Set<string>();
  let scope: ScopePlan | undefined = place.scope;
  let path = place.path;
  while (scope !== undefined) {
    for (const { id } of scope.nodes) {
      if (place.state.nodes.get(nodeKey(id, path))?.outputs !== undefined) names.add(id);
    }
    scope = scope.loop?.scope;
    path = path.slice(0, -1);
  }
  if (self !== undefined) names.add(self);
  return [...names];
}
