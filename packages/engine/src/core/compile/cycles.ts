import type { WorkflowDefinition } from '@weft/protocol';
import type { NodeDraft } from './nodes.ts';
import { pointer, type Problems } from './problems.ts';
import type { EdgePlan } from './plan.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';

/**
 * Cycles are allowed in one form: a node type that decides itself whether to go round again (a dispatch) may lead back to a
 * node before it (its orchestrator). The edge that leads back is taken out of the graph, which is then free of cycles; the
 * closing node keeps the list of the nodes to do again.
 */
export function* openCycles(
  definition: WorkflowDefinition,
  drafts: ReadonlyMap<string, NodeDraft>,
  problems: Problems,
): CooperativeTask<void> {
  for (const draft of drafts.values()) {
    if (draft.type.closesCycles !== true) continue;
    yield;
    const leading = walk(draft, (node) => node.incoming.map((edge) => edge.source as NodeDraft));
    const back = draft.outgoing.find((edge) => leading.has(edge.target as NodeDraft));
    if (back === undefined) continue;
    const head = back.target as NodeDraft;
    const members = between(head, leading);
    cut(back);
    draft.cycle = [...members].map((member) => member.id).sort();
    for (const member of members) {
      yield;
      if (member.type.kind === 'loop') {
        problems.error(
          pointer('nodes', member.index),
          'loop_in_cycle',
          `Loop "${member.id}" lies on a cycle that goes round several times. Put the loop into a workflow of its own and let the cycle run that.`,
        );
      }
      const leaving = member.outgoing.find((edge) => !members.has(edge.target as NodeDraft));
      if (member === draft || leaving === undefined) continue;
      const index = definition.edges.findIndex((edge) => edge.id === leaving.id);
      problems.error(
        pointer('edges', index),
        'edge_leaves_cycle',
        `Edge "${leaving.id}" leaves a cycle that goes round several times. Lead out of the cycle from node "${draft.id}", which ends it.`,
      );
    }
  }
}

/** The nodes on the ways from `head` to the node that `leading` leads to, both included. */
function between(head: NodeDraft, leading: ReadonlySet<NodeDraft>): Set<NodeDraft> {
  const reachable = walk(head, (node) => node.outgoing.map((edge) => edge.target as NodeDraft));
  return new Set([...reachable].filter((node) => leading.has(node)));
}

function walk(from: NodeDraft, next: (node: NodeDraft) => readonly NodeDraft[]): Set<NodeDraft> {
  const seen = new Set([from]);
  // The set grows while it is walked.
  for (const node of seen) for (const neighbour of next(node)) seen.add(neighbour);
  return seen;
}

function cut(edge: EdgePlan): void {
  const source = edge.source as NodeDraft;
  const target = edge.target as NodeDraft;
  source.outgoing.splice(source.outgoing.indexOf(edge), 1);
  target.incoming.splice(target.incoming.indexOf(edge), 1);
}
