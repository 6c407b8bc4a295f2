import { isHostError, type Json, type JsonObject } from '@weft/protocol';
import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import type { NodeType } from '../node-type.ts';
import { type CompileResult, compileWorkflow } from './compile.ts';
import { createExpressionCompiler } from './expressions.ts';
import type { Plan } from './plan.ts';

const closed = { additionalProperties: false } as const;

function pure(typeId: string, config = Type.Object({}, closed), rest: Partial<NodeType> = {}): NodeType {
  const base = { kind: 'pure', typeId, title: typeId, summary: typeId, config, run: () => ({ outputs: {} }) } as const;
  return { ...base, ...rest } as NodeType;
}

const NODE_TYPES: ReadonlyMap<string, NodeType> = new Map(
  [
    pure('core.noop'),
    pure('core.greet', Type.Object({ name: Type.Optional(Type.String()) }, closed), {
      prepare: (config, tools) => {
        if (config['name'] === 'nobody') tools.refuse('/name', 'Greet somebody.');
        return { prepared: config['name'] ?? null };
      },
    }),
    pure('conformance.requiresMissing', Type.Object({}, closed), { requires: ['conformance.never-provided'] }),
    {
      kind: 'loop',
      typeId: 'core.loop',
      title: 'Loop',
      summary: 'Loop',
      config: Type.Object(
        {
          body: Type.Array(Type.String(), { minItems: 1, uniqueItems: true }),
          items: Type.Optional(Type.Unknown()),
          while: Type.Optional(Type.String()),
          maxIterations: Type.Integer({ minimum: 1 }),
        },
        closed,
      ),
    } satisfies NodeType,
  ].map((type) => [type.typeId, type]),
);

type Part = Record<string, Json>;

function node(id: string, rest: Part = {}): JsonObject {
  return { id, typeId: 'core.noop', name: id, position: { x: 0, y: 0 }, config: {}, inputs: {}, ...rest };
}

function loop(id: string, body: string[], rest: Part = { items: '[1, 2]' }): JsonObject {
  return node(id, { typeId: 'core.loop', config: { body, maxIterations: 10, ...rest } });
}

function edge(id: string, from: string, to: string, rest: Part = {}): JsonObject {
  return { id, sourceNodeId: from, targetNodeId: to, ...rest };
}

function workflow(nodes: Json[], edges: Json[] = [], rest: Part = {}): JsonObject {
  const empty = { triggers: [], variables: [], metadata: {}, settings: {} };
  return { id: 'w', name: 'W', version: '1', nodes, edges, ...empty, ...rest };
}

function compile(definition: unknown, options: { maxNodes?: number } = {}): CompileResult {
  return compileWorkflow(definition, {
    digest: 'abc',
    nodeTypes: NODE_TYPES,
    expressions: createExpressionCompiler(),
    maxNodes: options.maxNodes ?? 20_000,
    maskingDefault: 'mask',
    runtimeCapabilities: new Set(),
  });
}

function planOf(definition: JsonObject): Plan {
  const { plan, errors } = compile(definition);
  if (plan === undefined) throw new Error(JSON.stringify(errors));
  return plan;
}

/** `code path` of every error. */
function errorsOf(definition: unknown): string[] {
  const { errors, plan } = compile(definition);
  expect(plan).toBeUndefined();
  return errors.map(({ code, path }) => `${code} ${path}`);
}

const ids = (nodes: readonly { readonly id: string }[]): string[] => nodes.map(({ id }) => id);

