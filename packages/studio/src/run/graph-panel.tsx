import { lazy, Suspense, useCallback, useMemo, useState } from 'react';
import { isJsonObject, type JsonObject } from '@weft/protocol/plain';
import { type Client, isTerminalStatus, type RunDocument, type WorkflowDefinition } from '@weft/sdk';
import { useEvery, useLoaded, useSigned } from '../app/hooks.ts';
import { type ChildSummary, type NodeSummary, rowsOf, summariesOf } from '../graph/node-summary.ts';
import { useFoldedGraph } from '../graph/use-folded-graph.ts';
import { Boundary } from '../ui/boundary.tsx';
import { Empty, Loading } from '../ui/states.tsx';
import { NodePanel } from './node-panel.tsx';
import type { RunView } from './run-fold.ts';

const GraphView = lazy(async () => ({ default: (await import('../graph/graph-view.tsx')).GraphView }));

interface GraphPanelProps {
  readonly definition: WorkflowDefinition | undefined;
  readonly isLoading: boolean;
  readonly view: RunView;
  readonly onEvents: (key: string) => void;
}

/** The graph as it executes. Loops, retries and children are boxes that can be opened. */
export function GraphPanel({ definition, isLoading, view, onEvents }: GraphPanelProps) {
  const [chosen, setChosen] = useState<string>();
  const [graph, folds] = useFoldedGraph(definition);
  const states = useMemo(() => summariesOf(view.nodes.values()), [view]);
  const childOf = useChildren(
    [...folds.opened].flatMap((id) => states.get(id)?.rounds.at(-1)?.childRunId ?? []),
  );
  const rows = useCallback((state: NodeSummary) => rowsOf(state, childOf), [childOf]);
  const folding = useMemo(() => ({ ...folds, rowsOf: rows }), [folds, rows]);
  if (graph === undefined)
    return isLoading ? (
      <Loading what="the workflow" />
    ) : (
      <Empty title="The workflow cannot be shown">
        <p>
          This host no longer has its definition, or your key may not read it. The timeline and the events are
          complete.
        </p>
      </Empty>
    );
  return (
    <div className={`graph-panel ${chosen === undefined ? '' : 'with-detail'}`}>
      <Boundary>
        <Suspense fallback={<Loading what="the graph" />}>
          <GraphView
            graph={graph}
            states={states}
            chosen={chosen}
            onChoose={(id) => setChosen(id === chosen ? undefined : id)}
            folding={folding}
          />
        </Suspense>
      </Boundary>
      {chosen !== undefined && (
        <NodePanel
          nodeId={chosen}
          definition={definition}
          view={view}
          onEvents={onEvents}
          onClose={() => setChosen(undefined)}
        />
      )}
    </div>
  );
}

const MAX_CHILDREN = 20;
const REFRESH_MS = 2_000;

/** How the child runs of opened boxes stand, asked again while one of them is active. */
function useChildren(runIds: readonly string[]): (runId: string) => ChildSummary | undefined {
  const { client } = useSigned();
  const [children, reload] = useLoaded(
    async () =>
      new Map(
        await Promise.all(runIds.slice(0, MAX_CHILDREN).map(async (runId) => await childOf(client, runId))),
      ),
    [runIds],
  );
  const { value } = children;
  const isActive = [...(value?.values() ?? [])].some(
    (child) => child !== undefined && !isTerminalStatus(child.status),
  );
  useEvery(REFRESH_MS, () => isActive && reload());
  return useCallback((runId: string) => value?.get(runId), [value]);
}

/** A child that is gone, or that one may not read, is only not opened. */
async function childOf(client: Client, runId: string): Promise<[string, ChildSummary | undefined]> {
  const run = await client.runs.get(runId).then(
    (found: RunDocument | undefined) => found,
    () => undefined,
  );
  if (run === undefined) return [runId, undefined];
  const states = (run as JsonObject)['nodeStates'];
  const nodes = Object.entries(isJsonObject(states) ? states : {}).map(([id, state]) => ({
    id,
    status: isJsonObject(state) && typeof state['status'] === 'string' ? state['status'] : 'pending',
  }));
  return [runId, { status: run.status, nodes }];
}
