import type { Json } from '@weft/protocol';
import type { NodeDraft } from './nodes.ts';
import { pointer, type Problems } from './problems.ts';
import type { Expression, ExpressionCompiler } from './plan.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';

/** A loop and the nodes of its body, in the order in which `config.body` names them. */
export interface LoopDraft {
  readonly node: NodeDraft;
  readonly body: readonly NodeDraft[];
  readonly maxIterations: number;
  readonly items?: Expression;
  readonly while?: Expression;
}

export interface Loops {
  readonly loops: readonly LoopDraft[];
  /** The loop directly around a node; absent outside loops. */
  readonly parents: ReadonlyMap<string, NodeDraft>;
}

/** Finds out which node belongs to which loop. A node belongs to one loop at most, and no loop is inside itself. */
export function* compileLoops(
  drafts: ReadonlyMap<string, NodeDraft>,
  declaredIds: ReadonlySet<string>,
  expressionsOf: (nodeId: string) => ExpressionCompiler,
  problems: Problems,
): CooperativeTask<Loops> {
  const loops: LoopDraft[] = [];
  const parents = new Map<string, NodeDraft>();
  for (const node of drafts.values()) {
    yield;
    if (node.type.kind !== 'loop') continue;
    const body = yield* claimBody(node, { drafts, declaredIds, parents, problems });
    loops.push({ node, body, ...compileControl(node, expressionsOf(node.id), problems) });
  }
  refuseSelfContainment(loops, parents, problems);
  return { loops, parents };
}

interface BodyContext {
  readonly drafts: ReadonlyMap<string, NodeDraft>;
  readonly declaredIds: ReadonlySet<string>;
  readonly parents: Map<string, NodeDraft>;
  readonly problems: Problems;
}

function* claimBody(loop: NodeDraft, context: BodyContext): CooperativeTask<NodeDraft[]> {
  const { drafts, declaredIds, parents, problems } = context;
  const ids = loop.config['body'];
  const body: NodeDraft[] = [];
  // A body of the wrong shape was already refused by the config's schema.
  if (!Array.isArray(ids)) return body;
  for (const [position, id] of ids.entries()) {
    yield;
    const path = pointer('nodes', loop.index, 'config', 'body', position);
    const member = typeof id === 'string' ? drafts.get(id) : undefined;
    if (member === undefined) {
      if (typeof id === 'string' && !declaredIds.has(id)) {
        problems.error(path, 'loop_body', `Loop "${loop.id}" names node "${id}", which does not exist.`);
      }
    } else if (member === loop) {
      problems.error(path, 'loop_body', `Loop "${loop.id}" cannot be part of its own body; remove it.`);
    } else if (parents.has(member.id)) {
      const owner = parents.get(member.id)?.id ?? '';
      if (owner !== loop.id) {
        problems.error(
          path,
          'loop_body',
          `Node "${member.id}" is already in the body of loop "${owner}"; a node belongs to one loop.`,
        );
      }
    } else {
      parents.set(member.id, loop);
      body.push(member);
    }
  }
  return body;
}

function compileControl(
  loop: NodeDraft,
  expressions: ExpressionCompiler,
  problems: Problems,
): Pick<LoopDraft, 'maxIterations' | 'items' | 'while'> {
  const { items, while: condition, maxIterations } = loop.config;
  const place = pointer('nodes', loop.index, 'config');
  const compile = (path: string, source: string): Expression | undefined => {
    try {
      return expressions.compile(source);
    } catch (error) {
      problems.refused(`${place}${path}`, 'expression', error);
      return undefined;
    }
  };
  if ((items === undefined) === (condition === undefined)) {
    problems.error(place, 'loop_control', `Loop "${loop.id}" needs either "items" or "while", and not both.`);
  }
  const itemsExpression = items === undefined ? undefined : compileItems(items, compile);
  const whileExpression = typeof condition === 'string' ? compile('/while', condition) : undefined;
  return {
    maxIterations: typeof maxIterations === 'number' ? maxIterations : 1,
    ...(itemsExpression !== undefined && { items: itemsExpression }),
    ...(whileExpression !== undefined && { while: whileExpression }),
  };
}

/** Items are CEL that gives a list, or the list itself. */
function compileItems(
  items: Json,
  compile: (path: string, source: string) => Expression | undefined,
): Expression | undefined {
  if (Array.isArray(items)) return Object.assign(() => items, { size: 1 });
  return typeof items === 'string' ? compile('/items', items) : undefined;
}

/** Every cycle of containment is named once, at one of its loops. Such loops are taken out, so that later steps end. */
function refuseSelfContainment(
  loops: readonly LoopDraft[],
  parents: Map<string, NodeDraft>,
  problems: Problems,
): void {
  const safe = new Set<string>();
  for (const { node } of loops) {
    const way = new Set<string>();
    let at: NodeDraft | undefined = node;
    while (at !== undefined && !way.has(at.id) && !safe.has(at.id)) {
      way.add(at.id);
      at = parents.get(at.id);
    }
    if (at !== undefined && way.has(at.id)) {
      const ids = [...way].slice([...way].indexOf(at.id));
      problems.error(
        pointer('nodes', at.index, 'config', 'body'),
        'loop_body',
        `Loops contain each other: ${[...ids, at.id].map((id) => `"${id}"`).join(' is inside ')}.`,
      );
      parents.delete(at.id);
    }
    for (const id of way) safe.add(id);
  }
}
