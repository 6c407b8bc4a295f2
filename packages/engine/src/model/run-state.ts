import type { InterruptKind, Json, JsonObject } from '@weft/protocol';
import type { CostCode } from '../core/compile/plan.ts';
import type { Sensitivity } from '../core/redaction/sensitivity.ts';

/**
 * What is known about a run: the fold of its creation record and its log. Everything here can be rebuilt from those two,
 * so a checkpoint of it is disposable.
 */

export type RunStatus =
  | 'pending'
  | 'running'
  | 'paused'
  | 'waiting-approval'
  | 'waiting-input'
  | 'waiting-external'
  | 'completed'
  | 'failed'
  | 'cancelled';

export type NodeStatus =
  | 'running' // started: an effect is in flight, a timer runs, or a loop iterates
  | 'backoff' // failed, and a retry is due at dueAt
  | 'suspended' // parked on an interrupt
  | 'completed'
  | 'failed'
  | 'skipped'
  | 'cancelled';

/** Node id, followed inside loops by one index per enclosing loop: `work`, `work[2]`, `work[2][0]`. */
export type NodeKey = string;

export interface NodeError {
  readonly code: string;
  readonly message: string;
  readonly retryable?: boolean;
  readonly details?: JsonObject;
}

/** What comes and goes is set to undefined, never deleted (blank-state.ts says why). */
export interface NodeState {
  nodeId: string;
  typeId: string;
  /** Indexes of the enclosing loops, outermost first; empty outside loops. */
  iteration: readonly number[];
  status: NodeStatus;
  /** Zero-based; grows with every retry. */
  attempt: number;
  startedAt?: number | undefined;
  endedAt?: number | undefined;
  /** When the delay ends, the retry is due, or the attempt of a timer node times out. */
  dueAt?: number | undefined;
  outputs?: JsonObject | undefined;
  /** By port: what of the outputs must not be shown. */
  sensitive?: Sensitivity | undefined;
  error?: NodeError | undefined;
  /** Why it was skipped or cancelled. */
  reason?: string | undefined;
  /** Sequence of the event that set the present status. */
  seq: number;
  /** Failed attempts so far; an attempt cut short by a pause is none. */
  failures: number;
  /** Inputs fixed at the start of an effect, where resolving them again later could give others. */
  inputs?: JsonObject | undefined;
  /** By port: what of these inputs must not be shown. */
  sensitiveInputs?: Sensitivity | undefined;
  /** Ids of outgoing edges whose condition did not hold when the node completed; decided once, then a fact. */
  notTaken?: readonly string[] | undefined;
  /** Outgoing edges whose condition could not be evaluated, and why. */
  edgeErrors?: Readonly<Record<string, EdgeError>> | undefined;
  /** The question this node asked; kept after the answer, so that a late answer gets the reason. */
  interrupt?: InterruptState | undefined;
  isLoop?: boolean | undefined;
  /** Loops only: the items fixed at the start; absent for `while`. */
  items?: Json[] | undefined;
  /** The items were worked out from something sensitive. */
  sensitiveItems?: true | undefined;
  /** The running child run, or the last one. */
  child?: ChildState | undefined;
  /** What the child is created with; kept until the node settles. */
  childInputs?: JsonObject | undefined;
  /** By name: what of them must not be shown. */
  sensitiveChildInputs?: Sensitivity | undefined;
  /** Pieces of streamed text of this attempt on record. */
  chunks?: number | undefined;
  /** Of a node that works in steps: those begun so far, oldest first, until the node settles. */
  steps?: StepState[] | undefined;
  /** What a dispatch carries out; taken up when it starts, so that no one else does. */
  decision?: Decision | undefined;
}

