import { type Json, type JsonObject, type RunSnapshot, toIso } from '@weft/protocol';
import { sha256Hex } from '../hash.ts';
import type { Plan } from './plan.ts';
import { shownOutputs } from './recorder.ts';
import { maskValue } from './redaction.ts';
import type { ChildRun, CreationRecord, ForkLink, NodeState, RunState, RunStatus } from './run-state.ts';
import { collectOutputs } from './scope-result.ts';
import { redactorFor } from './sensitive.ts';

const SUPERVISOR_TYPE = 'core.orchestrator.supervisor';

/**
 * The fold as a client may see it: sensitive variables and outputs masked, credential-shaped strings masked everywhere, run
 * inputs not shown as such.
 */
export function renderSnapshot(
  plan: Plan,
  record: CreationRecord,
  state: RunState,
  extras: { readonly status: RunStatus | 'cancelling' },
): RunSnapshot {
  const open: JsonObject = {
    variables: shownVariables(plan, state),
    ...(plan.channels.size > 0 && { channels: shownChannels(plan, state) }),
    nodeStates: nodeStates(state),
    ...(state.children.length > 0 && { childRuns: state.children.map(childRun) }),
    ...(state.status === 'completed' && { outputs: finalOutputs(plan, record, state) }),
    ...(state.error !== undefined && { error: errorOf(state.error) }),
    ...(record.tags.length > 0 && { tags: [...record.tags] }),
    ...(Object.keys(record.metadata).length > 0 && { metadata: record.metadata }),
    ...(Object.keys(record.configurable).length > 0 && { configurable: record.configurable }),
  };
  const shown = redactorFor(plan, state).apply(open, JSON.stringify(open)) ?? open;
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
    weft: hostMembers(record, state),
  };
}

/** What only this host says of its runs. */
function hostMembers(record: CreationRecord, state: RunState): JsonObject {
  return {
    workflowVersion: record.workflowVersion,
    definitionDigest: record.definitionDigest,
    createdAt: toIso(record.createdAt),
    ...(record.fork !== undefined && { fork: forkOf(record.fork) }),
    ...(record.imported !== undefined && { imported: { ...record.imported } }),
    ...(state.pausedAt !== undefined && { pausedAt: toIso(state.pausedAt) }),
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

function nodeStates(state: RunState): JsonObject {
  return Object.fromEntries([...state.nodes].map(([key, node]) => [key, nodeState(node)]));
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
