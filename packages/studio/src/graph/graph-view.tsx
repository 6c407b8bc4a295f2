import '@xyflow/react/dist/base.css';
import {
  Controls,
  type Edge,
  getViewportForBounds,
  MarkerType,
  ReactFlow,
  useReactFlow,
  useStore,
} from '@xyflow/react';
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { Loading } from '../ui/states.tsx';
import type { GraphModel, GraphNode } from './graph-model.ts';
import { type Drawn, ROW_HEIGHT, RoutedEdge, Step } from './graph-parts.tsx';
import { type Layout, layOut, NODE_HEIGHT } from './layout.ts';
import { NodeList, type NodeListProps } from './node-list.tsx';
import { foldText, type NodeRow, type NodeSummary, stateOf, type Summaries } from './node-summary.ts';

/** How a node of a comparison stands to its counterpart. */
export type Mark = 'same' | 'changed' | 'only-a' | 'only-b';

/** What is open, and how that is changed. */
export interface Folding {
  /** Ids of opened boxes. */
  readonly opened: ReadonlySet<string>;
  readonly onToggle: (nodeId: string) => void;
  /** The lines of a box that is open. */
  readonly rowsOf?: (state: NodeSummary) => readonly NodeRow[];
}

interface GraphViewProps {
  readonly graph: GraphModel;
  /** Absent in the graph of a workflow that is not executed. */
  readonly states?: Summaries;
  readonly marks?: ReadonlyMap<string, Mark>;
  readonly chosen: string | undefined;
  readonly onChoose: (nodeId: string) => void;
  readonly folding: Folding;
}

interface LaidOut {
  readonly graph: GraphModel;
  /** Whether another layout is on its way. */
  readonly isOld: boolean;
  readonly layout: Layout | undefined;
}

const NO_ROWS: readonly NodeRow[] = [];

/** Lines that have come since the layout wait for the next one. */
function fitting(rows: readonly NodeRow[] = NO_ROWS, height: number): readonly NodeRow[] {
  const most = Math.max(0, Math.floor((height - NODE_HEIGHT) / ROW_HEIGHT));
  return rows.length <= most ? rows : rows.slice(0, most);
}

/** The graph, or a list of its nodes: where it is too large to be drawn, or where one of many is looked for. */
export function GraphView(props: GraphViewProps) {
  const { graph, states, chosen, onChoose } = props;
  const [isListed, setListed] = useState(false);
  const list = { nodes: graph.all, states, chosen, onChoose };
  if (!graph.isDrawable) return <NodeList {...list} />;
  if (isListed) return <NodeList {...list} onDraw={() => setListed(false)} />;
  return <DrawnGraph {...props} list={list} onList={() => setListed(true)} />;
}

interface DrawnGraphProps extends GraphViewProps {
  readonly list: NodeListProps;
  readonly onList: () => void;
}

function DrawnGraph({ graph, states, marks, chosen, onChoose, folding, list, onList }: DrawnGraphProps) {
  const rows = useMemo(() => openRows(graph, states, folding), [graph, states, folding]);
  const laidOut = useLayout(graph, rows);
  const edges = useMemo(
    () => (laidOut?.layout === undefined ? [] : edgesOf(laidOut.graph, laidOut.layout, states)),
    [laidOut, states],
  );
  if (laidOut === undefined) return <Loading what="the graph" />;
  const { layout } = laidOut;
  if (layout === undefined) return <NodeList {...list} />;
  const nodes = laidOut.graph.nodes.flatMap((node): Drawn[] => {
    const box = layout.boxes.get(node.id);
    if (box === undefined) return [];
    const { x, y, width, height } = box;
    const state = states === undefined ? undefined : stateOf(node, states);
    const isOpen = folding.opened.has(node.id);
    const fold = foldOf(node, state, folding);
    return [
      {
        id: node.id,
        type: 'step',
        position: { x, y },
        data: {
          node,
          state,
          subtitle: subtitleOf(node, states, fold),
          mark: marks === undefined ? undefined : markOf(node, marks),
          fold,
          isOpen,
          rows: fitting(rows.get(node.id), height),
          onToggle: folding.onToggle,
          isChosen: node.id === chosen,
        },
        width,
        height,
        zIndex: node.loop === 'open' ? 0 : 1,
      },
    ];
  });
  return (
    <div className="graph" aria-busy={laidOut.isOld}>
      {graph.folded > 0 && (
        <p className="graph-note small">
          {graph.folded.toLocaleString('en')} nodes that follow one another are drawn together.{' '}
          <button type="button" className="button plain tiny" onClick={onList}>
            List all nodes
          </button>
        </p>
      )}
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        onNodeClick={(_, node) => onChoose(node.id)}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        minZoom={MIN_ZOOM}
        maxZoom={1.6}
        proOptions={PRO}
      >
        <Fitted layout={layout} />
      </ReactFlow>
    </div>
  );
}

