import { placeOf } from '@weft/engine/compare';
import { isJsonObject } from '@weft/protocol/plain';
import type { RunEventDocument } from '@weft/sdk';

/**
 * The waterfall: one row per node and iteration, in the order in which they began, with a bar for each stretch of an attempt, of a wait for an
 * answer, and of a delay before a retry. Bars know the events that begin and end them, so that the same bars show any moment of the run.
 */
export interface TimelineRow {
  readonly key: string;
  readonly bars: readonly TimelineBar[];
}

export interface TimelineBar {
  readonly kind: 'attempt' | 'wait' | 'delay';
  readonly start: number;
  readonly startSeq: number;
  /** Absent while it lasts. */
  readonly end?: number;
  readonly endSeq?: number;
  readonly outcome?: BarOutcome;
  readonly attempt: number;
}

export type BarOutcome = 'completed' | 'failed' | 'cancelled' | 'retried' | 'suspended' | 'resumed';

interface Change {
  /** How the open bar ends. */
  readonly outcome?: BarOutcome;
  readonly opens?: TimelineBar['kind'];
}

const CHANGES: Readonly<Record<string, Change>> = {
  'node.started': { opens: 'attempt' },
  'node.completed': { outcome: 'completed' },
  'node.failed': { outcome: 'failed' },
  'node.cancelled': { outcome: 'cancelled' },
  'node.retried': { outcome: 'retried', opens: 'delay' },
  'node.suspended': { outcome: 'suspended', opens: 'wait' },
  'node.resumed': { outcome: 'resumed', opens: 'attempt' },
};

export function timelineOf(events: readonly RunEventDocument[]): TimelineRow[] {
  const rows = new Map<string, TimelineBar[]>();
  for (const event of events) {
    const change = CHANGES[event.type];
    const key = change === undefined ? undefined : placeOf(event);
    if (change === undefined || key === undefined) continue;
    const bars = rows.get(key) ?? [];
    rows.set(key, bars);
    addChange(bars, change, event);
  }
  return [...rows].map(([key, bars]) => ({ key, bars }));
}

function addChange(bars: TimelineBar[], { outcome, opens }: Change, event: RunEventDocument): void {
  const at = Date.parse(event.timestamp);
  const open = bars.at(-1);
  if (open !== undefined && open.end === undefined)
    bars[bars.length - 1] = { ...open, end: at, endSeq: event.sequence, outcome: outcome ?? 'resumed' };
  if (opens === undefined) return;
  const payload = isJsonObject(event.payload) ? event.payload : {};
  const attempt = typeof payload['attempt'] === 'number' ? payload['attempt'] : (open?.attempt ?? 0);
  bars.push({ kind: opens, start: at, startSeq: event.sequence, attempt });
}

/** The rows as they stood after an event: what began later is not there, what ended later still lasts. */
export function timelineAt(rows: readonly TimelineRow[], sequence: number): TimelineRow[] {
  return rows.flatMap(({ key, bars }) => {
    const then = bars.filter(({ startSeq }) => startSeq <= sequence).map((bar) => barAt(bar, sequence));
    return then.length === 0 ? [] : [{ key, bars: then }];
  });
}

function barAt(bar: TimelineBar, sequence: number): TimelineBar {
  if (bar.endSeq === undefined || bar.endSeq <= sequence) return bar;
  const { end: _end, endSeq: _endSeq, outcome: _outcome, ...open } = bar;
  return open;
}

/** From the first beginning to the last end, or to now while something lasts. At least a millisecond, so that it can be divided by. */
export function spanOf(
  rows: readonly TimelineRow[],
  now: number,
): { readonly start: number; readonly end: number } {
  let start = Number.POSITIVE_INFINITY;
  let end = Number.NEGATIVE_INFINITY;
  for (const { bars } of rows)
    for (const bar of bars) {
      start = Math.min(start, bar.start);
      end = Math.max(end, bar.end ?? now);
    }
  return start > end ? { start: now, end: now + 1 } : { start, end: Math.max(end, start + 1) };
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500].map((ms) => ms);
const LONG_STEPS = [1, 2, 5, 10, 15, 30].flatMap((count) => [count * 1_000, count * 60_000]);
const LONGEST_STEPS = [1, 2, 4, 6, 12, 24].map((hours) => hours * 3_600_000);

/** Round distances from the start at which the scale has a mark: at most `most` of them. */
export function scaleMarks(length: number, most: number): number[] {
  const steps = [...STEPS, ...LONG_STEPS, ...LONGEST_STEPS].sort((x, y) => x - y);
  const step =
    steps.find((each) => length / each <= most) ?? Math.ceil(length / most / 86_400_000) * 86_400_000;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step);
}
