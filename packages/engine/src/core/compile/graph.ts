import type { WorkflowDefinition, WorkflowEdge } from '@weft/protocol';
import type { BrokenParts } from './broken-parts.ts';
import type { Loops } from './loops.ts';
import type { NodeDraft } from './nodes.ts';
import { pointer, type Problems } from './problems.ts';
import { compileCondition, ConditionError } from '../decide/conditions.ts';
import type { Condition, EdgePlan, ExpressionCompiler, ScopePlan, TriggerRule } from './plan.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';

/** Edges between drafts, the order they imply, and the scopes they lie in. */

interface GraphContext {
  readonly broken: BrokenParts;
  readonly drafts: ReadonlyMap<string, NodeDraft>;
  readonly declaredIds: ReadonlySet<string>;
  readonly loops: Loops;
  readonly expressions: ExpressionCompiler;
  readonly problems: Problems;
}

/** Plain comparison of code units: the same order on every machine. */
export function compareIds(left: { readonly id: string }, right: { readonly id: string }): number {
  return left.id < right.id ? -1 : left.id > right.id ? 1 : 0;
}

export function* connect(definition: WorkflowDefinition, context: GraphContext): CooperativeTask<void> {
  if (definition.edges.length === 0) {
    yield* connectInOrder(context);
    return;
  }
  const seen = new Set<string>();
  const rules = new Map<EdgePlan, { rule: TriggerRule; index: number }>();
  for (const [index, edge] of definition.edges.entries()) {
    yield;
    if (context.broken.edges.has(index)) continue;
    if (seen.has(edge.id)) {
      context.problems.error(
        pointer('edges', index, 'id'),
        'duplicate_edge',
        `Edge id "${edge.id}" is used twice; give each edge its own.`,
      );
    }
    seen.add(edge.id);
    const plan = compileEdge(edge, index, context);
    if (plan !== undefined) rules.set(plan, { rule: edge.triggerRule ?? 'all_success', index });
  }
  for (const draft of context.drafts.values()) {
    yield;
    draft.incoming.sort(compareIds);
    draft.outgoing.sort(compareIds);
    chooseRule(draft, rules, context.problems);
  }
}

/** A workflow without edges runs in the order in which its nodes are written; a loop's body in the order of `config.body`. */
function* connectInOrder({ drafts, loops }: GraphContext): CooperativeTask<void> {
  const outside = [...drafts.values()].filter((draft) => !loops.parents.has(draft.id));
  let count = 0;
  for (const nodes of [outside, ...loops.loops.map((loop) => loop.body)]) {
    for (const [position, target] of nodes.entries()) {
      yield;
      const source = nodes[position - 1];
      if (source === undefined) continue;
      addEdge({
        id: `#${count++}`,
        source,
        target,
        sourcePort: 'output',
        sourcePortNamed: false,
        targetPort: 'input',
      });
    }
  }
}

function addEdge(edge: EdgePlan & { source: NodeDraft; target: NodeDraft }): EdgePlan {
  edge.source.outgoing.push(edge);
  edge.target.incoming.push(edge);
  return edge;
}

function compileEdge(edge: WorkflowEdge, index: number, context: GraphContext): EdgePlan | undefined {
  const condition = compileEdgeCondition(edge, index, context);
  const source = endOf(edge, 'sourceNodeId', index, context);
  const target = endOf(edge, 'targetNodeId', index, context);
  if (source === undefined || target === undefined) return undefined;
  if (source === target) {
    context.problems.error(
      pointer('edges', index),
      'self_edge',
      `Edge "${edge.id}" leads from node "${source.id}" to itself; use core.loop to repeat.`,
    );
    return undefined;
  }
  if (crossesLoop(source, target, edge, index, context)) return undefined;
  return addEdge({
    id: edge.id,
    source,
    target,
    sourcePort: edge.sourceOutput ?? 'output',
    sourcePortNamed: edge.sourceOutput !== undefined,
    targetPort: edge.targetInput ?? 'input',
    ...(condition !== undefined && { condition }),
  });
}

