import { isJsonObject } from '@weft/protocol/plain';
import type { WorkflowDefinition } from '@weft/sdk';
import { controlsShown } from '../ui/shown-text.ts';
import { foldChains } from './fold-chains.ts';

/**
 * What is drawn of a workflow: its nodes and edges. A loop is one box until it is opened, and then a frame around its body; above a number of boxes,
 * those in a row become one, and what is too large even then is a list, so that a layout never takes long.
 */
export interface GraphModel {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** Every node with a box of its own, before any are drawn together. */
  readonly all: readonly GraphNode[];
  /** Nodes that are drawn together with others although no one has folded them. */
  readonly folded: number;
  /** False where it has too many boxes or lines even so: then it is a list of its nodes. */
  readonly isDrawable: boolean;
}

export interface GraphNode {
  readonly id: string;
  readonly label: string;
  readonly typeId: string;
  /** Ids of the nodes that it stands for. */
  readonly members: readonly string[];
  /** Of a loop: whether its body is drawn, as a frame around it. */
  readonly loop?: 'open' | 'closed';
  /** The frame that it is drawn in. */
  readonly frame?: string;
}

export interface GraphEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly label?: string;
}

/** Above this a graph is not readable, and its layout takes too long. */
const MAX_DRAWN = 500;
const MAX_LINES = 2_000;

type Definition = Pick<WorkflowDefinition, 'nodes' | 'edges'>;

/** `opened` are the ids of loops whose bodies are drawn. */
export function graphOf({ nodes, edges }: Definition, opened: ReadonlySet<string> = new Set()): GraphModel {
  const { loopOf, bodies } = loopsOf(nodes);
  const shownAs = (id: string): string => {
    const closed = outwards(id, loopOf).findLast((loop) => !opened.has(loop));
    return closed ?? id;
  };
  const drawn = nodes
    .filter(({ id }) => shownAs(id) === id)
    .map(({ id, name, typeId }): GraphNode => {
      const isLoop = bodies.has(id);
      const isOpen = isLoop && opened.has(id);
      const frame = loopOf.get(id);
      return {
        id,
        label: controlsShown(name === '' ? id : name),
        typeId,
        members: isLoop && !isOpen ? [id, ...inside(id, bodies)] : [id],
        ...(isLoop && { loop: isOpen ? 'open' : 'closed' }),
        ...(frame !== undefined && { frame }),
      };
    });
  const known = new Set(nodes.map(({ id }) => id));
  const whole = { nodes: drawn, edges: edgesBetween(edges, known, shownAs) };
  const folded = drawn.length <= MAX_DRAWN ? whole : foldChains(whole);
  return {
    ...folded,
    all: drawn,
    folded: drawn.length - folded.nodes.length,
    isDrawable: folded.nodes.length <= MAX_DRAWN && folded.edges.length <= MAX_LINES,
  };
}

interface Loops {
  /** By the id of a node: the loop whose body it belongs to. */
  readonly loopOf: ReadonlyMap<string, string>;
  readonly bodies: ReadonlyMap<string, readonly string[]>;
}

function loopsOf(nodes: Definition['nodes']): Loops {
  const known = new Set(nodes.map(({ id }) => id));
  const loopOf = new Map<string, string>();
  const bodies = new Map<string, readonly string[]>();
  for (const { id, typeId, config } of nodes) {
    const named = typeId === 'core.loop' && isJsonObject(config) ? config['body'] : undefined;
    if (!Array.isArray(named)) continue;
    const body = named
      .filter((each) => typeof each === 'string')
      .filter((each) => known.has(each) && each !== id && !loopOf.has(each));
    if (body.length > 0) bodies.set(id, body);
    for (const each of body) loopOf.set(each, id);
  }
  return { loopOf, bodies };
}

/** The loops around a node, the innermost first. A definition that nests loops in a circle is refused by hosts; here it must only end. */
function outwards(id: string, loopOf: ReadonlyMap<string, string>): string[] {
  const found: string[] = [];
  for (let loop = loopOf.get(id); loop !== undefined && !found.includes(loop); loop = loopOf.get(loop))
    if (loop === id) break;
    else found.push(loop);
  return found;
}

function inside(id: string, bodies: ReadonlyMap<string, readonly string[]>): string[] {
  const found = new Set<string>(bodies.get(id));
  for (const each of found) for (const deeper of bodies.get(each) ?? []) found.add(deeper);
  found.delete(id);
  return [...found];
}

function edgesBetween(
  edges: Definition['edges'],
  known: ReadonlySet<string>,
  shownAs: (id: string) => string,
): GraphEdge[] {
  return edges
    .filter(({ sourceNodeId, targetNodeId }) => known.has(sourceNodeId) && known.has(targetNodeId))
    .map((edge) => ({ edge, source: shownAs(edge.sourceNodeId), target: shownAs(edge.targetNodeId) }))
    .filter(({ edge, source, target }) => source !== target || edge.sourceNodeId === edge.targetNodeId)
    .map(({ edge, source, target }): GraphEdge => {
      const label = edgeLabel(edge);
      return { id: edge.id, source, target, ...(label !== undefined && { label }) };
    });
}

function edgeLabel(edge: Definition['edges'][number]): string | undefined {
  if (edge.label !== undefined) return edge.label;
  if (edge.sourceOutput !== undefined && edge.sourceOutput !== 'output') return edge.sourceOutput;
  if (edge.condition !== undefined) return 'if';
  return edge.triggerRule === 'any_failed' ? 'on failure' : undefined;
}
