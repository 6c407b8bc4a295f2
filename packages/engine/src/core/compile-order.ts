import type { WorkflowDefinition } from '@weft/protocol';
import type { NodeDraft } from './compile-node.ts';
import { pointer, type Problems } from './compile-problems.ts';

/** Named at most; each is looked for in a graph without the ones before. */
const MAX_CYCLES = 10;

/** Nodes in an order in which each comes after all that lead to it, or undefined (and a problem per cycle) if there is none. */
export function topologicalOrder(
  definition: WorkflowDefinition,
  drafts: ReadonlyMap<string, NodeDraft>,
  problems: Problems,
): NodeDraft[] | undefined {
  let rest: Set<NodeDraft> = new Set(drafts.values());
  const sorted = peel(rest);
  if (rest.size === 0) return sorted;
  const edgeIndexes = new Map(definition.edges.map((edge, index) => [edge.id, index]));
  for (let found = 0; found < MAX_CYCLES && rest.size > 0; found++) {
    const cycle = findCycle(rest);
    reportCycle(cycle, edgeIndexes, problems);
    rest = new Set([...rest].filter((node) => !cycle.includes(node)));
    peel(rest);
  }
  return undefined;
}

/** Takes out, in order, every node whose predecessors are all taken out. What stays is on a cycle or behind one. */
function peel(rest: Set<NodeDraft>): NodeDraft[] {
  const waiting = new Map<string, number>();
  const byId = new Map<string, NodeDraft>();
  const ready: NodeDraft[] = [];
  for (const node of rest) byId.set(node.id, node);
  for (const node of rest) {
    const open = node.incoming.reduce((count, edge) => count + (byId.has(edge.source.id) ? 1 : 0), 0);
    waiting.set(node.id, open);
    if (open === 0) ready.push(node);
  }
  // The list grows while it is walked.
  for (const node of ready) {
    rest.delete(node);
    for (const edge of node.outgoing) {
      const open = (waiting.get(edge.target.id) ?? 0) - 1;
      waiting.set(edge.target.id, open);
      const target = byId.get(edge.target.id);
      if (open === 0 && target !== undefined) ready.push(target);
    }
  }
  return ready;
}

/** Each node left has a predecessor among those left, so going backwards must come round. */
function findCycle(rest: ReadonlySet<NodeDraft>): NodeDraft[] {
  const byId = new Map([...rest].map((node) => [node.id, node]));
  const position = new Map<string, number>();
  const way: NodeDraft[] = [];
  let at = [...rest][0];
  while (at !== undefined && !position.has(at.id)) {
    position.set(at.id, way.length);
    way.push(at);
    const previous: string | undefined = at.incoming.find((edge) => byId.has(edge.source.id))?.source.id;
    at = previous === undefined ? undefined : byId.get(previous);
  }
  return way.slice(at === undefined ? 0 : position.get(at.id)).reverse();
}

function reportCycle(
  cycle: readonly NodeDraft[],
  edgeIndexes: ReadonlyMap<string, number>,
  problems: Problems,
): void {
  const smallest = cycle.reduce(
    (first, node, index) => (node.id < (cycle[first]?.id ?? '') ? index : first),
    0,
  );
  const turned = [...cycle.slice(smallest), ...cycle.slice(0, smallest)];
  const last = turned.at(-1);
  const closing = last?.outgoing.find((edge) => edge.target.id === turned[0]?.id);
  const index = closing === undefined ? undefined : edgeIndexes.get(closing.id);
  const names = [...turned, ...turned.slice(0, 1)].map((node) => node.id);
  const shown = names.length > 12 ? [...names.slice(0, 6), '…', ...names.slice(-5)] : names;
  problems.error(
    index === undefined ? '/edges' : pointer('edges', index),
    'cycle',
    `The edges form a cycle: ${shown.join(' → ')}. Remove one of them, or use core.loop to repeat.`,
  );
}
