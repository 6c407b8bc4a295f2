import { fromNanoUsd } from '../costs/money.ts';
import { isJsonObject, type Json, type JsonObject, type RunSnapshot, toIso } from '@weft/protocol';
import type { Plan } from '../compile/plan.ts';
import { shownMembers, shownResult } from '../decide/recorder.ts';
import { type Masking, maskingOf, maskSensitive, type Redactor } from '../redaction/redaction.ts';
import {
  askingNode,
  type ChildRun,
  type CreationRecord,
  type ForkLink,
  type RunSource,
  isWaitingStatus,
  type NodeState,
  type RunState,
  type RunStatus,
} from '../../model/run-state.ts';
import { redactorFor } from '../redaction/sensitive.ts';
import {
  channelSensitivity,
  inputSensitivity,
  type RunView,
  variableSensitivity,
} from '../redaction/sensitive-places.ts';
import type { Sensitivity } from '../redaction/sensitivity.ts';
import { finish, type CooperativeTask } from '../json/cooperative-task.ts';

const SUPERVISOR_TYPE = 'core.orchestrator.supervisor';

/**
 * The fold as a client may see it: sensitive variables and outputs masked, credential-shaped strings masked everywhere, and of the
 * run's inputs those that are declared and not sensitive.
 */
export function renderSnapshot(
  plan: Plan,
  record: CreationRecord,
  state: RunState,
  extras: SnapshotExtras,
): RunSnapshot {
  return finish(snapshotCooperatively(plan, record, state, extras));
}

export interface SnapshotExtras {
  readonly status: RunStatus | 'cancelling';
  /** Set while no one works on the run because of what it did. */
  readonly quarantined?: { readonly since: string; readonly reason: string } | undefined;
}

/** The same in short steps, so that the event loop stays free. The state must not change before the last step. */
export function* snapshotCooperatively(
  plan: Plan,
  record: CreationRecord,
  state: RunState,
  extras: SnapshotExtras,
): CooperativeTask<RunSnapshot> {
  const view = { plan, record, state };
  const masking = maskingOf(plan, record.tenant);
  const redactor = redactorFor(plan, record, state);
  const nodeStates = yield* shownNodes(state, redactor);
  yield;
  const currentNodeId = isWaitingStatus(extras.status) ? askingNode(state) : undefined;
  const inputs = shownInputs(view);
  const open: JsonObject = {
    ...(Object.keys(inputs).length > 0 && { inputs }),
    variables: shownValues(state.variables, (name) => variableSensitivity(view, name), masking),
    ...(plan.channels.size > 0 && {
      channels: shownValues(state.channels, (name) => channelSensitivity(view, name), masking),
    }),
    nodeStates: {},
    ...(state.children.length > 0 && { childRuns: state.children.map((child) => childRun(child, masking)) }),
    ...(state.status === 'completed' && { outputs: finalOutputs(view, masking) }),
    ...(state.error !== undefined && { error: errorOf(state.error) }),
    ...metricsOf(state),
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
    owner: ownerOf(record),
    ...(state.startedAt !== undefined && { startedAt: toIso(state.startedAt) }),
    ...(state.endedAt !== undefined && { completedAt: toIso(state.endedAt) }),
    ...(currentNodeId !== undefined && { currentNodeId }),
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

function ownerOf({ tenant, workspace, principal }: CreationRecord): NonNullable<RunSnapshot['owner']> {
  return {
    tenant,
    ...(workspace !== undefined && { workspace }),
    ...(principal !== undefined && { principal }),
  };
}

/** What only this host says of its runs. */
function hostMembers(record: CreationRecord, state: RunState, { quarantined }: SnapshotExtras): JsonObject {
  return {
    workflowVersion: record.workflowVersion,
    definitionDigest: record.definitionDigest,
    createdAt: toIso(record.createdAt),
    ...(record.fork !== undefined && { fork: forkOf(record.fork) }),
    ...(record.source !== undefined && record.fork === undefined && { source: sourceOf(record.source) }),
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

function sourceOf({ kind, id, deliveryId, dueAt }: RunSource): JsonObject {
  return { kind, id, deliveryId, ...(dueAt !== undefined && { dueAt: toIso(dueAt) }) };
}

function forkOf({ sourceRunId, fromSeq, mode }: ForkLink): JsonObject {
  return { sourceRunId, fromSeq, mode };
}

function childRun({ runId, workflowId, nodeKey, status, sensitive }: ChildRun, masking: Masking): JsonObject {
  const shown = { runId, status, workflowId, nodeId: nodeKey };
  return sensitive === true ? shownMembers(shown, { workflowId: true }, masking) : shown;
}

function shownValues(
  values: ReadonlyMap<string, Json>,
  sensitivityOf: (name: string) => Sensitivity | undefined,
  masking: Masking,
): JsonObject {
  const entries: [string, Json][] = [];
  for (const [name, value] of values) {
    const shown = maskSensitive(value, sensitivityOf(name), masking);
    if (shown !== undefined) entries.push([name, shown]);
  }
  return Object.fromEntries(entries);
}

function shownInputs(view: RunView): JsonObject {
  const { plan, record } = view;
  const shown = [...plan.variables.keys()].filter(
    (name) => Object.hasOwn(record.inputs, name) && inputSensitivity(view, name) === undefined,
  );
  return Object.fromEntries(shown.map((name) => [name, record.inputs[name] as Json]));
}

/** Nodes that are rendered and masked in one go. */
const SLICE = 200;

function* shownNodes(state: RunState, redactor: Redactor): CooperativeTask<JsonObject> {
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
  if (redactor.hasValues)
    return Object.fromEntries(entries.map(([key, node]) => [key, maskedNode(node, redactor)]));
  const open: JsonObject = Object.fromEntries(entries);
  return redactor.apply(open, JSON.stringify(open)) ?? open;
}

/** Of a node, only its error has words from outside. */
function maskedNode(node: Json, redactor: Redactor): Json {
  if (!isJsonObject(node) || node['error'] === undefined) return node;
  const said = { error: node['error'] };
  return { ...node, ...redactor.apply(said, JSON.stringify(said)) };
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

function finalOutputs({ plan, record, state }: RunView, masking: Masking): JsonObject {
  // Without a definition no one knows which nodes come last; then the log's own word counts.
  if (record.imported?.definition !== undefined) return state.outputs ?? {};
  return shownResult(state, plan.root, masking);
}

function errorOf(error: { code: string; message: string; details?: JsonObject }): JsonObject {
  return {
    code: error.code,
    message: error.message,
    ...(error.details !== undefined && { details: error.details }),
  };
}

/** What models have used, in the protocol's words. A price that is not known is left out. */
function metricsOf({ usage }: RunState): JsonObject {
  if (usage === undefined) return {};
  const { inputTokens, outputTokens, nanoUsd, provider, model } = usage;
  const tokens = { input: inputTokens, output: outputTokens };
  const usd = nanoUsd === undefined ? undefined : fromNanoUsd(nanoUsd);
  return { metrics: { openwopCost: { tokens, provider, model, ...(usd !== undefined && { usd }) } } };
}