describe('a plan', () => {
  it('resolves edges to objects and orders nodes by id', () => {
    const plan = planOf(
      workflow(
        [node('c'), node('a'), node('b')],
        [edge('e2', 'a', 'c', { sourceOutput: 'left', targetInput: 'x' }), edge('e1', 'b', 'c')],
      ),
    );
    const [first, second] = plan.nodes.get('c')?.incoming ?? [];

    expect(ids(plan.root.nodes)).toEqual(['a', 'b', 'c']);
    expect(ids(plan.root.sources)).toEqual(['a', 'b']);
    expect(ids(plan.root.terminals)).toEqual(['c']);
    expect(first).toMatchObject({ id: 'e1', sourcePort: 'output', sourcePortNamed: false, targetPort: 'input' });
    expect(second).toMatchObject({ id: 'e2', sourcePort: 'left', sourcePortNamed: true, targetPort: 'x' });
    expect(first?.source).toBe(plan.nodes.get('b'));
    expect(plan.nodes.get('c')?.scope).toBe(plan.root);
    expect(plan.digest).toBe('abc');
  });

  it('has the defaults of settings, and what the definition says instead', () => {
    const settings = { timeoutMs: 5, retry: { maxAttempts: 2, jitter: 0.5 }, onUnknownOutcome: 'fail' };
    const plan = planOf(workflow([node('a'), node('b', { settings })], [], { settings: { maxRetries: 3 } }));

    expect(plan.nodes.get('a')?.settings).toEqual({
      timeoutMs: 0,
      onUnknownOutcome: 'repeat',
      retry: { maxAttempts: 4, initialMs: 1000, factor: 2, maxMs: 60_000, jitter: 0, never: [] },
    });
    expect(plan.nodes.get('b')?.settings).toMatchObject({
      timeoutMs: 5,
      onUnknownOutcome: 'fail',
      retry: { maxAttempts: 2, jitter: 0.5, initialMs: 1000 },
    });
  });

  it('chains nodes in the order they are written when there is no edge at all', () => {
    const plan = planOf(workflow([node('b'), loop('l', ['y', 'x']), node('x'), node('a'), node('y')]));

    expect(ids(plan.root.sources)).toEqual(['b']);
    expect(plan.nodes.get('l')?.incoming[0]).toMatchObject({ id: '#0', sourcePortNamed: false });
    expect(plan.nodes.get('a')?.incoming[0]?.source.id).toBe('l');
    expect(plan.nodes.get('x')?.incoming[0]?.source.id).toBe('y');
    expect(ids(plan.nodes.get('l')?.loop?.body.sources ?? [])).toEqual(['y']);
  });

  it('adds no edge of its own as soon as there is one', () => {
    const plan = planOf(workflow([node('a'), node('b'), node('c')], [edge('e', 'a', 'b')]));

    expect(ids(plan.root.sources)).toEqual(['a', 'c']);
  });

  it('nests scopes for loops inside loops', () => {
    const plan = planOf(
      workflow(
        [loop('outer', ['inner', 'a']), loop('inner', ['b'], { while: 'index < 3' }), node('a'), node('b')],
        [edge('e', 'a', 'inner')],
      ),
    );
    const outer = plan.nodes.get('outer');
    const inner = plan.nodes.get('inner');

    expect(ids(plan.root.nodes)).toEqual(['outer']);
    expect(ids(outer?.loop?.body.nodes ?? [])).toEqual(['a', 'inner']);
    expect(inner?.scope.loop).toBe(outer);
    expect(inner?.loop?.items).toBeUndefined();
    expect(inner?.loop?.while?.({ index: 2 })).toBe(true);
    expect(outer?.loop?.items?.({})).toEqual([1, 2]);
  });

  it('takes loop items as a list and as CEL', () => {
    for (const items of [[1, 'x'], '[1, "x"]']) {
      const plan = planOf(workflow([loop('l', ['a'], { items }), node('a')]));

      expect(plan.nodes.get('l')?.loop?.items?.({})).toEqual([1, 'x']);
    }
  });

  it('holds variables, masking, sensitive ports, disabled nodes and what prepare returned', () => {
    const plan = planOf(
      workflow(
        [node('a', { typeId: 'core.greet', config: { name: 'Ada' }, outputSensitivity: { p: true, q: false }, disabled: true })],
        [],
        {
          variables: [{ name: 'v', type: 'number', defaultValue: 1, sensitive: true }],
          metadata: { complianceConfig: { maskingMode: 'hash' } },
        },
      ),
    );

    expect(plan.variables.get('v')).toEqual({ name: 'v', type: 'number', required: false, sensitive: true, defaultValue: 1 });
    expect(plan.maskingMode).toBe('hash');
    expect([...(plan.nodes.get('a')?.sensitivePorts ?? [])]).toEqual(['p']);
    expect(plan.nodes.get('a')).toMatchObject({ disabled: true, prepared: { prepared: 'Ada' } });
    expect(planOf(workflow([node('a')])).maskingMode).toBe('mask');
  });

  it('compiles ports of every kind', () => {
    const inputs = {
      s: { type: 'static', value: [1] },
      e: { type: 'expression', expression: 'inputs.x + 1' },
      c: { type: 'connection', nodeId: 'a', outputKey: 'output' },
      v: { type: 'variable', variableName: 'v', optional: true },
    };
    const ports = planOf(workflow([node('a'), node('b', { inputs })])).nodes.get('b')?.ports ?? [];
    const expression = ports.find((port) => port.from === 'expression');

    expect(ports.map(({ name, from }) => `${name} ${from}`)).toEqual(['s static', 'e expression', 'c connection', 'v variable']);
    expect(expression?.from === 'expression' && expression.expression({ inputs: { x: 1 } })).toBe(2);
  });

  it('checks the configurable of a run, leaving this host’s own keys aside', () => {
    const schema = { type: 'object', additionalProperties: false, properties: { recursionLimit: { type: 'integer' } } };
    const plan = planOf(workflow([node('a')], [], { configurableSchema: schema }));

    plan.checkConfigurable({ recursionLimit: 3, 'weft.workflowVersion': '1' });

    expect(() => plan.checkConfigurable({ recursionLimit: 'x' })).toThrow(
      expect.toSatisfy((error) => isHostError(error, 'validation_error') && error.message.includes('/recursionLimit')),
    );
    planOf(workflow([node('a')])).checkConfigurable({ anything: 1 });
  });

  it('of a chain of 20,000 nodes, each reading the one before the last, takes time in proportion', () => {
    const chainOf = (count: number): JsonObject => {
      const reads = (index: number): Part => ({ x: { type: 'connection', nodeId: `n${index}`, outputKey: 'output' } });
      const nodes = Array.from({ length: count }, (_, at) => node(`n${at}`, at < 2 ? {} : { inputs: reads(at - 2) }));
      return workflow(nodes, nodes.slice(1).map((_, at) => edge(`e${at}`, `n${at}`, `n${at + 1}`)));
    };
    const definition = chainOf(20_000);
    const startedAt = performance.now();

    const plan = planOf(definition);

    expect(plan.root.nodes).toHaveLength(20_000);
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });
});

