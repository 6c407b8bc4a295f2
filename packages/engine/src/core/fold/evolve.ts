import { isJsonObject, type Json, type JsonObject, waitingFor } from '@weft/protocol';
import { toNumber, toText } from './to-plain.ts';
import { newNode, newRunState } from './blank-state.ts';
import { channelWritten, triggeredNodeBegan, triggerFired } from '../channels/channel-fold.ts';
import type { Plan } from '../compile/plan.ts';
import { toNanoUsd } from '../costs/money.ts';
import type { EventType, Fact, Payload, RunEvent } from '../../model/run-event.ts';
import type { OfNode } from '../../model/event-payloads.ts';
import { stepAnswered, stepCompleted, stepFailed, stepOf, stepRetried, stepStarted } from './step-fold.ts';
import { asDeclared, memberOf, readSensitivity } from '../redaction/sensitivity.ts';
import {
  type ChildState,
  type CreationRecord,
  isWaitingStatus,
  type NodeError,
  type NodeState,
  type NodeStatus,
  nodeKey,
  type RunState,
  type RunStatus,
  type Vote,
} from '../../model/run-state.ts';

/** What is known before the first event: variables take their defaults, then every input by name. */
export function initialState(record: CreationRecord, plan: Pick<Plan, 'variables' | 'channels'>): RunState {
  const variables = new Map<string, Json>();
  for (const variable of plan.variables.values()) {
    if (variable.defaultValue !== undefined) variables.set(variable.name, variable.defaultValue);
  }
  const channels = new Map<string, Json>();
  for (const { name, defaultValue } of plan.channels.values()) {
    if (defaultValue !== undefined) channels.set(name, defaultValue);
  }
  for (const name of Object.keys(record.inputs)) variables.set(name, record.inputs[name] as Json);
  // A fork begins in its source's time.
  const beganAt = record.fork === undefined ? record.createdAt : 0;
  const state = newRunState(variables, channels, beganAt, countedFrom(record));
  if (record.sensitiveInputs === undefined) return state;
  for (const name of Object.keys(record.inputs)) {
    const declared = plan.variables.get(name)?.sensitive;
    const sensitivity = asDeclared(memberOf(record.sensitiveInputs, name), declared);
    if (sensitivity !== undefined) state.sensitiveVariables.set(name, sensitivity);
  }
  return state;
}

function countedFrom({ fork, createdAt }: CreationRecord): number {
  return fork?.mode === 'branch' ? createdAt : (fork?.branchedAt ?? 0);
}

/**
 * How a fact changes what we know. The state is changed in place and returned: a run's state has one owner at a time, and
 * copying it for every event would make a long run quadratic. Unknown types and fields change nothing.
 */
export function evolve(state: RunState, event: RunEvent): RunState {
  state.nextSeq = event.seq + 1;
  state.lastAt = event.at;
  const change = BY_NAME[event.type];
  if (change !== undefined) change(state, event, event.overlay ?? event.payload);
  return state;
}

type Change<Type extends EventType> = (state: RunState, event: Fact<Type>, payload: Payload<Type>) => void;

/** Of facts that are for readers only. */
const unchanged = (): void => undefined;

/** Whose digests are kept; no run calls as many. */
const MOST_TOOLS = 1_000;

/**
 * One for each type that is recorded. Payloads of imported logs are as another host wrote them: what is kept as a number or a text is
 * made one here, and what need not be there is looked at before it is used.
 */
