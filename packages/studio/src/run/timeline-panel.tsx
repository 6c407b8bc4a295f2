import { useMemo } from 'react';
import type { RunEventDocument } from '@weft/sdk';
import { useNow } from '../app/hooks.ts';
import { useFixedRows } from '../ui/fixed-rows.ts';
import { controlsShown, oneLine } from '../ui/shown-text.ts';
import { Empty } from '../ui/states.tsx';
import { durationText } from '../ui/time-text.ts';
import {
  begunBy,
  createTimeline,
  rowAt,
  scaleMarks,
  spanOf,
  type TimelineBar,
  type TimelineRow,
} from './timeline.ts';

interface TimelinePanelProps {
  readonly events: readonly RunEventDocument[];
  readonly length: number;
  readonly sequence: number;
  /** When the last event that is shown happened. */
  readonly at: number | undefined;
  /** Absent while the run is active and seen as it is now. */
  readonly endedAt: number | undefined;
  readonly onNode: (key: string) => void;
}

const ROW = 26;

export function TimelinePanel({ events, length, sequence, at = 0, endedAt, onNode }: TimelinePanelProps) {
  const now = useNow(500);
  const timeline = useMemo(createTimeline, [events]);
  const isPast = sequence < (events.at(-1)?.sequence ?? -1);
  const rows = useMemo(() => {
    const all = timeline.read(events);
    return isPast ? begunBy(all, sequence) : all;
  }, [timeline, events, length, isPast, sequence]);
  const list = useFixedRows(rows.length, ROW);
  if (rows.length === 0) return <Empty title="Nothing has started yet" />;
  // Clocks of hosts and browsers differ.
  const last = Math.max(at, endedAt ?? now);
  const { start, end } = spanOf(rows, last);
  const percent = (at: number): number => ((at - start) / (end - start)) * 100;
  return (
    <div className="timeline">
      <div className="timeline-scale" aria-hidden="true">
        <span className="timeline-name" />
        <span className="timeline-track">
          {scaleMarks(end - start, 6).map((mark) => (
            <i key={mark} style={{ left: `${(mark / (end - start)) * 100}%` }}>
              {durationText(mark)}
            </i>
          ))}
        </span>
      </div>
      <div className="timeline-rows" ref={list.scroller} tabIndex={0} role="list" aria-label="Timeline">
        <div className="virtual" style={{ height: list.height }}>
          {list.places.map((place) => {
            const known = rows[place];
            if (known === undefined) return null;
            const row = isPast ? rowAt(known, sequence) : known;
            const first = row.bars[0]?.start ?? start;
            const rowEnd = row.bars.at(-1)?.end ?? last;
            return (
              <div
                key={row.key}
                role="listitem"
                className={`virtual-row timeline-row ${row.kind}`}
                style={{ transform: `translateY(${place * ROW}px)` }}
              >
                <button
                  type="button"
                  className="timeline-name truncate"
                  onClick={() => onNode(row.place)}
                  title={row.kind === 'node' ? row.place : `${row.label} of ${row.place}`}
                >
                  {controlsShown(row.label)}
                </button>
                <span className="timeline-track">
                  {row.bars.map((bar) => (
                    <i
                      key={bar.startSeq}
                      className={`bar ${bar.kind} ${row.kind} ${bar.outcome ?? 'open'}`}
                      title={barText(row, bar, last)}
                      style={{
                        left: `${percent(bar.start)}%`,
                        width: `${Math.max(0, percent(bar.end ?? last) - percent(bar.start))}%`,
                      }}
                    />
                  ))}
                </span>
                <span className="timeline-length" title={row.detail}>
                  {row.detail !== undefined && <span className="muted">{oneLine(row.detail, 40)} · </span>}
                  {durationText(rowEnd - first)}
                </span>
              </div>
            );
          })}
        </div>
      </div>
      <ul className="legend small muted">
        <li>
          <i className="bar attempt completed" /> attempt
        </li>
        <li>
          <i className="bar attempt turn completed" /> model turn
        </li>
        <li>
          <i className="bar attempt tool completed" /> tool call
        </li>
        <li>
          <i className="bar wait open" /> waits for an answer
        </li>
        <li>
          <i className="bar delay open" /> delay before a retry
        </li>
        <li>
          <i className="bar attempt failed" /> failed
        </li>
      </ul>
    </div>
  );
}

const WORDS = {
  node: 'Attempt',
  turn: 'Model turn, attempt',
  tool: 'Tool call, attempt',
  step: 'Step, attempt',
};

function barText({ kind }: TimelineRow, bar: TimelineBar, now: number): string {
  const length = durationText((bar.end ?? now) - bar.start);
  if (bar.kind === 'wait') return `Waits for an answer, ${length}`;
  if (bar.kind === 'delay') return `Delay before the next attempt, ${length}`;
  return `${WORDS[kind]} ${bar.attempt + 1}, ${bar.outcome ?? 'still running'}, ${length}`;
}