function endOf(
  edge: WorkflowEdge,
  end: 'sourceNodeId' | 'targetNodeId',
  index: number,
  { drafts, declaredIds, problems }: GraphContext,
): NodeDraft | undefined {
  const draft = drafts.get(edge[end]);
  // A node that exists but could not be compiled has its own problem already.
  if (draft === undefined && !declaredIds.has(edge[end])) {
    problems.error(
      pointer('edges', index, end),
      'unknown_node',
      `Edge "${edge.id}" names node "${edge[end]}", which does not exist.`,
    );
  }
  return draft;
}

function crossesLoop(
  source: NodeDraft,
  target: NodeDraft,
  edge: WorkflowEdge,
  index: number,
  context: GraphContext,
): boolean {
  const { parents } = context.loops;
  const from = parents.get(source.id);
  const to = parents.get(target.id);
  if (from === to) return false;
  const loop = to ?? from;
  context.problems.error(
    pointer('edges', index),
    'edge_crosses_loop',
    `Edge "${edge.id}" crosses the boundary of loop "${loop?.id ?? ''}"; connect the loop node itself, or put both ends into its body.`,
  );
  return true;
}

function compileEdgeCondition(
  edge: WorkflowEdge,
  index: number,
  context: GraphContext,
): Condition | undefined {
  if (edge.condition === undefined) return undefined;
  try {
    return compileCondition(edge.condition, context.expressions);
  } catch (error) {
    const path = error instanceof ConditionError ? error.path : '';
    context.problems.refused(`${pointer('edges', index, 'condition')}${path}`, 'condition', error);
    return undefined;
  }
}

function chooseRule(
  draft: NodeDraft,
  rules: ReadonlyMap<EdgePlan, { rule: TriggerRule; index: number }>,
  problems: Problems,
): void {
  const [first] = draft.incoming;
  if (first === undefined) return;
  draft.rule = rules.get(first)?.rule ?? 'all_success';
  for (const edge of draft.incoming) {
    const stated = rules.get(edge);
    if (stated === undefined || stated.rule === draft.rule) continue;
    problems.warn(
      pointer('edges', stated.index, 'triggerRule'),
      'trigger_rule_conflict',
      `Edges into node "${draft.id}" disagree on triggerRule; "${draft.rule}" of edge "${first.id}" (the first by id) decides. Write the same on all.`,
    );
  }
}

/** Gives every draft, taken in order of id, its scope and every loop its body. Returns the root. */
export function* layOutScopes(
  sorted: readonly NodeDraft[],
  loops: Loops,
  problems: Problems,
): CooperativeTask<ScopePlan> {
  const members = new Map<NodeDraft | undefined, NodeDraft[]>([[undefined, []]]);
  for (const draft of sorted) {
    yield;
    const parent = loops.parents.get(draft.id);
    const siblings = members.get(parent);
    if (siblings === undefined) members.set(parent, [draft]);
    else siblings.push(draft);
  }
  for (const { node, maxIterations, items, while: condition } of loops.loops) {
    yield;
    const body = layOutScope(members.get(node) ?? [], node);
    checkEntry(node, body, problems);
    node.loop = {
      body,
      maxIterations,
      ...(items !== undefined && { items }),
      ...(condition !== undefined && { while: condition }),
    };
  }
  return layOutScope(members.get(undefined) ?? []);
}

function layOutScope(nodes: NodeDraft[], loop?: NodeDraft): ScopePlan {
  const scope: ScopePlan = {
    nodes,
    sources: nodes.filter((node) => node.incoming.length === 0),
    terminals: nodes.filter((node) => node.outgoing.length === 0),
    ...(loop !== undefined && { loop }),
  };
  for (const node of nodes) node.scope = scope;
  return scope;
}

function checkEntry(loop: NodeDraft, body: ScopePlan, problems: Problems): void {
  // None at all means a cycle, which is reported as such.
  if (body.sources.length <= 1) return;
  const entries = body.sources.map((node) => `"${node.id}"`).join(', ');
  problems.error(
    pointer('nodes', loop.index, 'config', 'body'),
    'loop_entry',
    `The body of loop "${loop.id}" has ${body.sources.length} entries (${entries}); connect them so that exactly one node has no incoming edge.`,
  );
}
