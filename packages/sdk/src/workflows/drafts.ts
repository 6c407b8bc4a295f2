import type { JsonObject, WorkflowDefinition } from '@weft/protocol/plain';
import { BRANCHES } from './builtin-types.ts';
import type { EdgeOptions } from './define-workflow.ts';
import type { ElsewhereOptions, NodeHandle } from './node-types.ts';
import { type Ref, sourceOf } from './references.ts';

type Edge = WorkflowDefinition['edges'][number];
type PortValue = WorkflowDefinition['nodes'][number]['inputs'][string];

/** The nodes and edges of a workflow while it is written. */
export interface Drafts {
  add(id: string, typeId: string, options: ElsewhereOptions): void;
  /** What `body` adds belongs to the loop. */
  addLoop(id: string, options: ElsewhereOptions, body: () => void): void;
  connect(from: Pick<NodeHandle, 'id'> | Ref, to: string, options: EdgeOptions): void;
  finish(): { readonly nodes: readonly object[]; readonly edges: readonly Edge[] };
}

interface Draft {
  readonly id: string;
  readonly typeId: string;
  readonly options: ElsewhereOptions;
  /** The loop around it. */
  readonly loop: Draft | undefined;
  readonly body: string[];
}

/** A node takes an output of another one. */
interface Use {
  readonly source: Draft;
  readonly port: string;
  readonly target: Draft;
  readonly input: string;
}

type Written = Omit<Edge, 'id'>;

export function createDrafts(): Drafts {
  const drafts = new Map<string, Draft>();
  const written: Written[] = [];
  let loop: Draft | undefined;

  function add(id: string, typeId: string, options: ElsewhereOptions): Draft {
    if (drafts.has(id)) throw new Error(`Node id "${id}" is used twice; give each node its own.`);
    const draft: Draft = { id, typeId, options, loop, body: [] };
    drafts.set(id, draft);
    loop?.body.push(id);
    return draft;
  }

  function known(id: string): Draft {
    const draft = drafts.get(id);
    if (draft === undefined) throw new Error(`Node "${id}" does not belong to this workflow.`);
    return draft;
  }

  function usesOf(target: Draft): Use[] {
    return Object.entries(target.options.inputs ?? {}).flatMap(([input, value]) => {
      const source = sourceOf(value);
      return source?.from === 'output'
        ? [{ source: known(source.nodeId), port: source.port, target, input }]
        : [];
    });
  }

  return {
    add,
    addLoop(id, options, body) {
      const draft = add(id, 'core.loop', options);
      const around = loop;
      loop = draft;
      try {
        body();
      } finally {
        loop = around;
      }
    },
    connect(from, to, { when, label }) {
      const source = sourceOf(from);
      const sourceNodeId = source?.from === 'output' ? source.nodeId : (from as Pick<NodeHandle, 'id'>).id;
      known(sourceNodeId);
      known(to);
      written.push({
        sourceNodeId,
        ...(source?.from === 'output' && { sourceOutput: source.port }),
        targetNodeId: to,
        ...(when !== undefined && {
          condition: typeof when === 'string' ? { type: 'expression' as const, expression: when } : when,
        }),
        ...(label !== undefined && { label }),
      });
    },
    finish() {
      const uses = [...drafts.values()].flatMap(usesOf);
      const carried = carriedUses(uses, written);
      const edges = [...written, ...[...carried].map(edgeOf)];
      return {
        nodes: [...drafts.values()].map((draft) => nodeOf(draft, uses, carried)),
        edges: edges.map((edge, index) => {
          const { join } = known(edge.targetNodeId).options;
          return { id: `e${index + 1}`, ...edge, ...(join !== undefined && { triggerRule: join }) };
        }),
      };
    },
  };
}

/**
 * Which outputs travel by an edge of their own: those of branches, always, because the edge decides whether the node runs; and of
 * others the first, where nothing else says that the node comes after their source. The rest are read when the node starts.
 */
function carriedUses(uses: readonly Use[], written: readonly Written[]): ReadonlySet<Use> {
  const carried = new Set<Use>();
  const pairs = new Map<string, readonly [string, string]>();
  for (const use of uses) {
    const [source, target] = siblings(use);
    if (source === use.source.id && target === use.target.id && isBranch(use)) carried.add(use);
    pairs.set(`${source} ${target}`, [source, target]);
  }
  const direct = new Set([
    ...written.map(({ sourceNodeId, targetNodeId }) => `${sourceNodeId} ${targetNodeId}`),
    ...[...carried].map(({ source, target }) => `${source.id} ${target.id}`),
  ]);
  const next = new Map<string, string[]>();
  for (const pair of [...pairs.keys(), ...direct]) {
    const [source = '', target = ''] = pair.split(' ');
    next.set(source, [...(next.get(source) ?? []), target]);
  }
  for (const [pair, [source, target]] of pairs) {
    if (direct.has(pair) || leadsElsewhere(next, source, target)) continue;
    const first = uses.find((use) => siblings(use).join(' ') === pair);
    if (first !== undefined) carried.add(first);
  }
  return carried;
}

function isBranch({ source, port }: Use): boolean {
  return BRANCHES[source.typeId]?.includes(port) === true;
}

/** The two nodes between which an edge may lead: the source, and the target or the loop around it that is in the same body as the source. */
function siblings({ source, target }: Use): readonly [string, string] {
  let at: Draft | undefined = target;
  while (at !== undefined && at.loop !== source.loop) at = at.loop;
  if (at === undefined || at === source)
    throw new Error(
      `Node "${target.id}" takes an output of "${source.id}", which is inside a loop; take it from the loop.`,
    );
  return [source.id, at.id];
}

/** Whether a way leads from one node to another by way of a third. */
function leadsElsewhere(next: ReadonlyMap<string, readonly string[]>, from: string, to: string): boolean {
  const reached = new Set((next.get(from) ?? []).filter((id) => id !== to));
  for (const at of reached) for (const id of next.get(at) ?? []) reached.add(id);
  return reached.has(to);
}

function edgeOf(use: Use): Written {
  const [sourceNodeId, targetNodeId] = siblings(use);
  const isDirect = targetNodeId === use.target.id;
  return {
    sourceNodeId,
    ...(isDirect && { sourceOutput: use.port }),
    targetNodeId,
    ...(isDirect && { targetInput: use.input }),
  };
}

function nodeOf(draft: Draft, uses: readonly Use[], carried: ReadonlySet<Use>): object {
  const { id, typeId, options, body } = draft;
  const { config = {}, inputs = {}, join: _, ...rest } = options;
  const byEdge = new Set(
    uses
      .filter((use) => use.target === draft && carried.has(use) && siblings(use)[1] === id)
      .map(({ input }) => input),
  );
  const declared = Object.entries(inputs).filter(
    ([input, value]) => value !== undefined && !byEdge.has(input),
  );
  return {
    id,
    typeId,
    ...rest,
    config: body.length > 0 ? { ...config, body: [...body] } : config,
    inputs: Object.fromEntries(declared.map(([input, value]) => [input, portOf(value)])),
  };
}

function portOf(value: unknown): PortValue {
  const source = sourceOf(value);
  if (source === undefined) return { type: 'static', value: value as JsonObject };
  if (source.from === 'value') return source.value;
  return { type: 'connection', nodeId: source.nodeId, outputKey: source.port };
}
