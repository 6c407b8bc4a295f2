import { type JsonObject, isJsonObject, waitingFor } from '@weft/protocol/plain';
import type { RunEventDocument } from '@weft/sdk';

/** What a person watching wants to know of a run: a fold of its events, small enough to redraw. */
export interface RunProgress {
  readonly runId: string;
  status: string;
  startedAt?: number;
  endedAt?: number;
  readonly nodes: Map<string, NodeProgress>;
  outputs?: JsonObject;
  error?: { readonly code: string; readonly message: string; readonly nodeId?: string };
  events: number;
}

export interface NodeProgress {
  readonly key: string;
  status: string;
  startedAt?: number;
  endedAt?: number;
  attempt: number;
  note?: string;
  /** The status of a run that waits for this node only. */
  waitsAs?: string;
}

export function newProgress(runId: string): RunProgress {
  return { runId, status: 'pending', nodes: new Map(), events: 0 };
}

const RUN_STATUS: Readonly<Record<string, string>> = {
  'run.started': 'running',
  'run.paused': 'paused',
  'run.resumed': 'running',
  'run.completed': 'completed',
  'run.failed': 'failed',
  'run.cancelled': 'cancelled',
};

const NODE_STATUS: Readonly<Record<string, string>> = {
  'node.started': 'running',
  'node.completed': 'completed',
  'node.failed': 'failed',
  'node.skipped': 'skipped',
  'node.cancelled': 'cancelled',
  'node.retried': 'retrying',
  'node.suspended': 'waiting',
  'node.resumed': 'running',
};

/** Changes the progress in place. Types it does not know only count. */
export function applyEvent(progress: RunProgress, event: RunEventDocument): void {
  const at = Date.parse(event.timestamp);
  const payload = isJsonObject(event.payload) ? event.payload : {};
  progress.events = Math.max(progress.events, event.sequence + 1);
  const runStatus = RUN_STATUS[event.type];
  if (runStatus !== undefined) applyRunEvent(progress, runStatus, at, payload);
  const nodeStatus = NODE_STATUS[event.type];
  if (nodeStatus !== undefined) applyNodeEvent(progress, event, nodeStatus, at, payload);
}

function applyRunEvent(progress: RunProgress, status: string, at: number, payload: JsonObject): void {
  progress.status = status;
  progress.startedAt ??= at;
  if (status === 'completed' || status === 'failed' || status === 'cancelled') progress.endedAt = at;
  if (isJsonObject(payload['outputs'])) progress.outputs = payload['outputs'];
  const error = errorOf(payload['error']);
  if (error === undefined) return;
  const nodeId = payload['failedNodeId'];
  progress.error = typeof nodeId === 'string' ? { ...error, nodeId } : error;
}

function applyNodeEvent(
  progress: RunProgress,
  event: RunEventDocument,
  status: string,
  at: number,
  payload: JsonObject,
): void {
  const key = nodeKeyOf(event, payload);
  const node = progress.nodes.get(key) ?? { key, status, attempt: 0 };
  progress.nodes.set(key, node);
  node.status = status;
  if (event.type === 'node.started') node.startedAt ??= at;
  if (typeof payload['attempt'] === 'number') node.attempt = payload['attempt'];
  if (status === 'completed' || status === 'failed' || status === 'cancelled') node.endedAt = at;
  if (event.type === 'node.suspended')
    node.waitsAs = waitingFor(String(payload['kind']))?.waitsAs ?? 'waiting-input';
  const note = noteOf(payload);
  if (note === undefined) delete node.note;
  else node.note = note;
}

/** `work`, or `work[2][0]` inside loops. */
export function nodeKeyOf(event: RunEventDocument, payload: JsonObject): string {
  const iteration = Array.isArray(payload['iteration']) ? payload['iteration'] : [];
  return `${event.nodeId ?? String(payload['nodeId'] ?? '?')}${iteration.map((index) => `[${String(index)}]`).join('')}`;
}

function noteOf(payload: JsonObject): string | undefined {
  const error = errorOf(payload['error'] ?? payload['lastError']);
  if (error !== undefined) return `${error.code}: ${error.message}`;
  return typeof payload['reason'] === 'string' ? payload['reason'] : undefined;
}

function errorOf(value: unknown): { code: string; message: string } | undefined {
  if (!isJsonObject(value) || typeof value['code'] !== 'string') return undefined;
  return { code: value['code'], message: typeof value['message'] === 'string' ? value['message'] : '' };
}