describe('a definition with mistakes', () => {
  it('is refused with every mistake at once, each at its place', () => {
    const definition = workflow(
      [
        node('a'),
        node('a'),
        node('b', { typeId: 'core.nop' }),
        node('c', { config: { nmae: 'x' } }),
        node('d', { typeId: 'core.greet', config: { name: 'nobody' } }),
      ],
      [edge('e', 'a', 'zz'), edge('e', 'a', 'a'), edge('f', 'a', 'c', { condition: { type: 'equals', left: 'x' } })],
      { variables: [{ name: 'v', type: 'string', defaultValue: 1 }, { name: 'v', type: 'string' }] },
    );

    expect(errorsOf(definition)).toEqual([
      'variable_type /variables/0/defaultValue',
      'duplicate_variable /variables/1/name',
      'duplicate_node /nodes/1/id',
      'unknown_node_type /nodes/2/typeId',
      'node_config /nodes/3/config/nmae',
      'node_config /nodes/4/config/name',
      'unknown_node /edges/0/targetNodeId',
      'duplicate_edge /edges/1/id',
      'self_edge /edges/1',
      'condition /edges/2/condition/right',
    ]);
  });

  it('learns which node type was probably meant', () => {
    const messageFor = (typeId: string): string | undefined => compile(workflow([node('a', { typeId })])).errors[0]?.message;

    expect(messageFor('core.nop')).toContain('"core.noop"');
    expect(messageFor('noop')).toContain('"core.noop"');
    expect(messageFor('vendor.acme.transmogrify')).toContain('list of node types');
  });

  it('has its misspelt members and its graph checked together', () => {
    const definition = { ...workflow([{ ...node('a'), notse: 'x' }], [edge('e', 'a', 'b')]), descripton: 'x' };

    expect(errorsOf(definition)).toEqual(
      expect.arrayContaining(['schema /descripton', 'schema /nodes/0/notse', 'unknown_node /edges/0/targetNodeId']),
    );
  });

  it('is refused when it is no definition at all', () => {
    for (const nonsense of [null, 1, 'x', [], {}, { nodes: 'x' }]) expect(errorsOf(nonsense).length).toBeGreaterThan(0);
  });

  it('has unknown node settings refused', () => {
    expect(errorsOf(workflow([node('a', { settings: { timeout: 5 } })]))).toEqual(['schema /nodes/0/settings/timeout']);
  });

  it('has every cycle named', () => {
    const nodes = ['a', 'b', 'c', 'x', 'y', 'z'].map((id) => node(id));
    const { errors } = compile(
      workflow(nodes, [
        edge('1', 'b', 'c'),
        edge('2', 'c', 'a'),
        edge('3', 'a', 'b'),
        edge('4', 'x', 'y'),
        edge('5', 'y', 'x'),
        edge('6', 'a', 'z'),
      ]),
    );

    expect(errors.map(({ code, path }) => `${code} ${path}`).sort()).toEqual(['cycle /edges/1', 'cycle /edges/4']);
    expect(errors.map(({ message }) => message).join()).toContain('a → b → c → a');
    expect(errors.map(({ message }) => message).join()).toContain('x → y → x');
  });

  it('has connections refused that name no node, or one that does not come before', () => {
    const reads = (nodeId: string): Part => ({ inputs: { p: { type: 'connection', nodeId, outputKey: 'output' } } });
    const definition = workflow(
      [node('a'), node('b', reads('c')), node('c', reads('a')), node('d', reads('nope')), node('e', reads('e')), node('f', reads('a'))],
      [edge('1', 'a', 'b'), edge('2', 'b', 'c')],
    );

    expect(errorsOf(definition)).toEqual([
      'unknown_node /nodes/3/inputs/p/nodeId',
      'connection_order /nodes/4/inputs/p/nodeId',
      'connection_order /nodes/1/inputs/p/nodeId',
      'connection_order /nodes/5/inputs/p/nodeId',
    ]);
  });

  it('may connect from inside a loop to what comes before the loop, and not the other way round', () => {
    const reads = (nodeId: string): Part => ({ inputs: { p: { type: 'connection', nodeId, outputKey: 'output' } } });
    const edges = [edge('1', 'a', 'l'), edge('2', 'l', 'z')];
    const inside = (nodeId: string): JsonObject => workflow([node('a'), loop('l', ['x']), node('x', reads(nodeId)), node('z')], edges);

    expect(compile(inside('a')).errors).toEqual([]);
    expect(errorsOf(inside('z'))).toEqual(['connection_order /nodes/2/inputs/p/nodeId']);
    expect(errorsOf(inside('l'))).toEqual(['connection_order /nodes/2/inputs/p/nodeId']);
    expect(errorsOf(workflow([node('a'), loop('l', ['x']), node('x'), node('z', reads('x'))], edges))).toEqual([
      'connection_order /nodes/3/inputs/p/nodeId',
    ]);
  });

  it('has expressions refused wherever they stand', () => {
    const inputs = { p: { type: 'expression', expression: 'nope.x' } };
    const definition = workflow(
      [node('a', { inputs }), loop('l', ['b'], { while: '1 +' }), node('b'), loop('m', ['c'], { items: '(' }), node('c')],
      [edge('e', 'a', 'l', { condition: { expression: 'x' } })],
    );

    expect(errorsOf(definition).sort()).toEqual([
      'condition /edges/0/condition/expression',
      'expression /nodes/0/inputs/p/expression',
      'expression /nodes/1/config/while',
      'expression /nodes/3/config/items',
    ]);
  });

  it('has loops refused whose bodies make no sense', () => {
    const refusals = (nodes: Json[], edges: Json[] = []): string[] => errorsOf(workflow(nodes, edges));

    expect(refusals([loop('l', ['a', 'nope']), node('a')])).toEqual(['loop_body /nodes/0/config/body/1']);
    expect(refusals([loop('l', ['l', 'a']), node('a')])).toEqual(['loop_body /nodes/0/config/body/0']);
    expect(refusals([loop('l', ['a']), loop('m', ['a', 'b']), node('a'), node('b')])).toEqual(['loop_body /nodes/1/config/body/0']);
    expect(refusals([loop('l', ['m']), loop('m', ['l'])])).toEqual([expect.stringMatching(/^loop_body \/nodes\/[01]\/config\/body$/)]);
    expect(refusals([loop('l', []), node('a')])).toEqual(['node_config /nodes/0/config/body']);
    expect(refusals([loop('l', ['a'], {}), node('a')])).toEqual(['loop_control /nodes/0/config']);
    expect(refusals([loop('l', ['a'], { items: [], while: 'true' }), node('a')])).toEqual(['loop_control /nodes/0/config']);
    expect(refusals([loop('l', ['a', 'b']), node('a'), node('b'), node('c')], [edge('e', 'l', 'c')])).toEqual([
      'loop_entry /nodes/0/config/body',
    ]);
  });

  it('has edges refused that cross the boundary of a loop', () => {
    const nodes = [loop('l', ['a']), node('a'), node('z')];

    for (const [from, to] of [['l', 'a'], ['a', 'z'], ['z', 'a'], ['a', 'l']] as const) {
      expect(errorsOf(workflow(nodes, [edge('e', from, to)]))).toEqual(['edge_crosses_loop /edges/0']);
    }
  });

  it('has too many nodes refused', () => {
    const { errors } = compile(workflow([node('a'), node('b'), node('c')]), { maxNodes: 2 });

    expect(errors).toEqual([expect.objectContaining({ code: 'too_many_nodes', path: '/nodes' })]);
  });

  it('has an unusable configurable schema refused', () => {
    const schema = { type: 'object', properties: { a: { $ref: 'https://example.org/x' } } };

    expect(errorsOf(workflow([node('a')], [], { configurableSchema: schema }))).toEqual([
      'configurable_schema /configurableSchema/properties/a/$ref',
    ]);
  });

  it('lists a long row of mistakes only in part, and says so', () => {
    const { errors } = compile(workflow(Array.from({ length: 300 }, (_, index) => node(`n${index}`, { typeId: 'no.such' }))));

    expect(errors).toHaveLength(201);
    expect(errors.at(-1)).toMatchObject({ code: 'more_problems', message: expect.stringContaining('100 more') });
  });
});

