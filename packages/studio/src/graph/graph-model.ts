import type { WorkflowDefinition } from '@weft/sdk';
import type { NodeStatus, NodeView } from '../run/run-fold.ts';

/**
 * What is drawn of a workflow: its nodes and edges, and above a number of them the same folded into groups, so that a layout never takes long.
 */
export interface GraphModel {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** Nodes that are not drawn one by one. */
  readonly folded: number;
}

export interface GraphNode {
  readonly id: string;
  readonly label: string;
  readonly typeId: string;
  /** Ids of the nodes that it stands for. */
  readonly members: readonly string[];
}

export interface GraphEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly label?: string;
}

/** Above this a graph is not readable, and its layout takes too long. */
export const MAX_DRAWN = 500;

export const NODE_WIDTH = 208;
export const NODE_HEIGHT = 52;

export function graphOf({ nodes, edges }: Pick<WorkflowDefinition, 'nodes' | 'edges'>): GraphModel {
  const drawn = nodes.map(
    ({ id, name, typeId }): GraphNode => ({ id, label: name === '' ? id : name, typeId, members: [id] }),
  );
  const known = new Set(drawn.map(({ id }) => id));
  const lines = edges
    .filter(({ sourceNodeId, targetNodeId }) => known.has(sourceNodeId) && known.has(targetNodeId))
    .map((edge): GraphEdge => {
      const label = edgeLabel(edge);
      return {
        id: edge.id,
        source: edge.sourceNodeId,
        target: edge.targetNodeId,
        ...(label !== undefined && { label }),
      };
    });
  return drawn.length <= MAX_DRAWN
    ? { nodes: drawn, edges: lines, folded: 0 }
    : foldChains({ nodes: drawn, edges: lines, folded: 0 });
}

function edgeLabel(edge: WorkflowDefinition['edges'][number]): string | undefined {
  if (edge.label !== undefined) return edge.label;
  if (edge.sourceOutput !== undefined && edge.sourceOutput !== 'output') return edge.sourceOutput;
  if (edge.condition !== undefined) return 'if';
  return edge.triggerRule === 'any_failed' ? 'on failure' : undefined;
}

/** Nodes that follow one another without a branch become one; what is still too many is cut, and counted. */
function foldChains({ nodes, edges }: GraphModel): GraphModel {
  const outgoing = countBy(edges.map(({ source }) => source));
  const incoming = countBy(edges.map(({ target }) => target));
  const headOf = new Map<string, string>(nodes.map(({ id }) => [id, id]));
  const find = (id: string): string => {
    let head = id;
    while (headOf.get(head) !== head) head = headOf.get(head) ?? head;
    headOf.set(id, head);
    return head;
  };
  for (const { source, target } of edges) {
    const isChain = outgoing.get(source) === 1 && incoming.get(target) === 1;
    const [head, tail] = [find(source), find(target)];
    if (isChain && head !== tail) headOf.set(tail, head);
  }
  const members = new Map<string, GraphNode[]>();
  for (const node of nodes) members.set(find(node.id), [...(members.get(find(node.id)) ?? []), node]);
  const groups = [...members].slice(0, MAX_DRAWN).map(([id, [first, ...others]]): GraphNode => {
    const label = first?.label ?? id;
    return {
      id,
      label: others.length === 0 ? label : `${label} and ${others.length} more`,
      typeId: others.length === 0 ? (first?.typeId ?? '') : 'in a row',
      members: [...(first?.members ?? []), ...others.map((node) => node.id)],
    };
  });
  const shown = new Set(groups.map(({ id }) => id));
  const lines = edges
    .map((edge) => ({ ...edge, source: find(edge.source), target: find(edge.target) }))
    .filter(({ source, target }) => source !== target && shown.has(source) && shown.has(target));
  return { nodes: groups, edges: lines, folded: nodes.length - groups.length };
}

/** How many layers it has from left to right; what lies on a cycle does not count. */
export function layersOf({ nodes, edges }: Pick<GraphModel, 'nodes' | 'edges'>): number {
  const layer = new Map(nodes.map(({ id }) => [id, 1]));
  const incoming = countBy(edges.map(({ target }) => target));
  const targets = new Map<string, string[]>();
  for (const { source, target } of edges) targets.set(source, [...(targets.get(source) ?? []), target]);
  const ready = nodes.map(({ id }) => id).filter((id) => !incoming.has(id));
  for (let id = ready.pop(); id !== undefined; id = ready.pop())
    for (const target of targets.get(id) ?? []) {
      layer.set(target, Math.max(layer.get(target) ?? 1, (layer.get(id) ?? 1) + 1));
      const left = (incoming.get(target) ?? 1) - 1;
      incoming.set(target, left);
      if (left === 0) ready.push(target);
    }
  return Math.max(0, ...layer.values());
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** How a drawn node stands: of all rounds of all nodes that it stands for, the state that a person should see first. */
export interface NodeSummary {
  readonly status: NodeStatus | 'pending';
  readonly visits: number;
  readonly done: number;
  readonly attempt: number;
  readonly note?: string;
  readonly childRunId?: string;
}

const FIRST_SEEN: readonly NodeStatus[] = [
  'failed',
  'waiting',
  'running',
  'retrying',
  'completed',
  'cancelled',
  'skipped',
];

export function summariesOf(views: Iterable<NodeView>): Map<string, NodeSummary> {
  const byNode = new Map<string, NodeView[]>();
  for (const view of views) {
    const rounds = byNode.get(view.nodeId);
    if (rounds === undefined) byNode.set(view.nodeId, [view]);
    else rounds.push(view);
  }
  return new Map([...byNode].map(([id, rounds]) => [id, summaryOf(rounds)]));
}

export function summaryOf(rounds: readonly NodeView[]): NodeSummary {
  const shown = FIRST_SEEN.flatMap((status) => rounds.find((round) => round.status === status) ?? [])[0];
  if (shown === undefined) return { status: 'pending', visits: 0, done: 0, attempt: 0 };
  return {
    status: shown.status,
    visits: rounds.length,
    done: rounds.filter(({ status }) => status === 'completed').length,
    attempt: shown.attempt,
    ...(shown.note !== undefined && { note: shown.note }),
    ...(shown.childRunId !== undefined && { childRunId: shown.childRunId }),
  };
}
