import type { Json, JsonObject } from '@weft/protocol';
import type { NodePlan, ScopePlan } from './plan.ts';
import { type CreationRecord, nodeKey, type NodeState, type RunState } from './run-state.ts';

/** Where an expression stands: the node's scope and the loop indexes around it. */
export interface Place {
  readonly record: CreationRecord;
  readonly state: RunState;
  readonly scope: ScopePlan;
  readonly path: readonly number[];
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
}

/**
 * What CEL sees. Members are getters, so an expression pays only for what it names: `nodes` of a large run is built when
 * an expression asks for it, not for every edge.
 */
export function expressionScope(place: Place, local: Local): JsonObject {
  // Read by the names of the roots only, one of which each getter has.
  return new ScopeView(place, local) as unknown as JsonObject;
}

/** A class because V8 keeps an object with accessors of its own, and the run behind it, until a full collection. */
class ScopeView {
  readonly #place: Place;
  readonly #local: Local;

  constructor(place: Place, local: Local) {
    this.#place = place;
    this.#local = local;
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

  get variables(): JsonObject {
    return Object.fromEntries(this.#place.state.variables);
  }

  get vars(): JsonObject {
    return this.variables;
  }

  get nodes(): JsonObject {
    const before = visibleOutputs(this.#place);
    const { self } = this.#local;
    return self === undefined ? before : { ...before, [self]: this.outputs };
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

function visibleOutputs(place: Place): JsonObject {
  const entries: [string, Json][] = [];
  let scope: ScopePlan | undefined = place.scope;
  let path = place.path;
  while (scope !== undefined) {
    for (const node of scope.nodes) {
      const outputs = place.state.nodes.get(nodeKey(node.id, path))?.outputs;
      if (outputs !== undefined) entries.push([node.id, outputs]);
    }
    scope = scope.loop?.scope;
    path = path.slice(0, -1);
  }
  return Object.fromEntries(entries);
}
