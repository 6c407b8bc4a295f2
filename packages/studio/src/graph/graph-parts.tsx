import {
  BaseEdge,
  type Edge,
  type EdgeProps,
  getSmoothStepPath,
  Handle,
  type Node,
  type NodeProps,
  Position,
} from '@xyflow/react';
import { memo } from 'react';
import { Icon } from '../ui/icons.tsx';
import { oneLine } from '../ui/shown-text.ts';
import { lookOf } from '../ui/status.tsx';
import { edgePath } from './edge-path.ts';
import type { GraphNode } from './graph-model.ts';
import type { Mark } from './graph-view.tsx';
import type { EdgeRoute } from './layout.ts';
import type { NodeRow, NodeSummary } from './node-summary.ts';

export const ROW_HEIGHT = 24;

export type Drawn = Node<
  {
    readonly node: GraphNode;
    readonly state: NodeSummary | undefined;
    readonly subtitle: string;
    readonly mark: Mark | undefined;
    /** What opens or closes it, in words; absent where there is nothing to open. */
    readonly fold: string | undefined;
    readonly isOpen: boolean;
    readonly rows: readonly NodeRow[];
    readonly isChosen: boolean;
    readonly onToggle: (nodeId: string) => void;
  },
  'step'
>;

/** A box. It is chosen by its button, whose click the graph hears, so that keys do what a pointer does. */
export const Step = memo(function Step({ data }: NodeProps<Drawn>) {
  const { node, state, subtitle, mark, fold, isOpen, rows, isChosen, onToggle } = data;
  const look = lookOf(state?.status ?? 'pending');
  const tone = state === undefined ? 'plain' : `tone-${look.tone}`;
  const isFrame = node.loop === 'open';
  return (
    <div className={`graph-node ${tone} ${mark ?? ''} ${isChosen ? 'chosen' : ''} ${isFrame ? 'frame' : ''}`}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <div className={`graph-node-head ${fold === undefined ? '' : 'with-fold'}`}>
        <button type="button" className="graph-node-name" aria-pressed={isChosen}>
          {state !== undefined && <Icon name={look.icon} size={16} />}
          <span className="graph-node-text">
            <strong className="truncate" title={`${node.label} (${node.typeId})`}>
              {node.label}
            </strong>
            {state !== undefined && <span className="visually-hidden">{look.text}</span>}
            <span className="truncate">{subtitle === '' ? '\u00A0' : subtitle}</span>
          </span>
        </button>
        {fold !== undefined && (
          <button
            type="button"
            className="graph-fold"
            aria-expanded={isOpen}
            title={isOpen ? 'Close' : 'Open'}
            onClick={(event) => {
              event.stopPropagation();
              onToggle(node.id);
            }}
          >
            {fold}
          </button>
        )}
      </div>
      {rows.length > 0 && (
        <ul className="graph-rows">
          {rows.map((row) => (
            <Row key={row.key} row={row} />
          ))}
        </ul>
      )}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}, isDrawnAlike);

function Row({ row: { status, text, more, href } }: { readonly row: NodeRow }) {
  const { icon, tone, text: word } = lookOf(status);
  return (
    <li className={`tone-text-${tone}`} title={more}>
      <Icon name={icon} size={11} />
      <span className="visually-hidden">{word}</span>
      {href === undefined ? (
        <span className="truncate">{text}</span>
      ) : (
        <a className="truncate" href={href} onClick={(event) => event.stopPropagation()}>
          {text}
        </a>
      )}
      {more !== undefined && <span className="more truncate">{oneLine(more, 60)}</span>}
    </li>
  );
}

/** While a run executes, most boxes stay as they are. */
function isDrawnAlike({ data: a }: NodeProps<Drawn>, { data: b }: NodeProps<Drawn>): boolean {
  return (
    a.node === b.node &&
    a.mark === b.mark &&
    a.fold === b.fold &&
    a.isOpen === b.isOpen &&
    a.rows === b.rows &&
    a.isChosen === b.isChosen &&
    a.onToggle === b.onToggle &&
    a.state?.status === b.state?.status &&
    a.subtitle === b.subtitle
  );
}

type Routed = Edge<{ readonly route: EdgeRoute | undefined }, 'routed'>;

/** Along the way that the layout has found between the boxes. */
export function RoutedEdge(props: EdgeProps<Routed>) {
  const { id, data, label, markerEnd } = props;
  const route = data?.route;
  const [path, labelX, labelY] =
    route === undefined ? getSmoothStepPath(props) : [edgePath(route.points), route.label.x, route.label.y];
  return (
    <BaseEdge
      id={id}
      path={path}
      {...(markerEnd !== undefined && { markerEnd })}
      {...(label !== undefined && { label, labelX, labelY })}
    />
  );
}