const CHANGES: { readonly [Type in EventType]: Change<Type> } = {
  'run.started': (state, event) => {
    state.status = 'running';
    state.startedAt = event.at;
    startClock(state, event.at);
  },
  'run.paused': (state, event) => {
    state.status = 'paused';
    state.pausedAt = event.at;
    stopClock(state, event.at);
  },
  'run.resumed': (state, event) => {
    state.status = 'running';
    state.pausedAt = undefined;
    startClock(state, event.at);
    deriveStatus(state, event.at);
  },
  'run.completed': (state, event, payload) => {
    end(state, event, 'completed');
    state.outputs = payload.outputs ?? {};
  },
  'run.failed': (state, event, payload) => {
    end(state, event, 'failed');
    state.error = payload.error;
    if (typeof payload.failedNodeId === 'string') state.failedNodeId = payload.failedNodeId;
  },
  'run.cancelled': (state, event) => end(state, event, 'cancelled'),
  'run.dead_lettered': unchanged,
  'trigger.delivery.attempted': unchanged,

  'node.started': (state, event, payload) => {
    const node = nodeOf(state, event, payload);
    node.isLoop = payload.loop === true;
    node.dueAt = typeof payload.delayMs === 'number' ? event.at + payload.delayMs : undefined;
    moveTo(state, node, 'running', event.at);
    node.typeId = toText(payload.typeId);
    node.attempt = toNumber(payload.attempt ?? 0);
    node.startedAt = event.at;
    node.endedAt = undefined;
    node.chunks = undefined;
    node.steps = undefined;
    if (Array.isArray(payload.items)) node.items = payload.items;
    if (payload.sensitiveItems === true) node.sensitiveItems = true;
    if (payload.inputs !== undefined) {
      node.inputs = payload.inputs;
      node.sensitiveInputs = readSensitivity(payload.sensitiveInputs);
    }
    if (typeof payload.decisionSeq === 'number') adopt(state, node, payload.decisionSeq);
    triggeredNodeBegan(state, node.nodeId);
    state.executions += 1;
  },
  'node.completed': (state, event, payload) => {
    const node = settle(state, event, payload, 'completed');
    node.outputs = payload.outputs ?? {};
    node.sensitive = readSensitivity(payload.sensitive);
    if (Array.isArray(payload.edgesNotTaken)) node.notTaken = payload.edgesNotTaken;
    if (isJsonObject(payload.edgeErrors)) node.edgeErrors = payload.edgeErrors;
    node.error = undefined;
    if (Array.isArray(payload.reenters)) restartCycle(state, node, payload.reenters);
  },
  'node.failed': (state, event, payload) => {
    settle(state, event, payload, 'failed').error = payload.error;
  },
  'node.skipped': (state, event, payload) => {
    const node = settle(state, event, payload, 'skipped');
    if (typeof payload.reason === 'string') node.reason = payload.reason;
  },
  'node.cancelled': (state, event, payload) => {
    const node = settle(state, event, payload, 'cancelled');
    if (typeof payload.reason === 'string') node.reason = payload.reason;
  },
  'node.retried': (state, event, payload) => {
    const node = nodeOf(state, event, payload);
    moveTo(state, node, 'backoff', event.at);
    node.attempt = toNumber(payload.attempt);
    node.dueAt = event.at + toNumber(payload.delayMs ?? 0);
    if (payload.lastError !== undefined) {
      node.error = payload.lastError;
      node.failures += 1;
    }
  },

  'node.suspended': (state, event, payload) => {
    const node = nodeOf(state, event, payload);
    // A parent waits with its child or after the child's end, so the child exists.
    if (node.child !== undefined) node.child.isKnown = true;
    if (typeof payload.childStatus === 'string') {
      childMoved(state, node, payload.childStatus);
      return moveTo(state, node, 'suspended', event.at);
    }
    node.interrupt = {
      interruptId: toText(payload.interruptId),
      kind: payload.kind,
      key: toText(payload.key),
      data: {},
      requestedAt: event.at,
      votes: [],
    };
    if (payload.step !== undefined) node.interrupt.step = payload.step;
    moveTo(state, node, 'suspended', event.at);
  },
  'interrupt.requested': (state, event, payload) => {
    const node = nodeOf(state, event, payload);
    if (node.interrupt === undefined) return;
    node.interrupt.data = payload.data;
    const sensitivity = readSensitivity(payload.sensitive);
    if (sensitivity !== undefined) node.interrupt.sensitive = sensitivity;
    if (isJsonObject(payload.resumeSchema)) node.interrupt.resumeSchema = payload.resumeSchema;
    if (payload.authRequired === true) node.interrupt.authRequired = true;
    if (typeof payload.timeoutMs !== 'number') return;
    node.interrupt.timeoutMs = payload.timeoutMs;
    node.dueAt = event.at + payload.timeoutMs;
  },
  'approval.received': (state, event, payload) => {
    const { interrupt } = nodeOf(state, event, payload);
    const vote: Vote = { voter: toText(payload.decidedBy), action: toText(payload.action) };
    if (interrupt === undefined || vote.action === 'timeout') return;
    const earlier = interrupt.votes.findIndex(({ voter }) => voter === vote.voter);
    if (earlier === -1) interrupt.votes.push(vote);
    else interrupt.votes[earlier] = vote;
  },
  'interrupt.resolved': (state, event, payload) => {
    const { interrupt } = nodeOf(state, event, payload);
    if (interrupt !== undefined) interrupt.closed = payload.reason === 'timeout' ? 'timed-out' : 'resolved';
  },
  'node.resumed': (state, event, payload) => {
    const node = nodeOf(state, event, payload);
    node.dueAt = undefined;
    stepAnswered(node, payload.resumeValue);
    childMoved(state, node, 'running');
    moveTo(state, node, 'running', event.at);
  },

  'node.dispatched': (state, event, payload) => {
    const node = nodeOf(state, event, payload);
    if (node.child !== undefined) childMoved(state, node, 'completed');
    const { outputMapping } = payload;
    node.child = {
      runId: toText(payload.childRunId),
      workflowId: toText(payload.childWorkflowId),
      done: toNumber(payload.done ?? 0),
      outputMapping: isJsonObject(outputMapping) ? outputMapping : {},
      onFailure: payload.onFailure === 'absorb' ? 'absorb' : 'fail',
      propagateCancellation: payload.propagateCancellation !== false,
    };
    if (isJsonObject(payload.childInputs)) node.childInputs = payload.childInputs;
    node.sensitiveChildInputs = readSensitivity(payload.sensitiveChildInputs);
    const { runId, workflowId } = node.child;
    state.children.push({
      runId,
      workflowId,
      nodeKey: nodeKey(node.nodeId, node.iteration),
      status: 'running',
      ...(node.decision?.sensitive === true && { sensitive: true }),
    });
  },
  'output.chunk': (state, event, payload) => {
    const node = nodeOf(state, event, payload);
    const streaming = payload.step === undefined ? node : (stepOf(node, payload.step) ?? node);
    streaming.chunks = (streaming.chunks ?? 0) + 1;
  },
  'clarification.requested': (state, event, payload) => {
    const { nodeId, iteration } = nodeOf(state, event, payload);
    count(state.clarifications, nodeKey(nodeId, iteration));
  },
  'conversation.exchanged': (state, event, payload) => {
    const { interrupt } = nodeOf(state, event, payload);
    if (interrupt !== undefined) interrupt.turns = toNumber(payload.turnIndex);
  },
  'runOrchestrator.decided': (state, event, payload) => {
    const nodeId = event.nodeId ?? '';
    state.decisions += 1;
    state.openDecisions = state.openDecisions.filter((other) => other.nodeId !== nodeId);
    state.openDecisions.push({
      seq: event.seq,
      nodeId,
      decision: payload.decision,
      ...(payload.sensitive !== undefined && { sensitive: true }),
    });
  },

  'variable.changed': (state, _event, payload) => {
    const name = toText(payload.name);
    state.variables.set(name, payload.next ?? null);
    const sensitivity = readSensitivity(payload.sensitive);
    if (sensitivity === undefined) state.sensitiveVariables.delete(name);
    else state.sensitiveVariables.set(name, sensitivity);
  },
  'channel.written': channelWritten,
  'weft.trigger.fired': (state, _event, payload) => triggerFired(state, payload),
  'replay.diverged': (state, event) => {
    state.divergedAt = event.seq;
  },
  'version.pinned': (state, _event, payload) => {
    state.pins.set(toText(payload.changeId), toNumber(payload.version));
  },

  'agent.toolCalled': (state, event, payload) => {
    state.openCalls.set(toText(payload.callId), event.seq);
    if (event.at >= state.countedFrom) state.toolCalls += 1;
    const { toolName, toolDigest } = payload;
    const isKept = state.toolDigests.has(toText(toolName)) || state.toolDigests.size < MOST_TOOLS;
    if (typeof toolDigest === 'string' && isKept) state.toolDigests.set(toText(toolName), toolDigest);
  },
  'agent.toolReturned': (state, _event, payload) => {
    state.openCalls.delete(toText(payload.callId));
  },
  'weft.step.started': (state, event, payload) => stepStarted(nodeOf(state, event, payload), payload),
  'weft.step.completed': (state, event, payload) => {
    const node = nodeOf(state, event, payload);
    stepCompleted(node, payload);
    if (payload.childRunId !== undefined) stepChildEnded(state, node, payload.result['childStatus']);
  },
  'weft.step.failed': (state, event, payload) => {
    const node = nodeOf(state, event, payload);
    stepFailed(node, payload);
    if (payload.childRunId !== undefined) stepChildEnded(state, node, 'failed');
  },
  'weft.step.retried': (state, event, payload) =>
    stepRetried(nodeOf(state, event, payload), payload, event.at),

  'approval.requested': unchanged,
  'weft.approval.asked': unchanged,
  'clarification.resolved': unchanged,
  'conversation.opened': unchanged,
  'conversation.closed': unchanged,
  'weft.channel.sent': unchanged,
  'log.appended': unchanged,
  'cap.breached': unchanged,
  'budget.reserved': unchanged,
  'budget.consumed': unchanged,
  'budget.threshold.crossed': unchanged,
  'budget.exhausted': unchanged,
  'artifact.created': unchanged,
  'memory.written': unchanged,
  'provider.usage': (state, event, payload) => {
    const {
      inputTokens = 0,
      outputTokens = 0,
      nanoUsd,
      spentTokens = 0,
      spentNanoUsd = 0,
    } = state.usage ?? {};
    const { costEstimateUsd: cost } = payload;
    const used = toNumber(payload.inputTokens) + toNumber(payload.outputTokens);
    const paid = cost === undefined ? 0 : toNanoUsd(toNumber(cost));
    const isOwn = event.at >= state.countedFrom;
    state.usage = {
      inputTokens: inputTokens + toNumber(payload.inputTokens),
      outputTokens: outputTokens + toNumber(payload.outputTokens),
      provider: toText(payload.provider),
      model: toText(payload.model),
      ...((nanoUsd !== undefined || cost !== undefined) && { nanoUsd: (nanoUsd ?? 0) + paid }),
      spentTokens: spentTokens + (isOwn ? toNumber(payload.totalTokens ?? used) : 0),
      spentNanoUsd: spentNanoUsd + (isOwn ? paid : 0),
    };
  },
  'prompt.composed': unchanged,
  'agent.reasoned': unchanged,
  'agent.reasoning.delta': unchanged,
  'agent.handoff': unchanged,
  'agent.decided': unchanged,
};

