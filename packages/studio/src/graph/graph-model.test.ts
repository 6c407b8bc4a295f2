import { describe, expect, it } from 'vitest';
import type { NodeView } from '../run/run-fold.ts';
import { graphOf, layersOf, MAX_DRAWN, summariesOf } from './graph-model.ts';

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
    expect(graph.nodes[0]).toMatchObject({ label: 'n0 and 9999 more' });
    expect(graph.folded).toBe(9_999);
  });

  it('of ten thousand nodes side by side draws no more than it can', () => {
    const graph = graphOf({
      nodes: Array.from({ length: 10_000 }, (_, index) => node(`n${index}`)),
      edges: [],
    });

    expect(graph.nodes).toHaveLength(MAX_DRAWN);
    expect(graph.folded).toBe(10_000 - MAX_DRAWN);
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

describe('the state of a drawn node', () => {
  const round = (key: string, status: NodeView['status'], more: Partial<NodeView> = {}): NodeView => ({
    key,
    nodeId: 'work',
    status,
    attempt: 0,
    ...more,
  });

  it('is that of its rounds which a person should see first', () => {
    const summary = summariesOf([
      round('work[0]', 'completed'),
      round('work[1]', 'failed', { note: 'broken: It broke.' }),
      round('work[2]', 'running'),
    ]).get('work');

    expect(summary).toEqual({ status: 'failed', visits: 3, done: 1, attempt: 0, note: 'broken: It broke.' });
  });
});
