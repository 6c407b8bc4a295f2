import { describe, expect, it } from 'vitest';
import { graphOf } from './graph-model.ts';
import { layersOf } from './layers.ts';

const node = (id: string) => ({
  id,
  typeId: 'core.noop',
  name: '',
  position: { x: 0, y: 0 },
  config: {},
  inputs: {},
});
const edge = (source: string, target: string, more: object = {}) => ({
  id: `${source}-${target}`,
  sourceNodeId: source,
  targetNodeId: target,
  ...more,
});

describe('the graph of a workflow', () => {
  it('has its nodes and edges, and says when an edge is taken', () => {
    const graph = graphOf({
      nodes: [node('a'), node('b')],
      edges: [
        edge('a', 'b', { sourceOutput: 'true' }),
        edge('a', 'gone'),
        edge('b', 'a', { triggerRule: 'any_failed' }),
      ],
    });

    expect(graph.nodes.map(({ id, label }) => [id, label])).toEqual([
      ['a', 'a'],
      ['b', 'b'],
    ]);
    expect(graph.edges.map(({ label }) => label)).toEqual(['true', 'on failure']);
    expect(graph.folded).toBe(0);
  });

  it('of ten thousand nodes in a row is one box that says so', () => {
    const ids = Array.from({ length: 10_000 }, (_, index) => `n${index}`);
    const graph = graphOf({
      nodes: ids.map(node),
      edges: ids.slice(1).map((id, index) => edge(`n${index}`, id)),
    });

    expect(graph.nodes).toHaveLength(1);
    expect(graph.nodes[0]).toMatchObject({ label: 'n0 and 9,999 more' });
    expect(graph.folded).toBe(9_999);
  });

  it('of ten thousand nodes side by side, or of too many lines, is not drawn', () => {
    const graph = graphOf({
      nodes: Array.from({ length: 10_000 }, (_, index) => node(`n${index}`)),
      edges: [],
    });

    const ids = Array.from({ length: 60 }, (_, index) => `n${index}`);
    const dense = graphOf({
      nodes: ids.map(node),
      edges: ids.flatMap((source) => ids.map((target) => edge(source, target))),
    });

    expect(graph.isDrawable).toBe(false);
    expect(graph.all).toHaveLength(10_000);
    expect(dense.isDrawable).toBe(false);
  });
});

describe('a loop', () => {
  const loop = (id: string, ...body: string[]) => ({ ...node(id), typeId: 'core.loop', config: { body } });
  const workflow = {
    nodes: [
      node('first'),
      loop('outer', 'step', 'inner'),
      node('step'),
      loop('inner', 'deep'),
      node('deep'),
      node('last'),
    ],
    edges: [edge('first', 'outer'), edge('step', 'inner'), edge('outer', 'last')],
  };
  const drawn = (...opened: string[]) => {
    const { nodes, edges } = graphOf(workflow, new Set(opened));
    return {
      boxes: nodes.map(({ id, frame }) => (frame === undefined ? id : `${frame}/${id}`)),
      edges: edges.map(({ id }) => id),
    };
  };

  it('is one box that stands for all of its body', () => {
    const { nodes } = graphOf(workflow);

    expect(drawn()).toEqual({ boxes: ['first', 'outer', 'last'], edges: ['first-outer', 'outer-last'] });
    expect(nodes[1]).toMatchObject({ loop: 'closed', members: ['outer', 'step', 'inner', 'deep'] });
  });

  it('is a frame around its body once it is opened, as are loops inside it', () => {
    expect(drawn('outer').boxes).toEqual(['first', 'outer', 'outer/step', 'outer/inner', 'last']);
    expect(drawn('outer').edges).toEqual(['first-outer', 'step-inner', 'outer-last']);
    expect(drawn('outer', 'inner').boxes).toContain('inner/deep');
    expect(drawn('inner').boxes).toEqual(['first', 'outer', 'last']);
  });

  it('that names itself, or a loop around it, ends', () => {
    const circle = { nodes: [loop('a', 'b', 'a'), loop('b', 'a')], edges: [edge('a', 'b')] };

    expect(() => graphOf(circle)).not.toThrow();
    expect(() => graphOf(circle, new Set(['a', 'b']))).not.toThrow();
  });
});

describe('the layers of a graph', () => {
  const graph = (...edges: [string, string][]) =>
    graphOf({ nodes: ['a', 'b', 'c', 'd'].map(node), edges: edges.map(([from, to]) => edge(from, to)) });

  it('are as many as its longest way has nodes, cycles aside', () => {
    expect(layersOf(graph())).toBe(1);
    expect(layersOf(graph(['a', 'b'], ['b', 'c'], ['a', 'c'], ['c', 'd']))).toBe(4);
    expect(layersOf(graph(['a', 'b'], ['c', 'd'], ['d', 'c']))).toBe(2);
  });
});
