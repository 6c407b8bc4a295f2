import { isJsonObject, type JsonObject } from '@weft/protocol';
import type { StepState } from '../../model/run-state.ts';
import type { NodePlan } from '../compile/plan.ts';

/** A step that a node type of its own performs: as an execution of it, without a config, with the arguments of the request as inputs. */
export function stepPerformer(
  node: NodePlan,
  { request, onUnknownOutcome }: StepState,
): { readonly node: NodePlan; readonly inputs: JsonObject } | undefined {
  const { node: typeId, arguments: inputs } = request;
  if (node.type.kind !== 'steps' || typeof typeId !== 'string' || !isJsonObject(inputs)) return undefined;
  const type = node.type.performers?.(node.prepared).get(typeId);
  if (type === undefined) return undefined;
  const { credentialsRef: _, ...named } = node.node;
  const settings = { ...node.settings, onUnknownOutcome };
  return {
    node: { ...node, node: { ...named, config: {} }, type, config: {}, prepared: undefined, settings },
    inputs,
  };
}
