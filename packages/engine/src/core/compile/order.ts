import type { WorkflowDefinition } from '@weft/protocol';
import type { NodeDraft } from './nodes.ts';
import { pointer, type Problems } from './problems.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';

/** Named at most; each is looked for in a graph without the ones before. */
const MAX_CYCLES = 10;

/** Nodes in an order in which each comes after all that lead to it, or undefined (and a problem per cycle) if there is none. */
export function* topologicalOrder(
  definition: WorkflowDefinition,
  drafts: ReadonlyMap<string, NodeDraft>,
  problems: Problems,
): CooperativeTask<NodeDraft[] | undefined> {
  let rest: Set<NodeDraft> = new Set(drafts.values());
  const sorted = yield* peel(rest);
  if (rest.size === 0) return sorted;
  const edgeIndexes = new Map(definition.edges.map((edge, index) => [edge.id, index]));
  for (let found = 0; found < MAX_CYCLES && rest.size > 0; found++) {
    const cycle = findCycle(rest);
    reportCycle(cycle, edgeIndexes, problems);
    const reported = new Set(cycle);
    rest = new Set([...rest].filter((node) => !reported.has(node)));
    yield* peel(rest);
  }
  return undefined;
}

/** Takes out, in order, every node whose predecessors are all taken out. What stays is on a cycle or behind one. */
function* peel(rest: Set<NodeDraft>): CooperativeTask<NodeDraft[]> {
  const waiting = new Map<NodeDraft, number>();
  const ready: NodeDraft[] = [];
  for (const node of rest) {
    yield;
    let open = 0;
    for (const edge of node.incoming) if (rest.has(edge.source as NodeDraft)) open += 1;
    if (open === 0) ready.push(node);
    else waiting.set(node, open);
  }
  // The list grows while it is walked.
  for (const node of ready) {
    yield;
    rest.delete(node);
    for (const edge of node.outgoing) {
      const target = edge.target as NodeDraft;
      const open = waiting.get(target);
      if (open === undefined) continue; // not among the rest
      waiting.set(target, open - 1);
      if (open === 1) ready.push(target);
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
