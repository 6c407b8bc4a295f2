import type { JsonObject } from '@weft/protocol';
import fc from 'fast-check';
import { type EdgeSpec, edge, type NodeSpec, node, type WorkflowSpec } from './definitions.ts';

/**
 * Workflows that are graphs, not lines: branches, joins under every rule, conditions of every form, failures, retries,
 * delays, variables, loops (also nested), disabled nodes, nodes that work in steps, children, dispatch loops (also inside loops) and conversations.
 */
export function arbitraryWorkflow(): fc.Arbitrary<WorkflowSpec> {
  return fc
    .integer({ min: 1, max: 9 })
    .chain((size) =>
      fc.record({
        kinds: fc.array(arbitraryKind(), { minLength: size, maxLength: size }),
        links: fc.array(arbitraryLink(size), { maxLength: size === 1 ? 0 : size * 2 }),
        rules: fc.array(fc.constantFrom(...RULES), { minLength: size, maxLength: size }),
      }),
    )
    .map(({ kinds, links, rules }) => build(kinds, links, rules));
}

/** What a definition contains, for showing that the generator reaches it. */
export function features(spec: WorkflowSpec): string[] {
  const found = new Set<string>();
  const incoming = new Map<string, number>();
  const outgoing = new Map<string, number>();
  for (const { from, to, condition, sourceOutput, rule } of spec.edges ?? []) {
    incoming.set(to, (incoming.get(to) ?? 0) + 1);
    outgoing.set(from, (outgoing.get(from) ?? 0) + 1);
    if (condition !== undefined) found.add(`condition ${String(condition['type'])}`);
    if (sourceOutput === 'true' || sourceOutput === 'false') found.add('branch');
    if (rule !== undefined) found.add(`rule ${rule}`);
  }
  if ([...incoming.values()].some((count) => count > 1)) found.add('join');
  if ([...outgoing.values()].some((count) => count > 1)) found.add('fan-out');
  for (const entry of spec.nodes) {
    found.add(entry.typeId ?? 'core.noop');
    if (entry.settings?.['retry'] !== undefined) found.add('retry');
    if (entry.disabled === true) found.add('disabled');
    if (entry.id.startsWith('inner')) found.add('nested loop');
    if (entry.id.endsWith('-mid')) found.add('node on a cycle');
    if (entry.id.endsWith('-sup')) found.add('cycle in a loop');
    if (entry.config?.['onChildFailure'] === 'absorb') found.add('absorbed child');
    if (entry.config?.['propagateCancellation'] === false) found.add('child on its own');
  }
  return [...found];
}

const RULES = [
  'all_success',
  'all_success',
  'any_success',
  'all_complete',
  'none_failed',
  'any_failed',
] as const;

/** Of `test.steps`. */
const CHILD_ROUND = 9;

type Kind =
  | { kind: 'noop' | 'conditional' | 'fail' | 'set' | 'disabled' | 'nested' }
  | { kind: 'effect'; attempts: number }
  | { kind: 'steps'; rounds: number[]; attempts: number; absorbs: boolean }
  | { kind: 'delay'; ms: number }
  | { kind: 'gate'; timeout: boolean }
  | { kind: 'talk'; timeout: boolean; turns: number }
  | { kind: 'child'; absorb: boolean; propagate: boolean }
  | Cycle
  | { kind: 'loop'; items: number; body: number };

interface Cycle {
  kind: 'cycle';
  decisions: readonly JsonObject[];
  routing: 'conversation' | 'clarification';
  /** Bare, with a node between the two, or inside a loop. */
  form: 'bare' | 'mid' | 'each';
}

interface Link {
  from: number;
  to: number;
  condition: number;
}