/** One effect among those that a node performs, or the answer to a question that it asked on the way. */
export interface StepState {
  readonly id: string;
  /** Steps that were decided on together have the same number. */
  readonly round: number;
  readonly request: JsonObject;
  readonly onUnknownOutcome: 'repeat' | 'fail';
  status: 'running' | 'backoff' | 'completed' | 'failed';
  /** Zero-based; grows with every retry. */
  attempt: number;
  /** Failed attempts so far; an attempt cut short by a pause is none. */
  failures: number;
  /** When the retry is due. */
  dueAt?: number | undefined;
  /** Pieces of streamed text of this attempt on record. */
  chunks?: number | undefined;
  result?: JsonObject | undefined;
  error?: NodeError | undefined;
  /** Where a child run performs it. */
  childRunId?: string | undefined;
}

/** Why the condition of an edge could not be evaluated: a sentence, or with a code that it costs too much. */
export type EdgeError =
  | string
  | { readonly code: CostCode; readonly message: string; readonly details?: JsonObject };

/** A `runOrchestrator.decided`. */
export interface Decision {
  readonly seq: number;
  /** The orchestrator that took it. */
  readonly nodeId: string;
  readonly decision: JsonObject;
  /** It was worked out from something sensitive. */
  readonly sensitive?: true;
}

/** What a node keeps of the child run it waits for. */
export interface ChildState {
  readonly runId: string;
  readonly workflowId: string;
  /** Children of this node that came before. */
  readonly done: number;
  readonly outputMapping: Readonly<Record<string, string>>;
  readonly onFailure: 'fail' | 'absorb';
  readonly propagateCancellation: boolean;
  /** Set while the child itself waits; the parent then waits for the same. */
  waiting?: RunStatus | undefined;
  /** The log has a word of the child, so it exists or has existed. */
  isKnown?: true | undefined;
}

/** A child run as its parent knows it. */
export interface ChildRun {
  readonly runId: string;
  readonly workflowId: string;
  readonly nodeKey: NodeKey;
  status: RunStatus;
  /** Its workflow was chosen by something sensitive. */
  readonly sensitive?: true;
}

export interface InterruptState {
  interruptId: string;
  kind: InterruptKind;
  key: string;
  data: JsonObject;
  /** What of the data must not be shown. */
  sensitive?: Sensitivity;
  resumeSchema?: JsonObject;
  timeoutMs?: number;
  authRequired?: boolean;
  requestedAt: number;
  /** The newest vote of each voter, in order of first vote. */
  votes: Vote[];
  /** Of a node that works in steps: under which name it gets the answer. */
  step?: string;
  /** Conversations: turns so far, the opening one not counted. */
  turns?: number;
  /** Set once answered, timed out or withdrawn. */
  closed?: 'resolved' | 'timed-out' | 'cancelled';
}

export interface Vote {
  readonly voter: string;
  readonly action: string;
}

export interface RunState {
  status: RunStatus;
  /** Sequence that the next event gets; the log's length. */
  nextSeq: number;
  /** Time of the newest event; the next one is not earlier. */
  lastAt: number;
  startedAt?: number | undefined;
  endedAt?: number | undefined;
  variables: Map<string, Json>;
  /** Declared channels, as their reducers have folded them. */
  channels: Map<string, Json>;
  nodes: Map<NodeKey, NodeState>;
  /** Number of `node.started` events: what the node-executions cap counts. */
  executions: number;
  /** Milliseconds spent running before `activeSince`; waiting and paused time does not count. */
  activeMs: number;
  activeSince?: number | undefined;
  /** The same without the time in which only delays were running. */
  workingMs: number;
  workingSince?: number | undefined;
  /** A fork's clock starts when it branches off: what its source did before is not counted. */
  readonly countedFrom: number;
  pausedAt?: number | undefined;
  outputs?: JsonObject | undefined;
  error?: NodeError | undefined;
  failedNodeId?: string | undefined;
  /** What its calls of models have used together; absent before the first. */
  usage?: RunUsage | undefined;
  /** Tools that agents have called, counted like what is spent. */
  toolCalls: number;
  /** Running nodes (running or waiting to be retried); with none, suspended nodes decide the run's status. */
  activeNodes: number;
  /** Those of them that are delays. */
  delayingNodes: number;
  /** Suspended nodes in the order in which they asked. */
  suspended: NodeKey[];
  /** `version.pinned` facts: change id → version. */
  pins: Map<string, number>;
  /** In the order in which they were started. */
  children: ChildRun[];
  /** How often a cycle has led back to a node. */
  visits: Map<NodeKey, number>;
  /** How often a node has asked for clarification, over all its visits and attempts. */
  clarifications: Map<NodeKey, number>;
  /** Tool calls of agents that have not returned: call id → sequence of `agent.toolCalled`. */
  openCalls: Map<string, number>;
  /** Tools that were called, by the names that events give them: the digest of the definition of the newest call. */
  toolDigests: Map<string, string>;
  /** `runOrchestrator.decided` events so far: what the loop-iterations cap counts. */
  decisions: number;
  /** The newest of each orchestrator that no dispatch has taken up, oldest first. */
  openDecisions: Decision[];
  /** Where a replay has differed from its source: this run, or one whose log it begins with. */
  divergedAt?: number | undefined;
  /** What of variables was set from something sensitive. */
  sensitiveVariables: Map<string, Sensitivity>;
  /** What of declared channels was. */
  sensitiveChannels: Map<string, Sensitivity>;
  /** Per declared channel: versions of its schema under which it was written, with the sequence of the first such write. */
  channelVersions: Map<string, (readonly [version: number, seq: number])[]>;
  /** Nodes with a channel-write trigger that has writes to serve → when at the earliest. */
  dueTriggers: Map<string, number>;
  /** Nodes whose trigger has fired and that have not begun. */
  firedTriggers: Set<string>;
}

