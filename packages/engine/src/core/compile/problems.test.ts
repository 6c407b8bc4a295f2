import type { Json, JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import {
  compile,
  edge,
  errorsOf,
  loop,
  node,
  type Part,
  planOf,
  workflow,
} from './testing/compile-testing.ts';

describe('a definition with mistakes', () => {
  it('is refused with every mistake at once, each at its place', () => {
    const definition = workflow(
      [
        node('a'),
        node('a'),
        node('b', { typeId: 'core.nop' }),
        node('c', { config: { nmae: 'x' } }),
        node('d', { typeId: 'core.greet', config: { name: '' } }),
      ],
      [
        edge('e', 'a', 'zz'),
        edge('e', 'a', 'a'),
        edge('f', 'a', 'c', { condition: { type: 'equals', left: 'x' } }),
      ],
      {
        variables: [
          { name: 'v', type: 'string', defaultValue: 1 },
          { name: 'v', type: 'string' },
        ],
      },
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
    const messageFor = (typeId: string): string | undefined =>
      compile(workflow([node('a', { typeId })])).errors[0]?.message;

    expect(messageFor('core.nop')).toContain('"core.noop"');
    expect(messageFor('noop')).toContain('"core.noop"');
    expect(messageFor('vendor.acme.transmogrify')).toContain('no worker has served it yet');
  });

  it('has its misspelt members and its graph checked together', () => {
    const definition = {
      ...workflow([{ ...node('a'), notse: 'x' }], [edge('e', 'a', 'b')]),
      descripton: 'x',
    };

    expect(errorsOf(definition)).toEqual(
      expect.arrayContaining([
        'schema /descripton',
        'schema /nodes/0/notse',
        'unknown_node /edges/0/targetNodeId',
      ]),
    );
  });

  it('is refused when it is no definition at all', () => {
    for (const nonsense of [null, 1, 'x', [], {}, { nodes: 'x' }])
      expect(errorsOf(nonsense).length).toBeGreaterThan(0);
  });

  it('has unknown node settings refused', () => {
    expect(errorsOf(workflow([node('a', { settings: { timeout: 5 } })]))).toEqual([
      'schema /nodes/0/settings/timeout',
    ]);
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

    expect(errors.map(({ code, path }) => `${code} ${path}`).sort()).toEqual([
      'cycle /edges/1',
      'cycle /edges/4',
    ]);
    expect(errors.map(({ message }) => message).join()).toContain('a → b → c → a');
    expect(errors.map(({ message }) => message).join()).toContain('x → y → x');
  });

  it('has connections refused that name no node, or one that does not come before', () => {
    const reads = (nodeId: string): Part => ({
      inputs: { p: { type: 'connection', nodeId, outputKey: 'output' } },
    });
    const definition = workflow(
      [
        node('a'),
        node('b', reads('c')),
        node('c', reads('a')),
        node('d', reads('nope')),
        node('e', reads('e')),
        node('f', reads('a')),
      ],
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
    const reads = (nodeId: string): Part => ({
      inputs: { p: { type: 'connection', nodeId, outputKey: 'output' } },
    });
    const edges = [edge('1', 'a', 'l'), edge('2', 'l', 'z')];
    const inside = (nodeId: string): JsonObject =>
      workflow([node('a'), loop('l', ['x']), node('x', reads(nodeId)), node('z')], edges);

    expect(compile(inside('a')).errors).toEqual([]);
    expect(errorsOf(inside('z'))).toEqual(['connection_order /nodes/2/inputs/p/nodeId']);
    expect(errorsOf(inside('l'))).toEqual(['connection_order /nodes/2/inputs/p/nodeId']);
    expect(
      errorsOf(workflow([node('a'), loop('l', ['x']), node('x'), node('z', reads('x'))], edges)),
    ).toEqual(['connection_order /nodes/3/inputs/p/nodeId']);
  });

  it('has expressions refused wherever they stand', () => {
    const inputs = { p: { type: 'expression', expression: 'nope.x' } };
    const definition = workflow(
      [
        node('a', { inputs }),
        loop('l', ['b'], { while: '1 +' }),
        node('b'),
        loop('m', ['c'], { items: '(' }),
        node('c'),
      ],
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
    expect(refusals([loop('l', ['a']), loop('m', ['a', 'b']), node('a'), node('b')])).toEqual([
      'loop_body /nodes/1/config/body/0',
    ]);
    expect(refusals([loop('l', ['m']), loop('m', ['l'])])).toEqual([
      expect.stringMatching(/^loop_body \/nodes\/[01]\/config\/body$/),
    ]);
    expect(refusals([loop('l', []), node('a')])).toEqual(['node_config /nodes/0/config/body']);
    expect(refusals([loop('l', ['a'], {}), node('a')])).toEqual(['loop_control /nodes/0/config']);
    expect(refusals([loop('l', ['a'], { items: [], while: 'true' }), node('a')])).toEqual([
      'loop_control /nodes/0/config',
    ]);
    expect(refusals([loop('l', ['a', 'b']), node('a'), node('b'), node('c')], [edge('e', 'l', 'c')])).toEqual(
      ['loop_entry /nodes/0/config/body'],
    );
  });

  it('has edges refused that cross the boundary of a loop', () => {
    const nodes = [loop('l', ['a']), node('a'), node('z')];

    for (const [from, to] of [
      ['l', 'a'],
      ['a', 'z'],
      ['z', 'a'],
      ['a', 'l'],
    ] as const) {
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
    const { errors } = compile(
      workflow(Array.from({ length: 300 }, (_, index) => node(`n${index}`, { typeId: 'no.such' }))),
    );

    expect(errors).toHaveLength(201);
    expect(errors.at(-1)).toMatchObject({
      code: 'more_problems',
      message: expect.stringContaining('100 more'),
    });
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
      [
        edge('z', 'a', 'c', { triggerRule: 'any_success' }),
        edge('y', 'b', 'c', { triggerRule: 'any_failed' }),
      ],
    );

    expect(warningsOf(definition)).toEqual(['trigger_rule_conflict /edges/0/triggerRule']);
    expect(planOf(definition).nodes.get('c')?.rule).toBe('any_failed');
  });

  it('is warned about variables it reads and does not declare', () => {
    const inputs = {
      p: { type: 'variable', variableName: 'x' },
      q: { type: 'variable', variableName: 'y', optional: true },
    };

    expect(warningsOf(workflow([node('a', { inputs })]))).toEqual([
      'undeclared_variable /nodes/0/inputs/p/variableName',
    ]);
  });

  it('has each feature named once that this host does not have', () => {
    const agent = { agentId: 'core.agent', channel: 'stable' };
    const definition = workflow(
      [node('a', { agent }), node('b', { agent, credentialsRef: 'x', envelopeContract: {} })],
      [],
      {
        channels: { c: { reducer: 'append' } },
        defaults: { promptRefs: { system: 'prompt:x' } },
        metadata: { requiresCapability: 'x' },
      },
    );
    const { unsupported, warnings } = compile(definition);

    expect(unsupported).toEqual([
      'agent.channel',
      'credentialsRef',
      'envelopeContract',
      'metadata.requiresCapability',
      'promptRefs',
    ]);
    expect(warnings.filter(({ code }) => code === 'feature_unsupported')).toHaveLength(5);
  });

  it('may use a node that needs what the host lacks: it is warned, and counts as supported', () => {
    const { plan, unsupported, warnings } = compile(
      workflow([node('a', { typeId: 'conformance.requiresMissing' })]),
    );

    expect(plan).toBeDefined();
    expect(unsupported).toEqual([]);
    expect(warnings).toEqual([
      expect.objectContaining({ code: 'capability_missing', path: '/nodes/0/typeId' }),
    ]);
  });
});
