import type { WorkflowDefinition } from '@weft/protocol';
import type { NodeType } from '../../model/node-type.ts';

/** Names of a node's input ports, as far as the definition alone tells: what a run is given beyond its declared inputs is not known. */
export type InputPorts = (nodeId: string) => ReadonlySet<string>;

const NONE: ReadonlySet<string> = new Set();

export function inputPorts(
  definition: WorkflowDefinition,
  nodeTypes: ReadonlyMap<string, NodeType>,
): InputPorts {
  const ports = new Map<string, Set<string>>();
  const inBodies = bodyMembers(definition, nodeTypes);
  for (const { id, inputs } of definition.nodes) ports.set(id, new Set(Object.keys(inputs)));
  const hasEdgeIn = new Set<string>();
  for (const { targetNodeId, targetInput = 'input' } of definition.edges) {
    hasEdgeIn.add(targetNodeId);
    ports.get(targetNodeId)?.add(targetInput);
  }
  for (const { id } of definition.nodes) {
    const own = ports.get(id);
    if (own === undefined || hasEdgeIn.has(id)) continue;
    // Without any edges the nodes are a chain, in the order they are written.
    if (definition.edges.length === 0) own.add('input');
    if (inBodies.has(id)) for (const port of ['item', 'input', 'index']) own.add(port);
    else for (const { name } of definition.variables) own.add(name);
  }
  return (nodeId) => ports.get(nodeId) ?? NONE;
}

function bodyMembers(
  { nodes }: WorkflowDefinition,
  nodeTypes: ReadonlyMap<string, NodeType>,
): ReadonlySet<string> {
  const loops = nodes.filter(({ typeId }) => nodeTypes.get(typeId)?.kind === 'loop');
  return new Set(loops.flatMap(({ config: { body } }) => (Array.isArray(body) ? body.map(String) : [])));
}
