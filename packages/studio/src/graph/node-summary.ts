import type { NodeStatus, NodeView } from '../run/run-fold.ts';
import { durationText } from '../ui/time-text.ts';
import type { GraphNode } from './graph-model.ts';

/** How a drawn node stands: of all rounds of all nodes that it stands for, the state that a person should see first. */
export interface NodeSummary {
  readonly status: NodeStatus | 'pending';
  readonly done: number;
  readonly attempt: number;
  readonly rounds: readonly NodeView[];
}

/** By node id. */
export type Summaries = ReadonlyMap<string, NodeSummary>;

const ATTENTION = ['failed', 'waiting', 'running', 'retrying'] as const;
const ENDED: ReadonlySet<string> = new Set(['completed', 'cancelled', 'skipped']);
const FIRST_SEEN: readonly NodeStatus[] = [...ATTENTION, 'completed', 'cancelled', 'skipped'];

export function summariesOf(views: Iterable<NodeView>): Map<string, NodeSummary> {
  const byNode = new Map<string, NodeView[]>();
  for (const view of views) {
    const rounds = byNode.get(view.nodeId);
    if (rounds === undefined) byNode.set(view.nodeId, [view]);
    else rounds.push(view);
  }
  return new Map([...byNode].map(([id, rounds]) => [id, summaryOf(rounds)]));
}

function summaryOf(rounds: readonly NodeView[]): NodeSummary {
  const firstWith = new Map<NodeStatus, NodeView>();
  let done = 0;
  for (const round of rounds) {
    if (!firstWith.has(round.status)) firstWith.set(round.status, round);
    if (round.status === 'completed') done += 1;
  }
  const shown = FIRST_SEEN.flatMap((status) => firstWith.get(status) ?? [])[0];
  return { status: shown?.status ?? 'pending', done, attempt: shown?.attempt ?? 0, rounds };
}

/** Of a box that stands for several nodes: what asks for attention in any of them, as long as the box itself has not ended. */
export function stateOf({ id, members, loop }: GraphNode, states: Summaries): NodeSummary | undefined {
  const own = states.get(id);
  if (members.length === 1) return own;
  if (loop !== undefined && own !== undefined && ENDED.has(own.status)) return own;
  const all = members.flatMap((member) => states.get(member) ?? []);
  const first = ATTENTION.flatMap((status) => all.find((each) => each.status === status) ?? [])[0];
  if (first !== undefined) return first;
  return loop !== undefined || all.length === members.length ? (own ?? all.at(-1)) : undefined;
}

/** One line of an opened box: a round of a loop, an attempt that failed, or a node of a child run. */
export interface NodeRow {
  readonly key: string;
  readonly status: string;
  readonly text: string;
  readonly more?: string;
  readonly href?: string;
}

/** How a child run stands. */
export interface ChildSummary {
  readonly status: string;
  readonly nodes: readonly { readonly id: string; readonly status: string }[];
}

/** What a closed box does not show; undefined where there is nothing more to see. */
export function foldText({ rounds, attempt, done }: NodeSummary): string | undefined {
  if (rounds.length > 1)
    return `${done.toLocaleString('en')} of ${rounds.length.toLocaleString('en')} rounds done`;
  if (rounds[0]?.childRunId !== undefined) return 'child run';
  return attempt > 0 ? `${attempt + 1} attempts` : undefined;
}

const MAX_ROWS = 6;

/** The lines of an opened box, of which there are never many: everything stands in the panel and in the events. */
export function rowsOf(
  { rounds }: NodeSummary,
  childOf: (runId: string) => ChildSummary | undefined,
): NodeRow[] {
  const [only, ...others] = rounds;
  if (only !== undefined && others.length === 0)
    return [...newest(attemptRows(only)), ...childRows(only, childOf)];
  return newest(rounds.slice(-MAX_ROWS).map(roundRow), rounds.length);
}

function newest(rows: readonly NodeRow[], count = rows.length): NodeRow[] {
  if (count <= MAX_ROWS) return [...rows];
  const kept = rows.slice(1 - MAX_ROWS);
  return [moreRow(`${(count - kept.length).toLocaleString('en')} earlier`), ...kept];
}

function moreRow(text: string): NodeRow {
  return { key: 'more', status: 'pending', text };
}

function roundRow({ key, status, startedAt, endedAt, childRunId }: NodeView): NodeRow {
  return {
    key,
    status,
    text: key,
    ...(startedAt !== undefined && endedAt !== undefined && { more: durationText(endedAt - startedAt) }),
    ...(childRunId !== undefined && { href: runAddress(childRunId) }),
  };
}

function attemptRows({ key, attempt, status, failures, note }: NodeView): NodeRow[] {
  if (failures.length === 0) return [];
  const failed = failures.map((failure) => ({
    key: `${key}#${failure.attempt}`,
    status: 'failed',
    text: `attempt ${failure.attempt + 1}`,
    more: failure.note,
  }));
  const isLast = status === 'retrying' ? [] : [{ attempt, note }];
  return [
    ...failed,
    ...isLast.map((last) => ({
      key: `${key}#${last.attempt}`,
      status,
      text: `attempt ${last.attempt + 1}`,
      ...(last.note !== undefined && { more: last.note }),
    })),
  ];
}

function childRows(
  { childRunId }: NodeView,
  childOf: (runId: string) => ChildSummary | undefined,
): NodeRow[] {
  if (childRunId === undefined) return [];
  const { status = 'pending', nodes = [] } = childOf(childRunId) ?? {};
  const shown = nodes.length <= MAX_ROWS ? nodes : nodes.slice(0, MAX_ROWS - 1);
  const hidden = nodes.length - shown.length;
  return [
    { key: childRunId, status, text: 'Open the child run', href: runAddress(childRunId) },
    ...shown.map((node) => ({ key: `${childRunId}/${node.id}`, status: node.status, text: node.id })),
    ...(hidden > 0 ? [moreRow(`${hidden.toLocaleString('en')} more nodes`)] : []),
  ];
}

function runAddress(runId: string): string {
  return `#/runs/${encodeURIComponent(runId)}`;
}
