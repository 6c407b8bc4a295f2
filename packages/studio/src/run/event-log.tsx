import { useMemo, useState } from 'react';
import { placeOf } from '@weft/engine/compare';
import { isJsonObject, type Json } from '@weft/protocol/plain';
import type { RunEventDocument } from '@weft/sdk';
import { HOST } from '../app/session.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { useFixedRows } from '../ui/fixed-rows.ts';
import { JsonView } from '../ui/json-view.tsx';
import { oneLine } from '../ui/shown-text.ts';
import { Empty } from '../ui/states.tsx';
import { clockText, timeText } from '../ui/time-text.ts';
import { createMatching, curlOf } from './event-filter.ts';

interface EventLogProps {
  readonly events: readonly RunEventDocument[];
  /** How many events there are, which changes when more arrive. */
  readonly length: number;
  /** Place of the last event that is shown. */
  readonly at: number;
  readonly node: string;
  readonly onNode: (node: string) => void;
  readonly onGoTo: (index: number) => void;
  readonly onFork?: (sequence: number) => void;
}

const ROW = 28;

export function EventLog(props: EventLogProps) {
  const { events, length, at, node, onNode } = props;
  const [type, setType] = useState('');
  const [chosen, setChosen] = useState<number>();
  const matching = useMemo(() => createMatching({ type, node }), [events, type, node]);
  const count = matching.count(events, at);
  const list = useFixedRows(count, ROW);
  const event = chosen === undefined ? undefined : events[chosen];
  return (
    <div className={`event-log ${event === undefined ? '' : 'with-detail'}`}>
      <div className="event-list">
        <div className="filters">
          <input
            className="input"
            aria-label="Filter by type"
            placeholder="Type contains…"
            value={type}
            onChange={(change) => setType(change.target.value)}
          />
          <input
            className="input"
            aria-label="Filter by node"
            placeholder="Node contains…"
            value={node}
            onChange={(change) => onNode(change.target.value)}
          />
          <span className="muted small spread">
            {count.toLocaleString('en')} of {length.toLocaleString('en')} events
          </span>
        </div>
        {count === 0 && <Empty title="No event matches" />}
        <div className="event-rows" ref={list.scroller} role="list" aria-label="Events" tabIndex={0}>
          <div className="virtual" style={{ height: list.height }}>
            {list.places.map((place) => {
              const index = matching.place(place);
              const row = events[index];
              return row === undefined ? null : (
                <div
                  key={index}
                  role="listitem"
                  className="virtual-row"
                  style={{ transform: `translateY(${place * ROW}px)` }}
                >
                  <button
                    type="button"
                    className={`event-row ${toneOf(row.type)}`}
                    aria-pressed={index === chosen}
                    onClick={() => setChosen(index === chosen ? undefined : index)}
                  >
                    <span className="seq">{row.sequence}</span>
                    <span className="clock">{clockText(Date.parse(row.timestamp))}</span>
                    <span className="type">{row.type}</span>
                    <span className="node truncate">{placeOf(row) ?? ''}</span>
                    <span className="payload truncate">{oneLine(withoutPlace(row.payload), 160)}</span>
                  </button>
                </div>
              );
            })}
          </div>
        </div>
      </div>
      {event !== undefined && chosen !== undefined && (
        <EventDetail event={event} index={chosen} onClose={() => setChosen(undefined)} {...props} />
      )}
    </div>
  );
}

interface EventDetailProps extends Pick<EventLogProps, 'onGoTo' | 'onFork' | 'onNode'> {
  readonly event: RunEventDocument;
  readonly index: number;
  readonly onClose: () => void;
}

function EventDetail({ event, index, onClose, onGoTo, onFork, onNode }: EventDetailProps) {
  const place = placeOf(event);
  return (
    <aside className="event-detail" aria-label={`Event ${event.sequence}`}>
      <header className="row">
        <h2>
          #{event.sequence} {event.type}
        </h2>
        <button type="button" className="button plain tiny spread" onClick={onClose}>
          Close
        </button>
      </header>
      <p className="muted small">{timeText(Date.parse(event.timestamp))}</p>
      <div className="row wrap">
        <button type="button" className="button tiny" onClick={() => onGoTo(index)}>
          Show the run as of here
        </button>
        {onFork !== undefined && (
          <button type="button" className="button tiny" onClick={() => onFork(event.sequence)}>
            Fork from here
          </button>
        )}
        {place !== undefined && (
          <button type="button" className="button tiny" onClick={() => onNode(place)}>
            Only this node
          </button>
        )}
        <CopyButton label="Copy JSON" text={() => JSON.stringify(event, null, 2)} />
        <CopyButton label="Copy curl" text={() => curlOf(HOST, event)} />
      </div>
      <JsonView value={event.payload} />
    </aside>
  );
}

/** The node stands in a column of its own. */
function withoutPlace(payload: Json): Json | undefined {
  if (!isJsonObject(payload)) return payload;
  const { nodeId: _nodeId, iteration: _iteration, ...rest } = payload;
  return Object.keys(rest).length === 0 ? undefined : rest;
}

function toneOf(type: string): string {
  if (type.endsWith('.failed') || type === 'cap.breached') return 'bad';
  if (type === 'interrupt.requested' || type === 'node.suspended' || type === 'node.retried') return 'wait';
  return type.startsWith('run.') ? 'run' : '';
}
