import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { BUILTIN_NODE_TYPES } from '../../nodes/index.ts';
import { compileWorkflow } from './compile.ts';
import { createExpressionCompiler } from '../expressions/expressions.ts';
import { chain, definition, edge, node, type WorkflowSpec } from '../testing/definitions.ts';
import { simulate } from '../testing/simulation.ts';

const supervisor = (id = 'sup', config: JsonObject = { mockDecisions: [{ kind: 'terminate' }] }) =>
  node(id, 'core.orchestrator.supervisor', config);
const dispatch = (id = 'dis') => node(id, 'core.dispatch');

function compile(spec: WorkflowSpec) {
  return compileWorkflow(definition(spec), {
    digest: 'test-digest',
    nodeTypes: new Map(BUILTIN_NODE_TYPES.map((type) => [type.typeId, type])),
    expressions: createExpressionCompiler(),
    maxNodes: 100,
    maskingDefault: 'mask',
    runtimeCapabilities: new Set(),
  });
}

const codesOf = (spec: WorkflowSpec): string[] =>
  compile(spec).errors.map(({ code, path }) => `${code} ${path}`);
const cycleOf = (spec: WorkflowSpec, id = 'dis') => compile(spec).plan?.nodes.get(id)?.cycle;

describe('a cycle', () => {
  it('of a supervisor and a dispatch is opened at the edge that leads back', () => {
    const spec = { nodes: [supervisor(), dispatch()], edges: chain('sup', 'dis', 'sup') };

    expect(codesOf(spec)).toEqual([]);
    expect(cycleOf(spec)).toEqual(['dis', 'sup']);
    expect(compile(spec).plan?.root.sources.map(({ id }) => id)).toEqual(['sup']);
  });

  it('may have nodes between, side by side as well, and all of them go round', () => {
    const spec = {
      nodes: [node('a'), node('b'), supervisor(), dispatch(), node('in'), node('out')],
      edges: [
        edge('in', 'sup'),
        ...chain('sup', 'a', 'dis'),
        ...chain('sup', 'b', 'dis'),
        edge('dis', 'sup'),
        edge('dis', 'out'),
      ],
    };

    expect(codesOf(spec)).toEqual([]);
    expect(cycleOf(spec)).toEqual(['a', 'b', 'dis', 'sup']);
  });

  it('is left from the node that closes it, and from no other', () => {
    const nodes = [supervisor(), dispatch(), node('out')];
    const round = chain('sup', 'dis', 'sup');

    expect(codesOf({ nodes, edges: [...round, edge('dis', 'out')] })).toEqual([]);
    expect(codesOf({ nodes, edges: [...round, edge('sup', 'out')] })).toEqual(['edge_leaves_cycle /edges/2']);
  });

  it('may be entered from several nodes', () => {
    const spec = {
      nodes: [node('x'), node('y'), supervisor(), dispatch()],
      edges: [edge('x', 'sup'), edge('y', 'sup'), ...chain('sup', 'dis', 'sup')],
    };

    expect(cycleOf(spec)).toEqual(['dis', 'sup']);
  });

  it('of other nodes is an error, also next to one that is allowed', () => {
    const plain = { nodes: [node('a'), node('b')], edges: chain('a', 'b', 'a') };
    const withAllowed = {
      nodes: [supervisor(), dispatch(), node('a'), node('b')],
      edges: [...chain('sup', 'dis', 'sup'), ...chain('dis', 'a', 'b', 'a')],
    };

    expect(codesOf(plain).join()).toContain('cycle ');
    expect(codesOf(withAllowed).join()).toContain('cycle ');
  });

  it('that leads back to two places is an error', () => {
    const spec = {
      nodes: [supervisor(), node('a'), dispatch()],
      edges: [...chain('sup', 'a', 'dis', 'sup'), edge('dis', 'a')],
    };

    expect(codesOf(spec).join()).toContain('cycle ');
  });

  it('cannot hold a loop, whose iterations it would have to forget', () => {
    const spec = {
      nodes: [
        supervisor(),
        node('each', 'core.loop', { body: ['x'], items: [1], maxIterations: 2 }),
        node('x'),
        dispatch(),
      ],
      edges: chain('sup', 'each', 'dis', 'sup'),
    };

    expect(codesOf(spec)).toEqual(['loop_in_cycle /nodes/1']);
  });
});

describe('a dispatch', () => {
  it('needs a supervisor in its workflow', () => {
    expect(codesOf({ nodes: [dispatch()] })).toEqual(['node_type_missing /nodes/0/typeId']);
  });

  it('need not be on a cycle', () => {
    const run = simulate({ nodes: [supervisor(), dispatch()], edges: chain('sup', 'dis') });

    run.start();

    expect(run.run.state.status).toBe('completed');
  });
});
