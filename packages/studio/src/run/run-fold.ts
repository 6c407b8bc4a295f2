import { placeOf } from '@weft/engine/compare';
import { isJsonObject, type Json, type JsonObject, waitingFor } from '@weft/protocol/plain';
import type { RunEventDocument } from '@weft/sdk';

/**
 * What the page shows of a run, as a fold of its public events. It is a view, not the engine's state: exact variables and channels come from
 * the host, which also knows what is masked here. Nodes are replaced and never changed, and each knows how it stood before: so any earlier
 * moment of them can be found in the newest.
 */
export interface RunView extends RunFacts {
  /** By node and iteration: `work[2]`. */
  readonly nodes: Map<string, NodeView>;
}

export interface RunFacts {
  /** Of the last event folded; -1 before the first. */
  sequence: number;
  /** When that event happened. */
  at?: number;
  status: string;
  startedAt?: number;
  endedAt?: number;
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
  /** Of the event that made it so. */
  readonly sequence: number;
  /** How it stood until then. */
  readonly before?: NodeView;
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

export function copyFacts({ variables, ...facts }: RunFacts): RunFacts {
  return { ...facts, variables: new Map(variables) };
}

/** The nodes as they stood after an event. */
export function nodesAt(nodes: RunView['nodes'], sequence: number): RunView['nodes'] {
  const found = new Map<string, NodeView>();
  for (const [key, newest] of nodes) {
    let node: NodeView | undefined = newest;
    while (node !== undefined && node.sequence > sequence) node = node.before;
    if (node !== undefined) found.set(key, node);
  }
  return found;
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
  foldFacts(view, event);
  const nodeStatus = NODE_STATUS[event.type];
  if (nodeStatus !== undefined) foldNode(view.nodes, event, nodeStatus);
  else if (event.type === 'node.dispatched') foldDispatch(view.nodes, event);
}

/** The same for all but the nodes. */
export function foldFacts(facts: RunFacts, event: RunEventDocument): void {
  const payload = payloadOf(event);
  const at = Date.parse(event.timestamp);
  facts.sequence = event.sequence;
  facts.at = at;
  const runStatus = RUN_STATUS[event.type];
  if (runStatus !== undefined) foldRun(facts, at, runStatus, payload);
  const nodeStatus = NODE_STATUS[event.type];
  if (nodeStatus !== undefined) facts.status = statusAfter(facts, nodeStatus, payload);
  else if (event.type === 'variable.changed')
    facts.variables.set(String(payload['name']), payload['next'] ?? null);
  else if (event.type === 'provider.usage') foldUsage(facts, payload);
}

function payloadOf({ payload }: RunEventDocument): JsonObject {
  return isJsonObject(payload) ? payload : {};
}

function foldRun(facts: RunFacts, at: number, status: string, payload: JsonObject): void {
  facts.status = status;
  facts.startedAt ??= at;
  if (RUN_ENDED.has(status)) facts.endedAt = at;
  if (payload['outputs'] !== undefined) facts.outputs = payload['outputs'];
  const problem = problemOf(payload['error']);
  if (problem === undefined) return;
  const nodeId = payload['failedNodeId'];
  facts.error = typeof nodeId === 'string' ? { ...problem, nodeId } : problem;
}

function foldNode(nodes: RunView['nodes'], event: RunEventDocument, status: NodeStatus): void {
  const payload = payloadOf(event);
  const key = placeOf(event) ?? '?';
  const at = Date.parse(event.timestamp);
  const known = nodes.get(key);
  const round = roundBefore(known, event);
  const started = event.type === 'node.started' ? at : undefined;
  nodes.set(key, {
    sequence: event.sequence,
    ...given('before', known),
    key,
    nodeId: nodeIdOf(key),
    status,
    attempt: typeof payload['attempt'] === 'number' ? payload['attempt'] : (round?.attempt ?? 0),
    ...given('startedAt', round?.startedAt ?? started),
    ...given('endedAt', ENDED.has(status) ? at : undefined),
    ...given('note', noteOf(payload)),
    ...given('childRunId', textOf(payload['childRunId']) ?? round?.childRunId),
    ...given('outputs', payload['outputs']),
    ...given('waitsFor', status === 'waiting' ? waitsFor(payload) : undefined),
    failures: failuresAfter(round?.failures, status, payload),
  });
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
function statusAfter({ status: before }: RunFacts, status: NodeStatus, payload: JsonObject): string {
  if (RUN_ENDED.has(before) || before === 'paused') return before;
  if (status === 'waiting') return waitingFor(String(payload['kind']))?.waitsAs ?? before;
  return status === 'running' ? 'running' : before;
}

function foldDispatch(nodes: RunView['nodes'], event: RunEventDocument): void {
  const key = placeOf(event);
  const before = key === undefined ? undefined : nodes.get(key);
  const childRunId = textOf(payloadOf(event)['childRunId']);
  if (key !== undefined && before !== undefined && childRunId !== undefined)
    nodes.set(key, { ...before, sequence: event.sequence, before, childRunId });
}

function foldUsage(view: RunFacts, payload: JsonObject): void {
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
