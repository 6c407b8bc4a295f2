import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import type { RunEventDocument } from '@weft/sdk';
import { useNow } from '../app/hooks.ts';
import { controlsShown, oneLine } from '../ui/shown-text.ts';
import { Empty } from '../ui/states.tsx';
import { durationText } from '../ui/time-text.ts';
import {
  createTimeline,
  scaleMarks,
  spanOf,
  type TimelineBar,
  timelineAt,
  type TimelineRow,
} from './timeline.ts';

interface TimelinePanelProps {
  readonly events: readonly RunEventDocument[];
  readonly length: number;
  readonly sequence: number;
  /** Absent while the run is active and seen as it is now. */
  readonly endedAt: number | undefined;
  readonly onNode: (key: string) => void;
}

const ROW = 26;

export function TimelinePanel({ events, length, sequence, endedAt, onNode }: TimelinePanelProps) {
  const now = useNow(500);
  const timeline = useMemo(createTimeline, [events]);
  const rows = useMemo(() => {
    const all = timeline.read(events);
    return sequence >= (events.at(-1)?.sequence ?? -1) ? all : timelineAt(all, sequence);
  }, [timeline, events, length, sequence]);
  const { start, end } = spanOf(rows, endedAt ?? now);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 10,
  });
  if (rows.length === 0) return <Empty title="Nothing has started yet" />;
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
      <div className="timeline-rows" ref={scroller} tabIndex={0} role="list" aria-label="Timeline">
        <div className="virtual" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            const first = row.bars[0]?.start ?? start;
            const last = row.bars.at(-1)?.end ?? endedAt ?? now;
            return (
              <div
                key={row.key}
                role="listitem"
                className={`virtual-row timeline-row ${row.kind}`}
                style={{ transform: `translateY(${item.start}px)` }}
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
                      title={barText(row, bar, endedAt ?? now)}
                      style={{
                        left: `${percent(bar.start)}%`,
                        width: `${Math.max(0, percent(bar.end ?? endedAt ?? now) - percent(bar.start))}%`,
                      }}
                    />
                  ))}
                </span>
                <span className="timeline-length" title={row.detail}>
                  {row.detail !== undefined && <span className="muted">{oneLine(row.detail, 40)} · </span>}
                  {durationText(last - first)}
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
