import { placeOf } from '@weft/engine/compare';
import { isJsonObject, type Json, type JsonObject } from '@weft/protocol/plain';
import type { RunEventDocument } from '@weft/sdk';

/**
 * The waterfall: one row per node and iteration, in the order in which they began, and below it one for each turn of a model, each call of a tool and
 * each other step of it. A row has a bar for each stretch of an attempt, of a wait for an answer, and of a delay before a retry. Bars know the
 * events that begin and end them, so that the same bars show any moment of the run.
 */
export interface TimelineRow {
  readonly key: string;
  /** Node and iteration. */
  readonly place: string;
  readonly kind: RowKind;
  readonly label: string;
  readonly bars: readonly TimelineBar[];
  /** What a model has used: `mock-1, 34 tokens`. */
  readonly detail?: string;
}

export type RowKind = 'node' | 'turn' | 'tool' | 'step';

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

const NODE_CHANGES: Readonly<Record<string, Change>> = {
  'node.started': { opens: 'attempt' },
  'node.completed': { outcome: 'completed' },
  'node.failed': { outcome: 'failed' },
  'node.cancelled': { outcome: 'cancelled' },
  'node.retried': { outcome: 'retried', opens: 'delay' },
  'node.suspended': { outcome: 'suspended', opens: 'wait' },
  'node.resumed': { outcome: 'resumed', opens: 'attempt' },
};

const STEP_CHANGES: Readonly<Record<string, Change>> = {
  'weft.step.started': { opens: 'attempt' },
  'weft.step.completed': { outcome: 'completed' },
  'weft.step.failed': { outcome: 'failed' },
  'weft.step.retried': { outcome: 'retried', opens: 'delay' },
};

interface OpenRow {
  readonly key: string;
  readonly place: string;
  readonly kind: RowKind;
  label: string;
  detail?: string;
  readonly bars: TimelineBar[];
}

interface NodeRows {
  readonly node: OpenRow;
  readonly steps: Map<string, OpenRow>;
}

/** Reads a log that grows: each event once. */
export interface Timeline {
  /** The rows after these events, of which those it has read before are known to it. The list grows and its rows change with what is read. */
  read(events: readonly RunEventDocument[]): readonly TimelineRow[];
}

export function createTimeline(): Timeline {
  const table = createTable();
  let done = 0;
  return {
    read(events) {
      for (; done < events.length; done += 1) {
        const event = events[done];
        if (event !== undefined) readEvent(table, event);
      }
      return table.rows();
    },
  };
}

interface Table {
  at(place: string): NodeRows;
  step(place: string, step: string, kind?: RowKind): OpenRow;
  rows(): readonly OpenRow[];
}

/** Rows by place. Most are added at the end; only one that belongs further up has the list made again. */
function createTable(): Table {
  const places = new Map<string, NodeRows>();
  let rows: OpenRow[] = [];
  let newest: string | undefined;
  let isComplete = true;
  const at = (place: string): NodeRows => {
    const known = places.get(place);
    if (known !== undefined) return known;
    const added: NodeRows = {
      node: { key: place, place, kind: 'node', label: place, bars: [] },
      steps: new Map(),
    };
    places.set(place, added);
    newest = place;
    rows.push(added.node);
    return added;
  };
  return {
    at,
    step(place, step, kind = kindOf(step)) {
      const { steps } = at(place);
      const known = steps.get(step);
      if (known !== undefined) return known;
      const label = kind === 'turn' ? `model turn ${step.slice('turn-'.length)}` : step;
      const row: OpenRow = { key: `${place}:${step}`, place, kind, label, bars: [] };
      steps.set(step, row);
      if (place === newest) rows.push(row);
      else isComplete = false;
      return row;
    },
    rows() {
      if (!isComplete) rows = [...places.values()].flatMap(({ node, steps }) => [node, ...steps.values()]);
      isComplete = true;
      return rows;
    },
  };
}

function readEvent(table: Table, event: RunEventDocument): void {
  const place = placeOf(event);
  if (place === undefined) return;
  const payload = isJsonObject(event.payload) ? event.payload : {};
  const change = NODE_CHANGES[event.type];
  if (change === undefined) {
    readStep(table, place, event, payload);
    return;
  }
  const { node, steps } = table.at(place);
  addChange(node.bars, change, event, payload);
  if (change.outcome !== undefined && change.opens === undefined)
    for (const { bars } of steps.values()) closeOpen(bars, change.outcome, event);
}

