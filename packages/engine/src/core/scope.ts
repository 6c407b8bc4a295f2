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
  /** The node that is completing with `outputs`; it counts among `nodes` already. */
  readonly self?: string;
}

/**
 * What CEL sees. Members are getters, so an expression pays only for what it names: `nodes` of a large run is built when
 * an expression asks for it, not for every edge.
 */
export function expressionScope(place: Place, local: Local): JsonObject {
  const outputs = local.outputs ?? {};
  const scope = {
    inputs: local.inputs ?? place.record.inputs,
    outputs,
    output: outputs['output'] ?? null,
    get variables(): JsonObject {
      return Object.fromEntries(place.state.variables);
    },
    get vars(): JsonObject {
      return Object.fromEntries(place.state.variables);
    },
    get nodes(): JsonObject {
      const before = visibleOutputs(place);
      return local.self === undefined ? before : { ...before, [local.self]: outputs };
    },
    get item(): Json {
      return currentItem(place) ?? null;
    },
    get index(): Json {
      return place.path.at(-1) ?? null;
    },
    get iteration(): Json {
      return [...place.path];
    },
    visit: local.visit ?? 0,
  };
  return scope;
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
