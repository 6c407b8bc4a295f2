import { type Json, type JsonObject, type RunSnapshot, toIso } from '@weft/protocol';
import { sha256Hex } from '../hash.ts';
import type { Plan } from './plan.ts';
import { shownOutputs } from './recorder.ts';
import { maskValue, type Redactor } from './redaction.ts';
import type { ChildRun, CreationRecord, ForkLink, NodeState, RunState, RunStatus } from './run-state.ts';
import { collectOutputs } from './scope-result.ts';
import { redactorFor } from './sensitive.ts';
import { finish, type Steps } from './steps.ts';

const SUPERVISOR_TYPE = 'core.orchestrator.supervisor';

/**
 * The fold as a client may see it: sensitive variables and outputs masked, credential-shaped strings masked everywhere, run
 * inputs not shown as such.
 */
export function renderSnapshot(
  plan: Plan,
  record: CreationRecord,
  state: RunState,
  extras: SnapshotExtras,
): RunSnapshot {
  return finish(snapshotInSteps(plan, record, state, extras));
}

export interface SnapshotExtras {
  readonly status: RunStatus | 'cancelling';
  /** Set while nobody works on the run because of what it did. */
  readonly quarantined?: { readonly since: string; readonly reason: string } | undefined;
}

/** The same, for whoever has others to serve meanwhile. The state must not change before the last step. */
export function* snapshotInSteps(
  plan: Plan,
  record: CreationRecord,
  state: RunState,
  extras: SnapshotExtras,
): Steps<RunSnapshot> {
  const redactor = redactorFor(plan, state);
  const nodeStates = yield* shownNodes(state, redactor);
  yield;
  const open: JsonObject = {
    variables: shownVariables(plan, state),
    ...(plan.channels.size > 0 && { channels: shownChannels(plan, state) }),
    nodeStates: {},
    ...(state.children.length > 0 && { childRuns: state.children.map(childRun) }),
    ...(state.status === 'completed' && { outputs: finalOutputs(plan, record, state) }),
    ...(state.error !== undefined && { error: errorOf(state.error) }),
    ...(record.tags.length > 0 && { tags: [...record.tags] }),
    ...(Object.keys(record.metadata).length > 0 && { metadata: record.metadata }),
    ...(Object.keys(record.configurable).length > 0 && { configurable: record.configurable }),
  };
  const shown = redactor.apply(open, JSON.stringify(open)) ?? open;
  shown['nodeStates'] = nodeStates;
  return {
    runId: record.runId,
    workflowId: record.workflowId,
    status: extras.status,
    owner: { tenant: record.tenant, ...(record.principal !== undefined && { principal: record.principal }) },
    ...(state.startedAt !== undefined && { startedAt: toIso(state.startedAt) }),
    ...(state.endedAt !== undefined && { completedAt: toIso(state.endedAt) }),
    ...agentsOf(plan),
    ...(record.parent !== undefined && {
      parentRunId: record.parent.runId,
      parentNodeId: record.parent.nodeId,
    }),
    ...shown,
    engineVersion: String(record.engineVersion),
    eventLogSchemaVersion: 2,
    weft: hostMembers(record, state, extras),
  };
}

/** What only this host says of its runs. */
function hostMembers(record: CreationRecord, state: RunState, { quarantined }: SnapshotExtras): JsonObject {
  return {
    workflowVersion: record.workflowVersion,
    definitionDigest: record.definitionDigest,
    createdAt: toIso(record.createdAt),
    ...(record.fork !== undefined && { fork: forkOf(record.fork) }),
    ...(record.imported !== undefined && { imported: { ...record.imported } }),
    ...(state.pausedAt !== undefined && { pausedAt: toIso(state.pausedAt) }),
    ...(quarantined !== undefined && { quarantined }),
  };
}

/** Who acts in the run: the agent pinned to its orchestrator, and the first one pinned to another node. */
function agentsOf(plan: Plan): JsonObject {
  const pinned = plan.definition.nodes.filter((node) => node.agent !== undefined);
  const orchestrator = pinned.find((node) => node.typeId === SUPERVISOR_TYPE)?.agent;
  const agent = pinned.find((node) => node.typeId !== SUPERVISOR_TYPE)?.agent;
  return {
    ...(agent !== undefined && { agent: { ...agent } }),
    ...(orchestrator !== undefined && { runOrchestrator: { ...orchestrator } }),
  };
}

function forkOf({ sourceRunId, fromSeq, mode }: ForkLink): JsonObject {
  return { sourceRunId, fromSeq, mode };
}

function childRun({ runId, workflowId, nodeKey, status }: ChildRun): JsonObject {
  return { runId, status, workflowId, nodeId: nodeKey };
}

function shownVariables(plan: Plan, state: RunState): JsonObject {
  const entries: [string, Json][] = [];
  for (const [name, value] of state.variables) {
    const isSensitive = state.inheritedSecrets.has(name) || plan.variables.get(name)?.sensitive === true;
    const shown = isSensitive ? maskValue(value, plan.maskingMode, sha256Hex) : value;
    if (shown !== undefined) entries.push([name, shown]);
  }
  return Object.fromEntries(entries);
}

function shownChannels(plan: Plan, state: RunState): JsonObject {
  const entries: [string, Json][] = [];
  for (const [name, value] of state.channels) {
    const isSensitive = plan.channels.get(name)?.sensitive === true;
    const shown = isSensitive ? maskValue(value, plan.maskingMode, sha256Hex) : value;
    if (shown !== undefined) entries.push([name, shown]);
  }
  return Object.fromEntries(entries);
}

/** Nodes that are rendered and masked in one go. */
const SLICE = 200;

function* shownNodes(state: RunState, redactor: Redactor): Steps<JsonObject> {
  const all: [string, Json][] = [];
  let slice: [string, Json][] = [];
  for (const [key, node] of state.nodes) {
    slice.push([key, nodeState(node)]);
    if (slice.length < SLICE) continue;
    for (const entry of Object.entries(masked(slice, redactor))) all.push(entry);
    slice = [];
    yield;
  }
  const last = masked(slice, redactor);
  return all.length === 0 ? last : Object.fromEntries(all.concat(Object.entries(last)));
}

function masked(entries: [string, Json][], redactor: Redactor): JsonObject {
  const open: JsonObject = Object.fromEntries(entries);
  return redactor.apply(open, JSON.stringify(open)) ?? open;
}

function nodeState(node: NodeState): JsonObject {
  return {
    status: node.status,
    ...(node.typeId !== '' && { typeId: node.typeId }),
    attempt: node.attempt,
    ...(node.startedAt !== undefined && { startedAt: toIso(node.startedAt) }),
    ...(node.endedAt !== undefined && { endedAt: toIso(node.endedAt) }),
    ...(node.dueAt !== undefined && { dueAt: toIso(node.dueAt) }),
    ...(node.error !== undefined && { error: errorOf(node.error) }),
    ...(node.reason !== undefined && { reason: node.reason }),
  };
}

function finalOutputs(plan: Plan, { imported }: CreationRecord, state: RunState): JsonObject {
  // Without a definition nobody knows which nodes come last; then the log's own word counts.
  if (imported?.definition !== undefined) return state.outputs ?? {};
  return collectOutputs(state, plan.root, [], (node, outputs) => shownOutputs(plan, node, outputs));
}

function errorOf(error: { code: string; message: string; details?: JsonObject }): JsonObject {
  return {
    code: error.code,
    message: error.message,
    ...(error.details !== undefined && { details: error.details }),
  };
}
