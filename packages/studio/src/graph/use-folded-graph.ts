import { useCallback, useMemo, useState } from 'react';
import type { WorkflowDefinition } from '@weft/sdk';
import { type GraphModel, graphOf } from './graph-model.ts';
import type { Folding } from './graph-view.tsx';

/** A graph whose loops, and other boxes, a person opens and closes. */
export function useFoldedGraph(
  definition: WorkflowDefinition | undefined,
): readonly [GraphModel | undefined, Pick<Folding, 'opened' | 'onToggle'>] {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const onToggle = useCallback(
    (nodeId: string) =>
      setOpened((before) => {
        const after = new Set(before);
        if (!after.delete(nodeId)) after.add(nodeId);
        return after;
      }),
    [],
  );
  const folding = useMemo(() => ({ opened, onToggle }), [opened, onToggle]);
  // What else is open changes no graph, only the height of a box.
  const loops = [...opened]
    .filter((id) => definition?.nodes.some((node) => node.id === id && node.typeId === 'core.loop'))
    .join('\n');
  const graph = useMemo(
    () => (definition === undefined ? undefined : graphOf(definition, new Set(loops.split('\n')))),
    [definition, loops],
  );
  return [graph, folding];
}