/** The same for a name of which nothing is known yet; that a change fits its own type has been checked above. */
const BY_NAME = CHANGES as unknown as Readonly<
  Record<string, ((state: RunState, event: RunEvent, payload: unknown) => void) | undefined>
>;

export const RECORDED_TYPES: readonly string[] = Object.keys(CHANGES);

const NO_ITERATION: readonly number[] = [];

type Settling = OfNode & { outputs?: JsonObject; error?: NodeError };

function nodeOf(state: RunState, event: Fact, payload: Partial<OfNode>): NodeState {
  const nodeId = toText(payload.nodeId ?? event.nodeId);
  const iteration = Array.isArray(payload.iteration) ? payload.iteration : NO_ITERATION;
  const key = nodeKey(nodeId, iteration);
  let node = state.nodes.get(key);
  if (node === undefined) {
    node = newNode(nodeId, iteration, event.seq);
    state.nodes.set(key, node);
  }
  node.seq = event.seq;
  return node;
}

function settle(
  state: RunState,
  event: Fact<'node.completed' | 'node.failed' | 'node.skipped' | 'node.cancelled'>,
  payload: Settling,
  status: 'completed' | 'failed' | 'skipped' | 'cancelled',
): NodeState {
  const node = nodeOf(state, event, payload);
  if (status === 'cancelled' && node.interrupt?.closed === undefined && node.interrupt !== undefined) {
    node.interrupt.closed = 'cancelled';
  }
  if (node.child !== undefined) childMoved(state, node, endOfChild(node.child, status, payload));
  triggeredNodeBegan(state, node.nodeId);
  moveTo(state, node, status, event.at);
  node.endedAt = event.at;
  node.dueAt = undefined;
  node.inputs = undefined;
  node.sensitiveInputs = undefined;
  node.childInputs = undefined;
  node.steps = undefined;
  node.sensitiveChildInputs = undefined;
  return node;
}