/** The immutable record with which a run is created. With the log and the inbox it is all that is durable truth about a run. */
export interface CreationRecord {
  readonly runId: string;
  readonly tenant: string;
  readonly workflowId: string;
  readonly workflowVersion: string;
  readonly definitionDigest: string;
  readonly createdAt: number;
  /** Opaque id of the key or user that created the run. */
  readonly principal?: string;
  /** Of the key that created it; children have their parent's, forks their source's. */
  readonly workspace?: string;
  readonly scopeId?: string;
  readonly inputs: JsonObject;
  /** By name: inputs that the parent run must not show. */
  readonly sensitiveInputs?: Sensitivity;
  readonly configurable: JsonObject;
  readonly tags: readonly string[];
  readonly metadata: JsonObject;
  readonly callbackUrl?: string;
  readonly transport: 'rest';
  /** Stamped on every event of the run, as a decimal string on the wire. */
  readonly engineVersion: number;
  readonly traceparent?: string;
  /** The caps in force, fixed at creation so that a changed setting never changes an open run. */
  readonly limits: RunLimits;
  readonly parent?: ParentLink;
  readonly fork?: ForkLink;
  readonly imported?: ImportOrigin;
  /** Absent when a client, a parent or an import made the run. A fork has its source's, because a replay repeats its events. */
  readonly source?: RunSource;
}

/** What started a run by itself: a schedule whose time had come, or a trigger that something was delivered to. */
export interface RunSource {
  readonly kind: 'schedule' | 'trigger';
  /** The schedule's name, the trigger's id. */
  readonly id: string;
  /** Names the due time or the delivery, the same in every process; the cause of `run.started`. */
  readonly deliveryId: string;
  /** Opaque, and equal for deliveries that are taken for one. */
  readonly dedupKey: string;
  readonly attempt: number;
  /** Of a schedule: the time that was due. */
  readonly dueAt?: number;
}

/** As people and filters spell it. */
export function sourceName({ kind, id }: Pick<RunSource, 'kind' | 'id'>): string {
  return `${kind}:${id}`;
}

/** The run and node that started this run as a child. */
export interface ParentLink {
  readonly runId: string;
  readonly nodeId: string;
  readonly nodeKey: NodeKey;
  /** Workflow ids from the root run down to the parent. */
  readonly ancestors: readonly string[];
  /** Names of the variables the parent wants to have at the end. */
  readonly collect: readonly string[];
}

