import type { RunEventDocument } from '@weft/sdk';
import { isJsonObject } from '@weft/protocol/plain';
import { asTypedHere } from '../program-name.ts';
import { DEFAULT_ROWS } from './live-view.ts';
import { asksText } from './question.ts';
import { type NodeProgress, type RunProgress, nodeKeyOf } from './run-progress.ts';
import { type Style, paintStatus } from './style.ts';
import { renderTable } from './table.ts';
import { durationText } from './time-text.ts';
import { shown, visibleText } from './terminal-text.ts';
import { countText } from './count-text.ts';

/** Next to the nodes: the head, the titles, what is not shown, and the cursor. */
const OTHER_LINES = 4;

/** The whole view, redrawn as the run moves, on a terminal of `rows` lines. */
export function renderProgress(
  style: Style,
  progress: RunProgress,
  now: number,
  rows: number = DEFAULT_ROWS,
): string {
  const head = `${style.bold(progress.runId)}  ${paintStatus(style, shownStatus(progress))}  ${elapsed(progress, now)}`;
  const nodes = [...progress.nodes.values()];
  if (nodes.length === 0) return head;
  const shown = worthShowing(nodes, Math.max(1, rows - OTHER_LINES));
  const table = renderTable<NodeProgress>(
    style,
    [
      { title: 'NODE', value: (node) => node.key },
      {
        title: 'STATUS',
        value: (node) => node.status,
        paint: (text, node) => repaint(style, text, node.status),
      },
      { title: 'TIME', value: (node) => elapsed(node, now), align: 'right' },
      { title: '', value: (node) => [attemptText(node), node.note ?? ''].filter(Boolean).join('  ') },
    ],
    shown,
  );
  const hidden = nodes.length - shown.length;
  if (hidden === 0) return [head, table].join('\n');
  const active = nodes.filter(isActive).length - shown.filter(isActive).length;
  const more = `… and ${countText(hidden, 'more node')}`;
  return [head, table, style.dim(active === 0 ? more : `${more}, ${active} of them active`)].join('\n');
}

/** No event says that a run waits: it does when an interrupt is open and nothing else is active. */
function shownStatus(progress: RunProgress): string {
  if (progress.status !== 'running') return progress.status;
  const nodes = [...progress.nodes.values()];
  const isMoving = nodes.some(({ status }) => status === 'running' || status === 'retrying');
  return (isMoving ? undefined : nodes.find(({ status }) => status === 'waiting')?.waitsAs) ?? 'running';
}

/** With more nodes than lines, the active ones come first, then those that went wrong, then the newest. */
function worthShowing(nodes: readonly NodeProgress[], room: number): readonly NodeProgress[] {
  if (nodes.length <= room) return nodes;
  const newest = nodes.toReversed();
  const isDone = ({ status }: NodeProgress): boolean => status === 'completed' || status === 'skipped';
  const byWorth = [
    newest.filter(isActive),
    newest.filter((node) => !isActive(node) && !isDone(node)),
    newest.filter(isDone),
  ];
  const chosen = new Set(byWorth.flat().slice(0, room));
  return nodes.filter((node) => chosen.has(node));
}

function isActive({ status }: NodeProgress): boolean {
  return status === 'running' || status === 'retrying' || status === 'waiting';
}

function repaint(style: Style, text: string, status: string): string {
  return text.replace(status, paintStatus(style, status));
}

function attemptText(node: NodeProgress): string {
  return node.attempt > 0 ? `attempt ${node.attempt + 1}` : '';
}

function elapsed(timed: { startedAt?: number; endedAt?: number }, now: number): string {
  if (timed.startedAt === undefined) return '';
  return durationText((timed.endedAt ?? now) - timed.startedAt);
}

/** One event as one line, for output that is not a terminal. `startedAt` is the run's, for the clock on the left. */
export function eventLine(style: Style, event: RunEventDocument, startedAt: number | undefined): string {
  const offset = startedAt === undefined ? 0 : Date.parse(event.timestamp) - startedAt;
  const clock = `+${(offset / 1000).toFixed(3)}s`.padStart(10);
  const payload = isJsonObject(event.payload) ? event.payload : {};
  const node = event.nodeId === undefined ? '' : nodeKeyOf(event, payload);
  const line = `${style.dim(`${String(event.sequence).padStart(5)} ${clock}`)}  ${visibleText(event.type).padEnd(16)} ${visibleText(node)}`;
  const note = lineNote(event.type, payload);
  return `${line}${note === '' ? '' : `  ${visibleText(note)}`}`.trimEnd();
}

function lineNote(type: string, payload: { readonly [name: string]: unknown }): string {
  const error = payload['error'] ?? payload['lastError'];
  if (isJsonObject(error)) return `${String(error['code'])}: ${String(error['message'])}`;
  if (type === 'variable.changed') return `${String(payload['name'])} = ${short(payload['next'])}`;
  if (type === 'interrupt.requested' && isJsonObject(payload['data']))
    return asksText({ data: payload['data'] });
  if (type === 'approval.received') return voteText(payload);
  if (type === 'log.appended') return String(payload['message'] ?? '');
  if (typeof payload['reason'] === 'string') return payload['reason'];
  if (payload['outputs'] !== undefined) return short(payload['outputs']);
  return '';
}

function voteText(payload: { readonly [name: string]: unknown }): string {
  const by = typeof payload['decidedBy'] === 'string' ? ` by ${payload['decidedBy']}` : '';
  const said = payload['feedback'] ?? payload['comment'];
  return `${String(payload['action'])}${by}${typeof said === 'string' ? `: ${said}` : ''}`;
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}

/** The last words: how it ended, in what time, with what. */
export function outcomeText(style: Style, progress: RunProgress): string {
  const took =
    progress.endedAt === undefined || progress.startedAt === undefined ? '' : ` in ${elapsed(progress, 0)}`;
  const lines = [
    shown`Run ${progress.runId} ${paintStatus(style, progress.status)}${took} (${countText(progress.events, 'event')}).`,
  ];
  if (progress.error !== undefined) {
    const where = progress.error.nodeId === undefined ? '' : ` at node ${progress.error.nodeId}`;
    lines.push(shown`${style.red(progress.error.code)}${where}: ${asTypedHere(progress.error.message)}`);
  }
  if (progress.outputs !== undefined && Object.keys(progress.outputs).length > 0) {
    lines.push('Outputs:', JSON.stringify(progress.outputs, null, 2));
  }
  return lines.join('\n');
}