/** What the end of a node says about its child. */
function endOfChild(child: ChildState, status: string, payload: Settling): RunStatus {
  if (status === 'cancelled') return child.propagateCancellation ? 'cancelled' : 'running';
  const settled = status === 'failed' ? payload.error?.details : payload.outputs;
  const childStatus = settled?.['childStatus'];
  return typeof childStatus === 'string' ? (childStatus as RunStatus) : 'failed';
}

function adopt(state: RunState, node: NodeState, seq: number): void {
  const taken = state.openDecisions.find((decision) => decision.seq === seq);
  if (taken === undefined) return;
  node.decision = taken;
  state.openDecisions = state.openDecisions.filter((decision) => decision !== taken);
}

function childMoved(state: RunState, node: NodeState, status: RunStatus): void {
  const { child } = node;
  if (child === undefined) return;
  child.waiting = isWaitingStatus(status) ? status : undefined;
  const run = state.children.findLast(({ runId }) => runId === child.runId);
  if (run !== undefined) run.status = status;
}

/** The node continues without the child. */
function stepChildEnded(state: RunState, node: NodeState, status: Json | undefined): void {
  childMoved(state, node, toText(status) as RunStatus);
  node.child = undefined;
  node.childInputs = undefined;
  node.sensitiveChildInputs = undefined;
}