/** A fork's log is that of its source up to `fromSeq`, exclusive, and its own from there on. */
export interface ForkLink {
  readonly sourceRunId: string;
  readonly fromSeq: number;
  readonly mode: 'replay' | 'branch';
  /** Length of the source's log when it was forked: a replay looks no further. */
  readonly sourceLength?: number;
  /** Replays of replays: the run whose child runs are spoken of, the first source that was no replay itself. */
  readonly seedRunId?: string;
  /** Replays of branches: when the branch was made, which is when its clock started. */
  readonly branchedAt?: number;
  /**
   * Sources that were imported: values in place of what was masked in the prefix, by sequence and then by JSON Pointer into the
   * payload. Only the fold sees them.
   */
  readonly filled?: Readonly<Record<string, JsonObject>>;
}

/** A run that another host executed; it is only read here. */
export interface ImportOrigin {
  /** SHA-256 of the canonical bundle, hex. */
  readonly bundleDigest: string;
  readonly runId: string;
  readonly host?: string;
  /** True when digest and signature of the bundle were checked. */
  readonly verified: boolean;
  /** Fingerprint of the key that signed the bundle. */
  readonly signedBy?: string;
  /** Events the original log had, where the bundle holds only the first of them. */
  readonly totalEvents?: number;
  /** Why the run cannot be forked as it is: there is no definition, or none that this host can run. A stand-in is pinned then. */
  readonly definition?: 'missing' | 'unusable';
}

export interface RunLimits {
  readonly nodeExecutions: number;
  /** Milliseconds of active time; 0 = unlimited. */
  readonly runDurationMs: number;
  /** The workflow's own `settings.timeout`, which does not count delays. Older records have it in `runDurationMs`. */
  readonly workflowTimeoutMs?: number;
  readonly concurrency: number;
  readonly maxPayloadBytes: number;
  readonly maxStateBytes: number;
  /** Decisions an orchestrator may take. */
  readonly loopIterations: number;
  /** Times one node may ask for clarification. */
  readonly clarificationRounds: number;
  /** A run that fails after its last retry says so. Absent in older records. */
  readonly deadLetters?: true;
}

/** Running, or waiting for an answer: there may be something to decide. */
export function isLiveStatus(status: string): boolean {
  return status === 'running' || isWaitingStatus(status);
}

/** Someone outside must answer. */
export function isWaitingStatus(status: string): boolean {
  return status.startsWith('waiting-');
}

/** The node that waits for an answer, while the run does. */
export function askingNode({ suspended, nodes }: RunState): string | undefined {
  return nodes.get(suspended[0] ?? '')?.nodeId;
}

export function isTerminalStatus(status: string): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** What is performed: the effect of a node, or one step of it. */
export type EffectKey = string;

/** No id of a node holds one. */
const STEP_MARK = '\t';

export function effectKey(key: NodeKey, step: string): EffectKey {
  return key + STEP_MARK + step;
}

export function effectOwner(key: EffectKey): { readonly key: NodeKey; readonly step: string | undefined } {
  const at = key.indexOf(STEP_MARK);
  return at === -1 ? { key, step: undefined } : { key: key.slice(0, at), step: key.slice(at + 1) };
}

/** When something is due to happen to the node: the end of its delay or wait, or the retry of one of its steps. */
export function dueTime({ dueAt, steps }: NodeState): number | undefined {
  if (steps === undefined) return dueAt;
  let earliest = dueAt;
  for (const step of steps)
    if (step.dueAt !== undefined && (earliest === undefined || step.dueAt < earliest)) earliest = step.dueAt;
  return earliest;
}

export function nodeKey(nodeId: string, iteration: readonly number[]): NodeKey {
  if (iteration.length === 0) return nodeId;
  let key = nodeId;
  for (const index of iteration) key += `[${index}]`;
  return key;
}

export interface RunUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the calls whose price was known, in nanodollars; absent when none was. */
  readonly nanoUsd?: number;
  /** What counts against the budget of the run: without what a fork's source had used. */
  readonly spentTokens: number;
  readonly spentNanoUsd: number;
  /** Of the newest call. */
  readonly provider: string;
  readonly model: string;
}