describe('a doubtful definition', () => {
  const warningsOf = (definition: JsonObject): string[] => {
    const { warnings, plan } = compile(definition);
    expect(plan).toBeDefined();
    return warnings.map(({ code, path }) => `${code} ${path}`);
  };

  it('is warned about triggers that will not fire', () => {
    const triggers = [
      { id: 'm', type: 'manual' },
      { id: 's', type: 'schedule' },
      { id: 'w', type: 'webhook', enabled: false },
    ];

    expect(warningsOf(workflow([node('a')], [], { triggers }))).toEqual(['trigger_not_served /triggers/1']);
  });

  it('is warned when edges disagree on the trigger rule, and the first by id decides', () => {
    const definition = workflow(
      [node('a'), node('b'), node('c')],
      [edge('z', 'a', 'c', { triggerRule: 'any_success' }), edge('y', 'b', 'c', { triggerRule: 'any_failed' })],
    );

    expect(warningsOf(definition)).toEqual(['trigger_rule_conflict /edges/0/triggerRule']);
    expect(planOf(definition).nodes.get('c')?.rule).toBe('any_failed');
  });

  it('is warned about variables it reads and does not declare', () => {
    const inputs = {
      p: { type: 'variable', variableName: 'x' },
      q: { type: 'variable', variableName: 'y', optional: true },
    };

    expect(warningsOf(workflow([node('a', { inputs })]))).toEqual(['undeclared_variable /nodes/0/inputs/p/variableName']);
  });

  it('has each feature named once that this host does not have', () => {
    const agent = { agentId: 'core.agent' };
    const definition = workflow([node('a', { agent }), node('b', { agent, credentialsRef: 'x', envelopeContract: {} })], [], {
      channels: { c: { reducer: 'append' } },
      defaults: { promptRefs: { system: 'prompt:x' } },
      metadata: { requiresCapability: 'x' },
    });
    const { unsupported, warnings } = compile(definition);

    expect(unsupported).toEqual(['agent', 'channels', 'credentialsRef', 'envelopeContract', 'metadata.requiresCapability', 'promptRefs']);
    expect(warnings.filter(({ code }) => code === 'feature_unsupported')).toHaveLength(6);
  });

  it('may use a node that needs what the host lacks: it is warned, and counts as supported', () => {
    const { plan, unsupported, warnings } = compile(workflow([node('a', { typeId: 'conformance.requiresMissing' })]));

    expect(plan).toBeDefined();
    expect(unsupported).toEqual([]);
    expect(warnings).toEqual([expect.objectContaining({ code: 'capability_missing', path: '/nodes/0/typeId' })]);
  });
});