/** A cycle begins again: its nodes are as if they had not run, but for the count. */
function restartCycle(state: RunState, closing: NodeState, nodeIds: readonly string[]): void {
  for (const nodeId of nodeIds) {
    const key = nodeKey(nodeId, closing.iteration);
    state.nodes.delete(key);
    count(state.visits, key);
  }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function end(state: RunState, event: Fact, status: 'completed' | 'failed' | 'cancelled'): void {
  state.status = status;
  state.endedAt = event.at;
  state.pausedAt = undefined;
  stopClock(state, event.at);
}

/** Changes a node's status, and with it what the run as a whole is doing. */
function moveTo(state: RunState, node: NodeState, status: NodeStatus, at: number): void {
  if (isUnderWay(node)) countActive(state, node, -1);
  if (node.status === 'suspended') {
    const key = nodeKey(node.nodeId, node.iteration);
    state.suspended = state.suspended.filter((other) => other !== key);
  }
  node.status = status;
  if (isUnderWay(node)) countActive(state, node, 1);
  if (status === 'suspended') state.suspended.push(nodeKey(node.nodeId, node.iteration));
  deriveStatus(state, at);
  adjustWorkClock(state, at);
}

function countActive(state: RunState, { status, dueAt }: NodeState, by: 1 | -1): void {
  state.activeNodes += by;
  if (status === 'running' && dueAt !== undefined) state.delayingNodes += by;
}

/** A loop is as busy as the nodes of its body are. */
function isUnderWay(node: NodeState): boolean {
  return (node.status === 'running' || node.status === 'backoff') && node.isLoop !== true;
}

/** With nothing running and someone asked, the run waits; who was asked first decides for what. Waiting time is not counted. */
function deriveStatus(state: RunState, at: number): void {
  const isWaiting = state.status !== 'running' && isWaitingStatus(state.status);
  if (state.status !== 'running' && !isWaiting) return;
  const asked = state.activeNodes === 0 ? state.suspended[0] : undefined;
  const first = asked === undefined ? undefined : state.nodes.get(asked);
  const waiting = first?.child?.waiting ?? (first?.interrupt && waitingFor(first.interrupt.kind)?.waitsAs);
  if (waiting !== undefined) {
    state.status = waiting;
    stopClock(state, at);
  } else if (isWaiting) {
    state.status = 'running';
    startClock(state, at);
  }
}

function startClock(state: RunState, at: number): void {
  state.activeSince = at;
  adjustWorkClock(state, at);
}

function stopClock(state: RunState, at: number): void {
  if (state.activeSince === undefined) return;
  state.activeMs += counted(state, state.activeSince, at);
  state.activeSince = undefined;
  adjustWorkClock(state, at);
}

/** Stands while the run is not active, and while it has nothing but delays. */
function adjustWorkClock(state: RunState, at: number): void {
  const hasOnlyDelays = state.activeNodes > 0 && state.activeNodes === state.delayingNodes;
  const isWorking = state.activeSince !== undefined && !hasOnlyDelays;
  if (isWorking === (state.workingSince !== undefined)) return;
  if (state.workingSince !== undefined) state.workingMs += counted(state, state.workingSince, at);
  state.workingSince = isWorking ? at : undefined;
}

function counted({ countedFrom }: RunState, since: number, at: number): number {
  return Math.max(at - Math.max(since, countedFrom), 0);
}
