import type { GraphModel } from './graph-model.ts';

/** How many layers it has from left to right; what lies on a cycle does not count. */
export function layersOf({ nodes, edges }: Pick<GraphModel, 'nodes' | 'edges'>): number {
  const layer = new Map(nodes.map(({ id }) => [id, 1]));
  const incoming = countBy(edges.map(({ target }) => target));
  const targets = new Map<string, string[]>();
  for (const { source, target } of edges) targets.set(source, [...(targets.get(source) ?? []), target]);
  const ready = nodes.map(({ id }) => id).filter((id) => !incoming.has(id));
  for (let id = ready.pop(); id !== undefined; id = ready.pop())
    for (const target of targets.get(id) ?? []) {
      layer.set(target, Math.max(layer.get(target) ?? 1, (layer.get(id) ?? 1) + 1));
      const left = (incoming.get(target) ?? 1) - 1;
      incoming.set(target, left);
      if (left === 0) ready.push(target);
    }
  return Math.max(0, ...layer.values());
}

export function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