function arbitraryKind(): fc.Arbitrary<Kind> {
  return fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('effect' as const),
        attempts: fc.integer({ min: 1, max: 3 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('steps' as const),
        rounds: fc.array(fc.constantFrom(0, 1, 2, 3, 5, CHILD_ROUND), { maxLength: 4 }),
        attempts: fc.integer({ min: 1, max: 3 }),
        absorbs: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('delay' as const), ms: fc.integer({ min: 0, max: 50 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('gate' as const), timeout: fc.boolean() }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('loop' as const),
        items: fc.integer({ min: 0, max: 3 }),
        body: fc.integer({ min: 1, max: 2 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('talk' as const),
        timeout: fc.boolean(),
        turns: fc.integer({ min: 1, max: 3 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('child' as const),
        absorb: fc.boolean(),
        propagate: fc.boolean(),
      }),
    },
    { weight: 2, arbitrary: arbitraryCycle() },
    {
      weight: 5,
      arbitrary: fc
        .constantFrom('noop', 'conditional', 'fail', 'set', 'disabled', 'nested')
        .map((kind) => ({ kind })),
    },
  );
}

function arbitraryCycle(): fc.Arbitrary<Cycle> {
  return fc.record({
    kind: fc.constant('cycle' as const),
    decisions: fc.array(fc.constantFrom<JsonObject>(...DECISIONS), { minLength: 1, maxLength: 3 }),
    routing: fc.constantFrom('conversation', 'clarification'),
    form: fc.constantFrom('bare', 'mid', 'each'),
  });
}

const DECISIONS: readonly JsonObject[] = [
  { kind: 'next-worker', nextWorkerIds: ['worker-a'] },
  { kind: 'next-worker', nextWorkerIds: ['worker-a', 'worker-b'] },
  { kind: 'next-worker', nextWorkerIds: ['worker-b'], confidence: 0.5 },
  { kind: 'ask-user', prompt: 'Which way?' },
  { kind: 'terminate' },
];

function arbitraryLink(size: number): fc.Arbitrary<Link> {
  return fc
    .tuple(fc.nat(size - 1), fc.nat(size - 1), fc.nat(8))
    .filter(([a, b]) => a !== b)
    .map(([a, b, condition]) => ({ from: Math.min(a, b), to: Math.max(a, b), condition }));
}

function build(kinds: Kind[], links: Link[], rules: readonly string[]): WorkflowSpec {
  const nodes: NodeSpec[] = [];
  const edges: EdgeSpec[] = [];
  const idOf = (index: number): string => `n${index}`;
  const exitOf = (index: number): string => exitOfKind(idOf(index), kinds[index] as Kind);
  kinds.forEach((kind, index) => addNode(nodes, edges, idOf(index), kind));
  const seen = new Set<string>();
  for (const link of links) {
    const from = exitOf(link.from);
    const to = idOf(link.to);
    if (seen.has(`${from}>${to}`)) continue;
    seen.add(`${from}>${to}`);
    const rule = rules[link.to] as string;
    edges.push(edge(from, to, { rule, ...connection(kinds[link.from] as Kind, link.condition) }));
  }
  return {
    nodes,
    edges,
    variables: [{ name: 'flag', type: 'number', defaultValue: 0 }],
    channels: { conversation: { reducer: 'message' } },
  };
}

/** A cycle is left from the node that closes it; everything else from itself. */
function exitOfKind(id: string, kind: Kind): string {
  return kind.kind === 'cycle' && kind.form !== 'each' ? `${id}-dis` : id;
}

function connection(source: Kind, pick: number): Partial<EdgeSpec> {
  if (source.kind === 'conditional' && pick % 3 !== 0)
    return { sourceOutput: pick % 3 === 1 ? 'true' : 'false' };
  const condition = CONDITIONS[pick];
  return condition === undefined ? {} : { condition };
}

const CONDITIONS: readonly (JsonObject | undefined)[] = [
  undefined,
  undefined,
  undefined,
  { type: 'equals', left: 'output', right: 'yes' },
  { type: 'notEquals', left: 'output', right: 'yes' },
  { type: 'contains', left: 'output', right: 'y' },
  { type: 'regex', left: 'output', right: '^y' },
  { type: 'expression', expression: 'variables.flag > 0' },
  { type: 'expression', expression: 'size(nodes) > 1' },
];

function addNode(nodes: NodeSpec[], edges: EdgeSpec[], id: string, kind: Kind): void {
  switch (kind.kind) {
    case 'noop':
      return void nodes.push(node(id));
    case 'disabled':
      return void nodes.push(node(id, 'core.noop', {}, { disabled: true }));
    case 'fail':
      return void nodes.push(node(id, 'core.fail'));
    case 'set':
      return void nodes.push(
        node(id, 'core.setVariable', { name: 'flag', expression: 'variables.flag + 1' }),
      );
    case 'conditional':
      return void nodes.push(node(id, 'core.conditional', { condition: 'variables.flag > 0' }));
    case 'delay':
      return void nodes.push(node(id, 'core.delay', { ms: kind.ms }));
    case 'gate':
      return void nodes.push(
        node(id, 'core.approvalGate', { requiredApprovals: 2, ...(kind.timeout && { timeoutMs: 40 }) }),
      );
    case 'talk':
      return void nodes.push(
        node(id, 'core.conversationGate', { turnCount: kind.turns, ...(kind.timeout && { timeoutMs: 30 }) }),
      );
    case 'child':
      return void nodes.push(
        node(id, 'core.subWorkflow', {
          workflowId: 'child-workflow',
          onChildFailure: kind.absorb ? 'absorb' : 'fail-parent',
          propagateCancellation: kind.propagate,
          outputMapping: { flag: 'count' },
        }),
      );
    case 'cycle':
      return addCycle(nodes, edges, id, kind);
    case 'effect':
      return void nodes.push(
        node(
          id,
          'test.effect',
          {},
          { settings: { retry: { maxAttempts: kind.attempts, initialMs: 5, factor: 2 } } },
        ),
      );
    case 'steps':
      return void nodes.push(
        node(
          id,
          'test.steps',
          { rounds: kind.rounds, absorbs: kind.absorbs },
          { settings: { retry: { maxAttempts: kind.attempts, initialMs: 5, factor: 2 } } },
        ),
      );
    case 'loop': {
      const body = Array.from({ length: kind.body }, (_, index) => `${id}-b${index}`);
      const items = Array.from({ length: kind.items }, (_, index) => index);
      nodes.push(node(id, 'core.loop', { body, items, maxIterations: 5 }));
      for (const [index, member] of body.entries()) {
        nodes.push(
          index === 0 && kind.items === 2
            ? node(member, 'test.steps', { rounds: [2, 0, 1] })
            : node(member, index === 0 ? 'test.effect' : 'core.noop'),
        );
        if (index > 0) edges.push(edge(body[index - 1] as string, member));
      }
      return;
    }
    case 'nested': {
      nodes.push(node(id, 'core.loop', { body: [`inner-${id}`], items: [[1], [2, 3]], maxIterations: 5 }));
      nodes.push(node(`inner-${id}`, 'core.loop', { body: [`${id}-x`], items: 'item', maxIterations: 5 }));
      nodes.push(node(`${id}-x`, 'core.identity'));
      return;
    }
  }
}

function addCycle(nodes: NodeSpec[], edges: EdgeSpec[], id: string, cycle: Cycle): void {
  const { decisions, routing, form } = cycle;
  const supervisor = form === 'each' ? `${id}-sup` : id;
  const dispatch = `${id}-dis`;
  nodes.push(node(supervisor, 'core.orchestrator.supervisor', { mockDecisions: [...decisions] }));
  nodes.push(node(dispatch, 'core.dispatch', { askUserRouting: routing, outputMapping: { flag: 'count' } }));
  edges.push(edge(dispatch, supervisor));
  if (form === 'mid') {
    nodes.push(node(`${id}-mid`, 'test.effect'));
    edges.push(edge(supervisor, `${id}-mid`), edge(`${id}-mid`, dispatch));
  } else edges.push(edge(supervisor, dispatch));
  if (form !== 'each') return;
  nodes.push(node(id, 'core.loop', { body: [supervisor, dispatch], items: [1, 2], maxIterations: 5 }));
}