const NODE_TYPES = { step: Step };
const EDGE_TYPES = { routed: RoutedEdge };
const MIN_ZOOM = 0.05;
const FITTED_ZOOM = 1.1;
/** At the left are the controls. */
const PADDING = { top: '24px', right: '24px', bottom: '24px', left: '60px' } as const;
const PRO = { hideAttribution: true };

/** A phone held upright. */
const NARROW = matchMedia('(max-width: 640px)');

function onNarrow(listener: () => void): () => void {
  NARROW.addEventListener('change', listener);
  return () => NARROW.removeEventListener('change', listener);
}

/** The last layout stays until the next one is there. */
function useLayout(graph: GraphModel, rows: ReadonlyMap<string, readonly NodeRow[]>): LaidOut | undefined {
  const [laidOut, setLaidOut] = useState<LaidOut>();
  const isNarrow = useSyncExternalStore(onNarrow, () => NARROW.matches);
  const heights = new Map([...rows].map(([id, lines]) => [id, NODE_HEIGHT + lines.length * ROW_HEIGHT + 8]));
  useEffect(() => {
    let isCurrent = true;
    const done = (layout: Layout | undefined): void => {
      if (isCurrent) setLaidOut({ graph, layout, isOld: false });
    };
    setLaidOut((before) => before && { ...before, isOld: true });
    layOut(graph, {
      direction: isNarrow ? 'DOWN' : 'RIGHT',
      heightOf: ({ id }) => heights.get(id) ?? NODE_HEIGHT,
    }).then(done, () => done(undefined));
    return () => {
      isCurrent = false;
    };
  }, [graph, isNarrow, JSON.stringify([...heights])]);
  return laidOut;
}

function openRows(
  { nodes }: GraphModel,
  states: Summaries | undefined,
  { opened, rowsOf }: Folding,
): ReadonlyMap<string, readonly NodeRow[]> {
  const found = new Map<string, readonly NodeRow[]>();
  if (states === undefined || rowsOf === undefined) return found;
  for (const { id, loop } of nodes) {
    const state = states.get(id);
    if (loop === undefined && opened.has(id) && state !== undefined) found.set(id, rowsOf(state));
  }
  return found;
}

/** What opens a box, in words. */
function foldOf(node: GraphNode, state: NodeSummary | undefined, { rowsOf }: Folding): string | undefined {
  if (node.loop !== undefined) return node.loop === 'open' ? 'loop' : `${node.members.length - 1} inside`;
  if (node.members.length > 1 || rowsOf === undefined || state === undefined) return undefined;
  return foldText(state);
}

/** Empty where the button that opens the box says more. */
function subtitleOf(
  { id, typeId, members, loop }: GraphNode,
  states: Summaries | undefined,
  fold: string | undefined,
): string {
  if (loop === undefined) return fold === undefined ? typeId : '';
  const visits = members.map((each) => (each === id ? 0 : (states?.get(each)?.rounds.length ?? 0)));
  const most = Math.max(...visits);
  return most === 0 ? typeId : `${typeId} · ${most.toLocaleString('en')} rounds`;
}

function markOf({ members }: GraphNode, marks: ReadonlyMap<string, Mark>): Mark | undefined {
  const found = new Set(members.flatMap((id) => marks.get(id) ?? []));
  found.delete('same');
  return found.size > 1
    ? 'changed'
    : ([...found][0] ?? (members.some((id) => marks.has(id)) ? 'same' : undefined));
}

/** The whole graph, with the ways of its edges, stays in sight when its frame changes, and when a box is opened. */
function Fitted({ layout: { bounds } }: { readonly layout: Layout }) {
  const { setViewport } = useReactFlow();
  const width = useStore((store) => Math.round(store.width));
  const height = useStore((store) => Math.round(store.height));
  const fit = useCallback(() => {
    if (width > 0 && height > 0)
      void setViewport(getViewportForBounds(bounds, width, height, MIN_ZOOM, FITTED_ZOOM, PADDING));
  }, [bounds, width, height, setViewport]);
  useEffect(fit, [fit]);
  return <Controls showInteractive={false} onFitView={fit} />;
}

function edgesOf({ edges }: GraphModel, { routes }: Layout, states: Summaries | undefined): Edge[] {
  return edges.map(({ source, target, label }, index) => {
    const reached = states?.get(target)?.status;
    const isTaken = isReached(states?.get(source)?.status) && isReached(reached);
    return {
      id: String(index),
      source,
      target,
      type: 'routed',
      className: isTaken ? 'taken' : 'open',
      animated: reached === 'running' && isTaken,
      markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14 },
      data: { route: routes.get(index) },
      ...(label !== undefined && { label }),
    };
  });
}

function isReached(status: string | undefined): boolean {
  return status !== undefined && status !== 'pending' && status !== 'skipped';
}
