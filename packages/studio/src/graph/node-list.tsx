import { useMemo, useState } from 'react';
import { useFixedRows } from '../ui/fixed-rows.ts';
import { Icon } from '../ui/icons.tsx';
import { Empty } from '../ui/states.tsx';
import { lookOf } from '../ui/status.tsx';
import type { GraphNode } from './graph-model.ts';
import { stateOf, type Summaries } from './node-summary.ts';

export interface NodeListProps {
  readonly nodes: readonly GraphNode[];
  /** Absent for a workflow that is not executed. */
  readonly states: Summaries | undefined;
  readonly chosen: string | undefined;
  readonly onChoose: (nodeId: string) => void;
  /** Absent where the graph is too large to be drawn. */
  readonly onDraw?: () => void;
}

const ROW = 28;

/** In place of a graph with more nodes than can be drawn. */
export function NodeList({ nodes, states, chosen, onChoose, onDraw }: NodeListProps) {
  const [text, setText] = useState('');
  const found = useMemo(() => matching(nodes, text), [nodes, text]);
  const list = useFixedRows(found.length, ROW);
  return (
    <div className="node-list">
      <div className="filters">
        <input
          className="input"
          aria-label="Filter nodes"
          placeholder="Name, id or type contains…"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {onDraw === undefined ? (
          <span className="muted small">Too large to draw.</span>
        ) : (
          <button type="button" className="button tiny" onClick={onDraw}>
            Draw the graph
          </button>
        )}
        <span className="muted small spread">
          {found.length.toLocaleString('en')} of {nodes.length.toLocaleString('en')} nodes
        </span>
      </div>
      {found.length === 0 && <Empty title="No node matches" />}
      <div className="event-rows" ref={list.scroller} role="list" aria-label="Nodes" tabIndex={0}>
        <div className="virtual" style={{ height: list.height }}>
          {list.places.map((place) => {
            const node = found[place];
            return node === undefined ? null : (
              <div
                key={node.id}
                role="listitem"
                className="virtual-row"
                style={{ transform: `translateY(${place * ROW}px)` }}
              >
                <NodeLine
                  node={node}
                  status={states && (stateOf(node, states)?.status ?? 'pending')}
                  isChosen={node.id === chosen}
                  onChoose={onChoose}
                />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface NodeLineProps {
  readonly node: GraphNode;
  readonly status: string | undefined;
  readonly isChosen: boolean;
  readonly onChoose: (nodeId: string) => void;
}

function NodeLine({ node: { id, label, typeId }, status, isChosen, onChoose }: NodeLineProps) {
  const look = status === undefined ? undefined : lookOf(status);
  return (
    <button type="button" className="node-line" aria-pressed={isChosen} onClick={() => onChoose(id)}>
      <span className="truncate">{label}</span>
      <span className="truncate muted mono">{typeId}</span>
      {look !== undefined && (
        <span className={`row tone-text-${look.tone}`}>
          <Icon name={look.icon} size={12} />
          {look.text}
        </span>
      )}
    </button>
  );
}

function matching(nodes: readonly GraphNode[], text: string): readonly GraphNode[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return nodes;
  return nodes.filter(({ id, label, typeId }) =>
    [id, label, typeId].some((each) => each.toLowerCase().includes(wanted)),
  );
}
