import type { PortValue } from '@weft/protocol';
import type { Loops } from './loops.ts';
import type { NodeDraft } from './nodes.ts';
import { pointer, type Problems } from './problems.ts';
import type { ExpressionCompiler, PortPlan, VariablePlan } from './plan.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';

/** Declared inputs of nodes: what each port is filled from. */

interface PortContext {
  readonly drafts: ReadonlyMap<string, NodeDraft>;
  readonly declaredIds: ReadonlySet<string>;
  readonly variables: ReadonlyMap<string, VariablePlan>;
  readonly expressions: ExpressionCompiler;
  readonly problems: Problems;
}

export function* compilePorts(context: PortContext): CooperativeTask<void> {
  for (const draft of context.drafts.values()) {
    yield;
    const ports: PortPlan[] = [];
    for (const [name, value] of Object.entries(draft.node.inputs)) {
      yield; // one node may have many, and each an expression
      const port = compilePort(name, value, pointer('nodes', draft.index, 'inputs', name), context);
      if (port !== undefined) ports.push(port);
    }
    draft.ports = ports;
  }
}

function compilePort(
  name: string,
  value: PortValue,
  path: string,
  context: PortContext,
): PortPlan | undefined {
  const { problems } = context;
  switch (value.type) {
    case 'static':
      return { name, from: 'static', value: value.value };
    case 'expression':
      try {
        return { name, from: 'expression', expression: context.expressions.compile(value.expression) };
      } catch (error) {
        problems.refused(`${path}/expression`, 'expression', error);
        return undefined;
      }
    case 'connection':
      if (!context.declaredIds.has(value.nodeId)) {
        problems.error(
          `${path}/nodeId`,
          'unknown_node',
          `Input "${name}" names node "${value.nodeId}", which does not exist.`,
        );
        return undefined;
      }
      return {
        name,
        from: 'connection',
        nodeId: value.nodeId,
        outputKey: value.outputKey,
        optional: value.optional ?? false,
      };
    case 'variable': {
      const optional = value.optional ?? false;
      if (!optional && !context.variables.has(value.variableName)) {
        problems.warn(
          `${path}/variableName`,
          'undeclared_variable',
          `Input "${name}" reads variable "${value.variableName}", which is not declared; declare it, or mark the input optional.`,
        );
      }
      return { name, from: 'variable', variableName: value.variableName, optional };
    }
  }
}

/** A connection asks whether `source` comes before `target`, both in the same scope. */
interface Question {
  readonly source: NodeDraft;
  readonly target: NodeDraft;
  readonly refuse: () => void;
}

/**
 * A connection may only name a node that has certainly settled: one from which edges lead to the reader, or to a loop
 * around the reader.
 */
export function* checkConnections(
  order: readonly NodeDraft[],
  drafts: ReadonlyMap<string, NodeDraft>,
  loops: Loops,
  problems: Problems,
): CooperativeTask<void> {
  const questions: Question[] = [];
  for (const reader of drafts.values()) {
    yield;
    for (const port of reader.ports) {
      const source = port.from === 'connection' ? drafts.get(port.nodeId) : undefined;
      if (source === undefined) continue;
      const refuse = (): void =>
        problems.error(
          pointer('nodes', reader.index, 'inputs', port.name, 'nodeId'),
          'connection_order',
          `Input "${port.name}" of node "${reader.id}" reads node "${source.id}", which does not come before it; add an edge that leads from "${source.id}" to "${reader.id}".`,
        );
      const target = siblingAround(reader, source, loops);
      if (target === undefined || target === source) refuse();
      else questions.push({ source, target, refuse });
    }
  }
  yield* answer(questions, order);
}

/** The reader itself, or the loop around it, that lies in the same scope as the source. */
function siblingAround(reader: NodeDraft, source: NodeDraft, { parents }: Loops): NodeDraft | undefined {
  const wanted = parents.get(source.id);
  let at: NodeDraft | undefined = reader;
  while (at !== undefined && parents.get(at.id) !== wanted) at = parents.get(at.id);
  return at;
}

const BITS = 31;

/**
 * Reachability for 31 sources per walk over the graph, one bit each, so that twenty thousand connections cost some
 * hundred walks instead of twenty thousand. Direct neighbours, the usual case, need none.
 */
function* answer(questions: readonly Question[], order: readonly NodeDraft[]): CooperativeTask<void> {
  const open = questions.filter(
    ({ source, target }) => !target.incoming.some((edge) => edge.source === source),
  );
  const bySource = new Map<NodeDraft, Question[]>();
  for (const question of open) {
    const asked = bySource.get(question.source);
    if (asked === undefined) bySource.set(question.source, [question]);
    else asked.push(question);
  }
  if (bySource.size === 0) return;
  const sources = [...bySource.keys()];
  const positions = new Map(order.map((node, index) => [node.id, index]));
  const predecessors = order.map((node) => node.incoming.map((edge) => positions.get(edge.source.id) ?? 0));
  for (let from = 0; from < sources.length; from += BITS) {
    yield;
    const block = sources.slice(from, from + BITS);
    const before = reachability(block, positions, predecessors);
    for (const [bit, source] of block.entries()) {
      for (const { target, refuse } of bySource.get(source) ?? []) {
        const reached = before[positions.get(target.id) ?? 0] ?? 0;
        if ((reached & (1 << bit)) === 0) refuse();
      }
    }
  }
}

/** For each node, by position in the order, which of the block's sources lead to it. */
function reachability(
  block: readonly NodeDraft[],
  positions: ReadonlyMap<string, number>,
  predecessors: readonly (readonly number[])[],
): Int32Array {
  const own = new Int32Array(predecessors.length);
  for (const [bit, source] of block.entries()) {
    const position = positions.get(source.id) ?? 0;
    own[position] = (own[position] ?? 0) | (1 << bit);
  }
  const before = new Int32Array(predecessors.length);
  for (const [index, list] of predecessors.entries()) {
    let reached = 0;
    for (const previous of list) reached |= (before[previous] ?? 0) | (own[previous] ?? 0);
    before[index] = reached;
  }
  return before;
}
