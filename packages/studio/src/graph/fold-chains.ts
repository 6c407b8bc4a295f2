import type { GraphModel, GraphNode } from './graph-model.ts';
import { countBy } from './layers.ts';

type Drawing = Pick<GraphModel, 'nodes' | 'edges'>;

/** Nodes that follow one another without a branch become one. */
export function foldChains({ nodes, edges }: Drawing): Drawing {
  const headOf = chainHeads(nodes, edges);
  const members = new Map<string, GraphNode[]>();
  for (const node of nodes) {
    const head = headOf(node.id);
    const group = members.get(head);
    if (group === undefined) members.set(head, [node]);
    else group.push(node);
  }
  const groups = [...members].map(([id, group]) => groupOf(id, group));
  const lines = edges
    .map((edge) => ({ ...edge, source: headOf(edge.source), target: headOf(edge.target) }))
    .filter(({ source, target }) => source !== target);
  return { nodes: groups, edges: lines };
}

function groupOf(id: string, [first, ...others]: readonly GraphNode[]): GraphNode {
  if (first !== undefined && others.length === 0) return first;
  const { label = id, members = [], frame } = first ?? {};
  return {
    id,
    label: `${label} and ${others.length.toLocaleString('en')} more`,
    typeId: 'in a row',
    members: [...members, ...others.flatMap((node) => node.members)],
    ...(frame !== undefined && { frame }),
  };
}

/** The node that stands for the chain that a node is part of. Frames are in no chain. */
function chainHeads(nodes: GraphModel['nodes'], edges: GraphModel['edges']): (id: string) => string {
  const outgoing = countBy(edges.map(({ source }) => source));
  const incoming = countBy(edges.map(({ target }) => target));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const headOf = new Map<string, string>(nodes.map(({ id }) => [id, id]));
  const find = (id: string): string => {
    let head = id;
    while (headOf.get(head) !== head) head = headOf.get(head) ?? head;
    headOf.set(id, head);
    return head;
  };
  for (const { source, target } of edges) {
    const [from, to] = [byId.get(source), byId.get(target)];
    const isFramed = from?.loop === 'open' || to?.loop === 'open' || from?.frame !== to?.frame;
    if (isFramed || outgoing.get(source) !== 1 || incoming.get(target) !== 1) continue;
    const [head, tail] = [find(source), find(target)];
    if (head !== tail) headOf.set(tail, head);
  }
  return find;
}