function readStep(table: Table, place: string, event: RunEventDocument, payload: JsonObject): void {
  const change = STEP_CHANGES[event.type];
  if (change !== undefined) {
    const row = table.step(place, textOf(payload['step']));
    // The call of a tool may be on record before its step began.
    const isOpen = row.bars.length > 0 && row.bars.at(-1)?.end === undefined;
    if (event.type !== 'weft.step.started' || !isOpen || Number(payload['attempt'] ?? 0) > 0)
      addChange(row.bars, change, event, payload);
    if (row.kind === 'turn' && isJsonObject(payload['result'])) row.detail = modelText(payload['result']);
  } else if (event.type === 'agent.toolCalled' || event.type === 'agent.toolReturned') {
    const step = textOf(payload['callId'])
      .replace(`${place}:`, '')
      .replace(/^.*#\d+:/, '');
    const row = table.step(place, step, 'tool');
    row.label = textOf(payload['toolName']);
    const status = payload['status'] ?? 'ok';
    if (event.type === 'agent.toolReturned')
      closeOpen(row.bars, status === 'ok' ? 'completed' : 'failed', event);
    else addChange(row.bars, { opens: 'attempt' }, event, payload);
  }
}

function kindOf(step: string): RowKind {
  if (/^turn-\d+$/.test(step)) return 'turn';
  return /\.call-\d+$/.test(step) ? 'tool' : 'step';
}

function modelText({ model, usage }: JsonObject): string {
  const tokens = isJsonObject(usage) ? usage['totalTokens'] : undefined;
  const parts = [textOf(model), typeof tokens === 'number' ? `${tokens.toLocaleString('en')} tokens` : ''];
  return parts.filter((part) => part !== '').join(', ');
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function addChange(
  bars: TimelineBar[],
  { outcome, opens }: Change,
  event: RunEventDocument,
  payload: JsonObject,
): void {
  const before = bars.at(-1);
  closeOpen(bars, outcome ?? 'resumed', event);
  if (opens === undefined) return;
  const attempt = typeof payload['attempt'] === 'number' ? payload['attempt'] : (before?.attempt ?? 0);
  bars.push({ kind: opens, start: Date.parse(event.timestamp), startSeq: event.sequence, attempt });
}

function closeOpen(bars: TimelineBar[], outcome: BarOutcome, event: RunEventDocument): void {
  const open = bars.at(-1);
  if (open !== undefined && open.end === undefined)
    bars[bars.length - 1] = {
      ...open,
      end: Date.parse(event.timestamp),
      endSeq: event.sequence,
      outcome,
    };
}

/** The rows that had begun by an event. */
export function begunBy(rows: readonly TimelineRow[], sequence: number): readonly TimelineRow[] {
  return rows.filter(({ bars }) => bars[0] !== undefined && bars[0].startSeq <= sequence);
}

/** A row as it stood after an event: what began later is not there, what ended later still lasts. */
export function rowAt(row: TimelineRow, sequence: number): TimelineRow {
  const bars = row.bars.filter(({ startSeq }) => startSeq <= sequence).map((bar) => barAt(bar, sequence));
  const isKnown = row.detail === undefined || (bars[0]?.endSeq ?? Number.POSITIVE_INFINITY) <= sequence;
  const { detail: _detail, ...plain } = row;
  return { ...(isKnown ? row : plain), bars };
}

function barAt(bar: TimelineBar, sequence: number): TimelineBar {
  if (bar.endSeq === undefined || bar.endSeq <= sequence) return bar;
  const { end: _end, endSeq: _endSeq, outcome: _outcome, ...open } = bar;
  return open;
}

/** From the first beginning to the last moment that is shown. At least a millisecond, so that it can be divided by. */
export function spanOf(
  rows: readonly TimelineRow[],
  last: number,
): { readonly start: number; readonly end: number } {
  const start = rows[0]?.bars[0]?.start ?? last;
  return { start, end: Math.max(last, start + 1) };
}

const SHORT_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500];
const LONG_STEPS = [1, 2, 5, 10, 15, 30].flatMap((count) => [count * 1_000, count * 60_000]);
const LONGEST_STEPS = [1, 2, 4, 6, 12, 24].map((hours) => hours * 3_600_000);

/** Round distances from the start at which the scale has a mark: at most `most` of them. */
export function scaleMarks(length: number, most: number): number[] {
  const steps = [...SHORT_STEPS, ...LONG_STEPS, ...LONGEST_STEPS].sort((x, y) => x - y);
  const step =
    steps.find((each) => length / each <= most) ?? Math.ceil(length / most / 86_400_000) * 86_400_000;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step);
}
