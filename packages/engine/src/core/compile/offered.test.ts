import type { Json, JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { BUILTIN_NODE_TYPES } from '../../nodes/index.ts';
import { definition, edge, node, variable, type WorkflowSpec } from '../testing/definitions.ts';
import { createExpressionCompiler } from '../expressions/expressions.ts';
import { type CompileResult, compileWorkflow } from './compile.ts';

const nodeTypes = new Map(BUILTIN_NODE_TYPES.map((type) => [type.typeId, type]));

function offer(document: unknown, isOffered = true): CompileResult {
  return compileWorkflow(document, {
    digest: 'abc',
    nodeTypes,
    expressions: createExpressionCompiler(),
    maxNodes: 100,
    maskingDefault: 'mask',
    runtimeCapabilities: new Set(),
    isOffered,
    hasModels: false,
  });
}

const errorsOf = (spec: WorkflowSpec): string[] =>
  offer(definition(spec)).errors.map(({ code, path, message }) => `${code} ${path} ${message}`);

describe('a port that an edge names', () => {
  const check = (sourceOutput: string): WorkflowSpec => ({
    nodes: [node('check', 'core.conditional', { condition: 'variables.amount > 3' }), node('pay')],
    edges: [edge('check', 'pay', { sourceOutput })],
    variables: [variable('amount', { type: 'number' })],
  });

  it('must be one that the source has; the others are listed', () => {
    expect(errorsOf(check('true'))).toEqual([]);
    expect(errorsOf(check('True'))).toEqual([
      'unknown_port /edges/0/sourceOutput Edge "e000" leaves node "check" by port "True", which it does not have (it has "true", "false"); did you mean "true"?',
    ]);
  });

  it('may be wrong in a definition that is registered: its runs continue as they began', () => {
    expect(offer(definition(check('True')), false).errors).toEqual([]);
  });

  it.each<[type: string, config: JsonObject, ports: string[], not: string[]]>([
    ['core.noop', {}, [], ['output']],
    ['core.merge', {}, ['output', 'left', 'declared'], ['right']],
    ['core.identity', {}, ['left', 'declared'], ['output']],
    ['core.end', {}, ['left', 'declared'], ['output']],
    ['core.delay', { ms: 1 }, ['output', 'delayMs'], ['ms']],
    ['core.approvalGate', {}, ['output', 'action', 'comment'], ['accept', 'approved']],
    ['core.http.request', { url: 'https://a.example/' }, ['body', 'status'], ['artifact']],
    ['core.http.request', { url: 'https://a.example/', saveAs: { name: 'x' } }, ['artifact'], ['body']],
    ['core.interrupt', { kind: 'custom', data: { customKind: 'x' } }, ['anything'], []],
  ])('is computed from config and inputs: %s', (typeId, config, ports, not) => {
    const portsOf = (sourceOutput: string): string[] =>
      errorsOf({
        nodes: [
          node('a'),
          node('source', typeId, config, { inputs: { declared: { type: 'static', value: 1 } } }),
          node('b'),
        ],
        edges: [edge('a', 'source', { targetInput: 'left' }), edge('source', 'b', { sourceOutput })],
      });

    for (const port of ports) expect(portsOf(port), port).toEqual([]);
    for (const port of not) expect(portsOf(port), port).toHaveLength(1);
  });

  it('of core.start is a declared input', () => {
    const from = (sourceOutput: string): WorkflowSpec => ({
      nodes: [node('begin', 'core.start'), node('b')],
      edges: [edge('begin', 'b', { sourceOutput })],
      variables: [variable('amount')],
    });

    expect(errorsOf(from('amount'))).toEqual([]);
    expect(errorsOf(from('amonut')).join()).toContain('did you mean "amount"?');
  });

  it('is known of every type but those that put out what they are given from outside', () => {
    const open = BUILTIN_NODE_TYPES.filter(({ outputPorts }) => outputPorts === undefined);

    expect(open.map(({ typeId }) => typeId)).toEqual(['core.interrupt']);
  });
});

describe('an expression', () => {
  const condition = (text: string): WorkflowSpec => ({
    nodes: [
      node('first', 'core.setVariable', { name: 'made', value: 1 }),
      node('check', 'core.conditional', { condition: text }),
    ],
    edges: [
      edge('first', 'check', { condition: { type: 'expression', expression: 'variables.amount > 0' } }),
    ],
    variables: [variable('amount', { type: 'number' })],
  });

  it.each([
    'variables.amount > 1 && vars["amount"] < 5',
    'variables.made == 1',
    'nodes.first.output == 1',
    'inputs.input == 1',
    'has(variables.other) && variables.other == 1',
    '[1].exists(variables, variables == 1)',
  ])('may use %s', (text) => {
    expect(errorsOf(condition(text))).toEqual([]);
  });

  it.each([
    ['variables.amont > 1', 'There is no variables.amont: did you mean variables.amount?'],
    ['vars.entirely > 1', 'There is no vars.entirely: declare it under "variables".'],
    ['nodes.fist.output == 1', 'There is no nodes.fist: did you mean nodes.first?'],
    ['inputs.amount == 1', 'There is no inputs.amount: there are input.'],
    ['amount > 1', 'an expression sees'],
  ])('may not use %s', (text, message) => {
    const [error, ...others] = errorsOf(condition(text));

    expect(error).toContain(message);
    expect(error).toContain('/nodes/1/config/condition');
    expect(others).toEqual([]);
  });

  it('is checked on edges, ports and loops, too', () => {
    const errors = errorsOf({
      nodes: [
        node('a', 'core.identity', {}, { inputs: { x: { type: 'expression', expression: 'variables.b' } } }),
        node('l', 'core.loop', { body: ['in'], items: 'variables.c', maxIterations: 3 }),
        node('in', 'core.setVariable', { name: 'sum', expression: 'inputs.item + inputs.index' }),
      ],
      edges: [edge('a', 'l', { condition: { type: 'expression', expression: 'variables.d' } })],
    });

    expect(errors.map((error) => error.split(' ')[1])).toEqual([
      '/nodes/1/config/items',
      '/edges/0/condition/expression',
      '/nodes/0/inputs/x/expression',
    ]);
  });
});

describe('a placeholder in braces', () => {
  it('is refused wherever it would stay as it is', () => {
    const greet = 'Hello {{name}}';
    const errors = errorsOf({
      nodes: [
        node('a', 'core.approvalGate', { title: greet, artifactData: { deep: [greet] } }),
        node('b', 'core.identity', {}, { inputs: { text: { type: 'static', value: greet } } }),
        node('c', 'core.setVariable', { name: 'x', expression: `'${greet}'` }),
        node('d', 'core.setVariable', { name: 'x', value: 'a {b} {c}' }),
      ],
      variables: [variable('name', { defaultValue: greet })],
    });

    expect(errors.map((error) => error.split(' ').slice(0, 2).join(' '))).toEqual([
      'placeholder /nodes/0/config/title',
      'placeholder /nodes/0/config/artifactData/deep/0',
      'placeholder /nodes/1/inputs/text/value',
      'placeholder /nodes/2/config/expression',
    ]);
  });
});

describe('a definition that lacks fields', () => {
  it('is refused with everything else that is wrong, too', () => {
    const document: Record<string, Json> = {
      ...definition({
        nodes: [
          node('a', 'core.nope'),
          node('b', 'core.conditional', { condition: 'variables.x' }),
          node('c'),
          node('d'),
        ],
        edges: [edge('b', 'c', { sourceOutput: 'True' }), edge('b', 'zz'), edge('d', 'c')],
        variables: [variable('x', { type: undefined as unknown as Json })],
      }),
    };
    const [, b, c, d] = document['nodes'] as JsonObject[];
    delete document['metadata'];
    delete document['version'];
    delete b?.['position'];
    delete c?.['name'];
    delete d?.['typeId'];

    const errors = offer(JSON.parse(JSON.stringify(document))).errors.map(
      ({ code, path }) => `${code} ${path}`,
    );

    expect(errors.sort()).toEqual([
      'schema ',
      'schema ',
      'schema /nodes/1',
      'schema /nodes/2',
      'schema /nodes/3',
      'schema /variables/0',
      'unknown_node /edges/1/targetNodeId',
      'unknown_node_type /nodes/0/typeId',
      'unknown_port /edges/0/sourceOutput',
    ]);
  });

  it('says nothing twice about a node or edge that makes no sense', () => {
    const errors = offer({
      ...definition({
        nodes: [{ ...node('a'), config: 3 as unknown as JsonObject }, node('b')],
        edges: [edge('a', 'b', { sourceOutput: 'output' }), edge('b', 7 as unknown as string)],
      }),
    }).errors.map(({ path }) => path);

    expect(errors).toEqual(['/nodes/0/config', '/edges/1/targetNodeId']);
  });
});

describe('a node that asks a language model', () => {
  it('is warned of where there is none', () => {
    const { warnings } = offer(definition({ nodes: [node('ask', 'core.ai.callPrompt', { prompt: 'Hi' })] }));

    expect(warnings).toMatchObject([{ path: '/nodes/0/typeId', code: 'provider_missing' }]);
  });
});
