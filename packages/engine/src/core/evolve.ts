import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { StoredEvent } from '../store.ts';
import type { Plan } from './plan.ts';
import { foldPayload, type RunEvent } from './run-event.ts';
import { type CreationRecord, type NodeError, type NodeState, nodeKey, type RunState } from './run-state.ts';

/** What is known before the first event: variables take their defaults, then every input by name. */
export function initialState(record: CreationRecord, plan: Pick<Plan, 'variables'>): RunState {
  const variables = new Map<string, Json>();
  for (const variable of plan.variables.values()) {
    if (variable.defaultValue !== undefined) variables.set(variable.name, variable.defaultValue);
  }
  for (const [name, value] of Object.entries(record.inputs)) variables.set(name, value);
  return {
    status: 'pending',
    nextSeq: 0,
    lastAt: record.createdAt,
    variables,
    nodes: new Map(),
    executions: 0,
    activeMs: 0,
    pins: new Map(),
  };
}

/**
 * How a fact changes what we know. The state is changed in place and returned: a run's state has one owner at a time, and
 * copying it for every event would make a long run quadratic. Unknown types and fields change nothing.
 */
export function evolve(state: RunState, event: RunEvent): RunState {
  state.nextSeq = event.seq + 1;
  state.lastAt = event.at;
  const change = CHANGES[event.type];
  if (change !== undefined) change(state, event, foldPayload(event));
  return state;
}

/** The stored form back to the form the fold reads. */
export function fromStored(event: StoredEvent): RunEvent {
  return {
    seq: event.seq,
    at: event.at,
    type: event.type,
    payload: JSON.parse(event.payload) as JsonObject,
    ...(event.overlay !== undefined && { overlay: JSON.parse(event.overlay) as JsonObject }),
    ...(event.nodeId !== undefined && { nodeId: event.nodeId }),
    ...(event.causeSeq !== undefined && { causeSeq: event.causeSeq }),
  };
}

type Change = (state: RunState, event: RunEvent, payload: JsonObject) => void;

const CHANGES: Readonly<Record<string, Change | undefined>> = {
  'run.started': (state, event) => {
    state.status = 'running';
    state.startedAt = event.at;
    state.activeSince = event.at;
  },
  'run.paused': (state, event) => {
    state.status = 'paused';
    state.pausedAt = event.at;
    stopClock(state, event.at);
  },
  'run.resumed': (state, event) => {
    state.status = 'running';
    delete state.pausedAt;
    state.activeSince = event.at;
  },
  'run.completed': (state, event, payload) => {
    end(state, event, 'completed');
    state.outputs = (payload['outputs'] as JsonObject | undefined) ?? {};
  },
  'run.failed': (state, event, payload) => {
    end(state, event, 'failed');
    state.error = payload['error'] as unknown as NodeError;
    if (typeof payload['failedNodeId'] === 'string') state.failedNodeId = payload['failedNodeId'];
  },
  'run.cancelled': (state, event) => end(state, event, 'cancelled'),

  'node.started': (state, event, payload) => {
    const node = nodeOf(state, event, payload);
    node.status = 'running';
    node.typeId = String(payload['typeId']);
    node.attempt = Number(payload['attempt'] ?? 0);
    node.startedAt = event.at;
    delete node.dueAt;
    delete node.endedAt;
    if (typeof payload['delayMs'] === 'number') node.dueAt = event.at + payload['delayMs'];
    if (Array.isArray(payload['items'])) node.items = payload['items'];
    if (payload['inputs'] !== undefined) node.inputs = payload['inputs'] as JsonObject;
    state.executions += 1;
  },
  'node.completed': (state, event, payload) => {
    const node = settle(state, event, payload, 'completed');
    node.outputs = (payload['outputs'] as JsonObject | undefined) ?? {};
    if (Array.isArray(payload['edgesNotTaken'])) node.notTaken = payload['edgesNotTaken'] as string[];
    if (isJsonObject(payload['edgeErrors']))
      node.edgeErrors = payload['edgeErrors'] as Record<string, string>;
    delete node.error;
  },
  'node.failed': (state, event, payload) => {
    settle(state, event, payload, 'failed').error = payload['error'] as unknown as NodeError;
  },
  'node.skipped': (state, event, payload) => {
    const node = settle(state, event, payload, 'skipped');
    if (typeof payload['reason'] === 'string') node.reason = payload['reason'];
  },
  'node.cancelled': (state, event, payload) => {
    const node = settle(state, event, payload, 'cancelled');
    if (typeof payload['reason'] === 'string') node.reason = payload['reason'];
  },
  'node.retried': (state, event, payload) => {
    const node = nodeOf(state, event, payload);
    node.status = 'backoff';
    node.attempt = Number(payload['attempt']);
    node.dueAt = event.at + Number(payload['delayMs'] ?? 0);
    if (payload['lastError'] !== undefined) {
      node.error = payload['lastError'] as unknown as NodeError;
      node.failures += 1;
    }
  },

  'variable.changed': (state, _event, payload) => {
    state.variables.set(String(payload['name']), payload['next'] ?? null);
  },
  'version.pinned': (state, _event, payload) => {
    state.pins.set(String(payload['changeId']), Number(payload['version']));
  },
};

function nodeOf(state: RunState, event: RunEvent, payload: JsonObject): NodeState {
  const nodeId = String(payload['nodeId'] ?? event.nodeId);
  const iteration = Array.isArray(payload['iteration']) ? (payload['iteration'] as number[]) : [];
  const key = nodeKey(nodeId, iteration);
  let node = state.nodes.get(key);
  if (node === undefined) {
    node = { nodeId, typeId: '', iteration, status: 'running', attempt: 0, failures: 0, seq: event.seq };
    state.nodes.set(key, node);
  }
  node.seq = event.seq;
  return node;
}

function settle(
  state: RunState,
  event: RunEvent,
  payload: JsonObject,
  status: 'completed' | 'failed' | 'skipped' | 'cancelled',
): NodeState {
  const node = nodeOf(state, event, payload);
  node.status = status;
  node.endedAt = event.at;
  delete node.dueAt;
  delete node.inputs;
  return node;
}

function end(state: RunState, event: RunEvent, status: 'completed' | 'failed' | 'cancelled'): void {
  state.status = status;
  state.endedAt = event.at;
  delete state.pausedAt;
  stopClock(state, event.at);
}

function stopClock(state: RunState, at: number): void {
  if (state.activeSince === undefined) return;
  state.activeMs += at - state.activeSince;
  delete state.activeSince;
}
