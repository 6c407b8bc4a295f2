import '@xyflow/react/dist/base.css';
import {
  Controls,
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  useReactFlow,
  useStore,
} from '@xyflow/react';
import { memo, useEffect, useMemo, useState } from 'react';
import { Icon } from '../ui/icons.tsx';
import { Loading } from '../ui/states.tsx';
import { lookOf } from '../ui/status.tsx';
import { type GraphModel, type GraphNode, NODE_HEIGHT, NODE_WIDTH, type NodeSummary } from './graph-model.ts';
import { layOut, type Positions } from './layout.ts';

/** How a node of a comparison stands to its counterpart. */
export type Mark = 'same' | 'changed' | 'only-a' | 'only-b';

interface GraphViewProps {
  readonly graph: GraphModel;
  /** By node id; absent in the graph of a workflow that is not executed. */
  readonly states?: ReadonlyMap<string, NodeSummary>;
  readonly marks?: ReadonlyMap<string, Mark>;
  readonly chosen: string | undefined;
  readonly onChoose: (nodeId: string) => void;
}

type Drawn = Node<{ node: GraphNode; state: NodeSummary | undefined; mark: Mark | undefined }, 'step'>;

export function GraphView({ graph, states, marks, chosen, onChoose }: GraphViewProps) {
  const [positions, setPositions] = useState<Positions | 'none'>();
  useEffect(() => {
    let isCurrent = true;
    layOut(graph).then(
      (found) => isCurrent && setPositions(found ?? 'none'),
      () => isCurrent && setPositions('none'),
    );
    return () => {
      isCurrent = false;
    };
  }, [graph]);
  const edges = useMemo(() => edgesOf(graph, states), [graph, states]);
  if (positions === undefined) return <Loading what="the graph" />;
  if (positions === 'none') return <NodeList graph={graph} states={states} onChoose={onChoose} />;
  const nodes = graph.nodes.map((node): Drawn => {
    const state = states === undefined ? undefined : stateOf(node, states);
    const mark = marks?.get(node.id);
    return {
      id: node.id,
      type: 'step',
      position: positions.get(node.id) ?? { x: 0, y: 0 },
      data: { node, state, mark },
      width: NODE_WIDTH,
      height: NODE_HEIGHT,
      selected: node.id === chosen,
      ariaLabel: `${node.label}, ${state === undefined ? node.typeId : lookOf(state.status).text}`,
    };
  });
  return (
    <div className="graph">
      {graph.folded > 0 && (
        <p className="graph-note small">
          {graph.folded.toLocaleString('en')} nodes that follow one another are drawn together.
        </p>
      )}
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        onNodeClick={(_, node) => onChoose(node.id)}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        fitView
        fitViewOptions={FIT}
        minZoom={0.05}
        maxZoom={1.6}
        proOptions={PRO}
      >
        <Controls showInteractive={false} />
        <Refit />
      </ReactFlow>
    </div>
  );
}

/** The whole graph stays in sight when its frame changes, such as when the details of a node open. */
function Refit() {
  const { fitView } = useReactFlow();
  const width = useStore((store) => Math.round(store.width));
  useEffect(() => {
    void fitView(FIT);
  }, [width, fitView]);
  return null;
}

const FIT = { padding: 0.12, maxZoom: 1.1 };
const PRO = { hideAttribution: true };

function stateOf(node: GraphNode, states: ReadonlyMap<string, NodeSummary>): NodeSummary | undefined {
  if (node.members.length === 1) return states.get(node.id);
  const all = node.members.flatMap((id) => states.get(id) ?? []);
  const worst = ['failed', 'waiting', 'running', 'retrying'].flatMap(
    (status) => all.find((each) => each.status === status) ?? [],
  )[0];
  return worst ?? (all.length === node.members.length ? all.at(-1) : undefined);
}

function edgesOf({ edges }: GraphModel, states: ReadonlyMap<string, NodeSummary> | undefined): Edge[] {
  return edges.map(({ id, source, target, label }, index) => {
    const reached = states?.get(target)?.status;
    const isTaken =
      reached !== undefined && reached !== 'pending' && reached !== 'skipped' && states?.has(source) === true;
    return {
      id: `${index}:${id}`,
      source,
      target,
      type: 'smoothstep',
      className: isTaken ? 'taken' : 'open',
      animated: reached === 'running' && isTaken,
      markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14 },
      ...(label !== undefined && { label }),
    };
  });
}

const Step = memo(function Step({ data: { node, state, mark }, selected }: NodeProps<Drawn>) {
  const look = lookOf(state?.status ?? 'pending');
  return (
    <div
      className={`graph-node ${state === undefined ? 'plain' : `tone-${look.tone}`} ${mark ?? ''} ${selected ? 'chosen' : ''}`}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} />
      {state !== undefined && <Icon name={look.icon} size={16} />}
      <div className="graph-node-text">
        <strong className="truncate">{node.label}</strong>
        <span className="truncate">
          {node.typeId}
          {state !== undefined && state.visits > 1 && ` · ${state.done}/${state.visits}`}
          {state !== undefined && state.attempt > 0 && ` · attempt ${state.attempt + 1}`}
        </span>
      </div>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
});

const NODE_TYPES = { step: Step };

interface NodeListProps {
  readonly graph: GraphModel;
  readonly states: ReadonlyMap<string, NodeSummary> | undefined;
  readonly onChoose: (nodeId: string) => void;
}

/** In place of a graph that is too large to be laid out. */
function NodeList({ graph, states, onChoose }: NodeListProps) {
  return (
    <div className="graph-list">
      <p className="notice">This graph is too large to draw, so its nodes are listed.</p>
      <ul>
        {graph.nodes.map((node) => (
          <li key={node.id}>
            <button type="button" className="button plain" onClick={() => onChoose(node.id)}>
              {node.label}{' '}
              <span className="muted">{lookOf(states?.get(node.id)?.status ?? 'pending').text}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
