import { placeOf } from '@weft/engine/compare';
import { isJsonObject, type Json, type JsonObject, waitingFor } from '@weft/protocol/plain';
import type { RunEventDocument } from '@weft/sdk';

/**
 * What the page shows of a run, as a fold of its public events. It is a view, not the engine's state: exact variables and channels come from
 * the host, which also knows what is masked here. Entries are replaced and never changed, so that a copy of the maps is a copy of the view.
 */
export interface RunView {
  /** Of the last event folded; -1 before the first. */
  sequence: number;
  /** When that event happened. */
  at?: number;
  status: string;
  startedAt?: number;
  endedAt?: number;
  /** By node and iteration: `work[2]`. */
  readonly nodes: Map<string, NodeView>;
  readonly variables: Map<string, Json>;
  outputs?: Json;
  error?: RunProblem;
  tokens: number;
  usd?: number;
}

export type NodeStatus =
  | 'running'
  | 'completed'
  | 'failed'
  | 'skipped'
  | 'cancelled'
  | 'retrying'
  | 'waiting';

export interface NodeView {
  readonly key: string;
  readonly nodeId: string;
  readonly status: NodeStatus;
  readonly attempt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** Error or reason, in words. */
  readonly note?: string;
  readonly childRunId?: string;
  readonly outputs?: Json;
  readonly waitsFor?: string;
  /** Attempts that failed and were followed by another. */
  readonly failures: readonly Failure[];
}

interface Failure {
  readonly attempt: number;
  readonly note: string;
}

export interface RunProblem {
  readonly code: string;
  readonly message: string;
  readonly nodeId?: string;
}

export function blankView(): RunView {
  return { sequence: -1, status: 'pending', nodes: new Map(), variables: new Map(), tokens: 0 };
}

export function copyView(view: RunView): RunView {
  return { ...view, nodes: new Map(view.nodes), variables: new Map(view.variables) };
}

const RUN_STATUS: Readonly<Record<string, string>> = {
  'run.started': 'running',
  'run.paused': 'paused',
  'run.resumed': 'running',
  'run.completed': 'completed',
  'run.failed': 'failed',
  'run.cancelled': 'cancelled',
};

const NODE_STATUS: Readonly<Record<string, NodeStatus>> = {
  'node.started': 'running',
  'node.completed': 'completed',
  'node.failed': 'failed',
  'node.skipped': 'skipped',
  'node.cancelled': 'cancelled',
  'node.retried': 'retrying',
  'node.suspended': 'waiting',
  'node.resumed': 'running',
};

const ENDED: ReadonlySet<NodeStatus> = new Set(['completed', 'failed', 'skipped', 'cancelled']);
const RUN_ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** Changes the view in place. Types it does not know only move the sequence. */
export function foldEvent(view: RunView, event: RunEventDocument): void {
  const payload = isJsonObject(event.payload) ? event.payload : {};
  view.sequence = event.sequence;
  view.at = Date.parse(event.timestamp);
  const runStatus = RUN_STATUS[event.type];
  if (runStatus !== undefined) foldRun(view, event, runStatus, payload);
  const nodeStatus = NODE_STATUS[event.type];
  if (nodeStatus !== undefined) foldNode(view, event, nodeStatus, payload);
  else if (event.type === 'node.dispatched') foldDispatch(view, event, payload);
  else if (event.type === 'variable.changed')
    view.variables.set(String(payload['name']), payload['next'] ?? null);
  else if (event.type === 'provider.usage') foldUsage(view, payload);
}

function foldRun(view: RunView, event: RunEventDocument, status: string, payload: JsonObject): void {
  const at = Date.parse(event.timestamp);
  view.status = status;
  view.startedAt ??= at;
  if (RUN_ENDED.has(status)) view.endedAt = at;
  if (payload['outputs'] !== undefined) view.outputs = payload['outputs'];
  const problem = problemOf(payload['error']);
  if (problem === undefined) return;
  const nodeId = payload['failedNodeId'];
  view.error = typeof nodeId === 'string' ? { ...problem, nodeId } : problem;
}

function foldNode(view: RunView, event: RunEventDocument, status: NodeStatus, payload: JsonObject): void {
  const key = placeOf(event) ?? '?';
  const at = Date.parse(event.timestamp);
  const before = roundBefore(view.nodes.get(key), event);
  const started = event.type === 'node.started' ? at : undefined;
  view.nodes.set(key, {
    key,
    nodeId: nodeIdOf(key),
    status,
    attempt: typeof payload['attempt'] === 'number' ? payload['attempt'] : (before?.attempt ?? 0),
    ...given('startedAt', before?.startedAt ?? started),
    ...given('endedAt', ENDED.has(status) ? at : undefined),
    ...given('note', noteOf(payload)),
    ...given('childRunId', textOf(payload['childRunId']) ?? before?.childRunId),
    ...given('outputs', payload['outputs']),
    ...given('waitsFor', status === 'waiting' ? waitsFor(payload) : undefined),
    failures: failuresAfter(before?.failures, status, payload),
  });
  view.status = statusAfter(view, status, payload);
}

/** A node that is reached again begins again. */
function roundBefore(known: NodeView | undefined, { type }: RunEventDocument): NodeView | undefined {
  return type === 'node.started' && known !== undefined && ENDED.has(known.status) ? undefined : known;
}

/** The event names the attempt that follows. */
function failuresAfter(
  before: readonly Failure[] = [],
  status: NodeStatus,
  payload: JsonObject,
): readonly Failure[] {
  if (status !== 'retrying') return before;
  const attempt = Math.max(0, numberOf(payload['attempt']) - 1);
  return [...before, { attempt, note: noteOf(payload) ?? '' }].slice(-MAX_FAILURES);
}

const MAX_FAILURES = 100;

function given<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [Key in Name]: Value });
}

/** A run waits while one of its nodes does and none is at work. */
function statusAfter(view: RunView, status: NodeStatus, payload: JsonObject): string {
  if (RUN_ENDED.has(view.status) || view.status === 'paused') return view.status;
  if (status === 'waiting') return waitingFor(String(payload['kind']))?.waitsAs ?? view.status;
  return status === 'running' ? 'running' : view.status;
}

function foldDispatch(view: RunView, event: RunEventDocument, payload: JsonObject): void {
  const key = placeOf(event);
  const before = key === undefined ? undefined : view.nodes.get(key);
  const childRunId = textOf(payload['childRunId']);
  if (key !== undefined && before !== undefined && childRunId !== undefined)
    view.nodes.set(key, { ...before, childRunId });
}

function foldUsage(view: RunView, payload: JsonObject): void {
  view.tokens += numberOf(payload['inputTokens']) + numberOf(payload['outputTokens']);
  const usd = payload['costEstimateUsd'];
  if (typeof usd === 'number') view.usd = (view.usd ?? 0) + usd;
}

/** `work` of `work[2][0]`. */
export function nodeIdOf(key: string): string {
  return key.replace(/(?:\[\d+\])+$/, '');
}

function waitsFor(payload: JsonObject): string {
  if (typeof payload['childRunId'] === 'string') return 'its child run';
  return waitingFor(String(payload['kind']))?.waitsFor ?? 'an answer';
}

function noteOf(payload: JsonObject): string | undefined {
  const problem = problemOf(payload['error'] ?? payload['lastError']);
  return problem === undefined ? textOf(payload['reason']) : `${problem.code}: ${problem.message}`;
}

export function problemOf(value: Json | undefined): RunProblem | undefined {
  if (!isJsonObject(value) || typeof value['code'] !== 'string') return undefined;
  return { code: value['code'], message: textOf(value['message']) ?? '' };
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}
