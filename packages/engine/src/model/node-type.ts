import {
  type AgentRef,
  type InterruptKind,
  isName,
  type Json,
  type JsonObject,
  type NodeTypeDocument,
  type Problem,
  type PromptTemplateDocument,
  type WorkBudget,
} from '@weft/protocol';
import type { TSchema } from 'typebox';
import type { ExpressionCompiler, ExpressionScope, SchemaCompiler } from '../core/compile/plan.ts';
import type { InstalledAgent } from './installed-agent.ts';
import type { Reducer } from '../core/channels/reducers.ts';
import type { Models } from '../ports/models.ts';
import type { Peers } from '../ports/peers.ts';
import type { Tools } from '../ports/tools.ts';

/**
 * A node type is one small module in `nodes/` that exports one of these shapes, plus one line in `nodes/index.ts`.
 *
 * - `pure`: computes outputs from its inputs, now, without the outside world. It may run inside a pure batch.
 * - `timer`: waits; says for how long, and what it outputs afterwards.
 * - `effect`: touches the world. Its `node.started` is durable before `perform` is called; `perform` may be called
 *   again under the same invocation id after a crash.
 * - `loop`: runs a body of other nodes; the core iterates.
 * - `interrupt`: asks someone outside and waits for the answer; the core keeps the question and evaluates the answer.
 * - `steps`: performs several effects, one after the other and side by side, each with its own durable outcome, and may ask in
 *   between; it says what comes next from what is on record, and the core does the rest.
 * - `children`: runs other workflows as child runs, one after the other; the core creates, follows and stops them.
 */
export type NodeType =
  | PureNodeType
  | TimerNodeType
  | EffectNodeType
  | LoopNodeType
  | InterruptNodeType
  | StepsNodeType
  | ChildrenNodeType;

interface NodeTypeBase {
  readonly typeId: string;
  readonly title: string;
  /** One sentence for the reference page. */
  readonly summary: string;
  /** Closed schema of `config`. */
  readonly config: TSchema;
  /** Every output port that the node may produce, where they are known; an edge from another one is refused at registration. */
  readonly outputPorts?: readonly string[] | ((given: GivenPorts) => readonly string[]);
  /** Of a type whose schema comes from a client: holds a config against it. Throws HostError when that costs more than the budget has. */
  readonly checkConfig?: (config: JsonObject, budget: WorkBudget) => readonly Problem[];
  /** Where it is known: the input ports that it has. Values for others do not reach it. */
  readonly inputPorts?: InputPortRules;
  /** Named ports that nothing gives a value take the variable of their name. For types of the protocol's fixtures. */
  readonly portsFromVariables?: true;
  /** Output ports of which only some are produced: an edge that names an absent one is not taken. */
  readonly branches?: readonly string[];
  /** Capability ids the host must provide; a missing one fails the node before it starts. */
  readonly requires?: readonly string[];
  /** Only test hosts have it (conformance). */
  readonly conformanceOnly?: true;
  /** Outputs repeat raw run inputs, so the public payload never shows them. */
  readonly privateOutputs?: true;
  /** Hands its inputs on as they are, and puts out nothing that it has made from them. */
  readonly passesOn?: true;
  /** Input ports that what it makes depends on; absent or undefined = all of them. Of others it does not matter whether they are sensitive. */
  readonly dependsOn?: (config: JsonObject) => readonly string[] | undefined;
  /** May lead back to a node before it: it decides itself, by `again`, whether the cycle goes round. */
  readonly closesCycles?: true;
  /** A node type that must be in the same workflow. */
  readonly needs?: string;
  /** Ids of the secrets without which the node cannot be performed; an unresolved one fails it before it begins. */
  readonly requiresSecrets?: (config: JsonObject) => readonly string[];
  /** The workflow node's `credentialsRef` is a secret id that this type uses; it is required like the others. */
  readonly takesCredentialsRef?: true;
  /** Names of the variables that the node may set, declared or not. */
  readonly setsVariables?: (config: JsonObject) => readonly string[];
  /** Workflows that the node starts, by the JSON Pointer in its config that names them. */
  readonly childWorkflows?: (config: JsonObject) => Readonly<Record<string, string>>;
  /** Writes versions into a config that names node types of users: `versionOf` gets what is written, and says what is to be. */
  readonly pinTypes?: (
    config: JsonObject,
    versionOf: (typeId: string, written: string | undefined) => string | undefined,
  ) => JsonObject;
  /** Does what an agent of a pack says, where one is pinned to the node: the config, with all of the agent that is to be pinned there, too. */
  readonly takesAgent?: (config: JsonObject, agent: InstalledAgent) => JsonObject;
  /** Of an effect that an agent may be given as a tool: JSON Schema of its input ports. It must be able to work without a config. */
  readonly toolInputs?: JsonObject;
  /** Asks a language model. */
  readonly asksModel?: true;
  /** Calls agents of other hosts: without a configured one it can do nothing. */
  readonly callsPeer?: true;
  /** The tool that it calls; without a server it is the host's default. */
  readonly callsTool?: (config: JsonObject) => { readonly server: string | undefined; readonly tool: string };
  /** Another node type for some configurations, chosen at registration. */
  readonly variant?: (config: JsonObject, place: VariantPlace) => NodeType | undefined;
  /** What an accepted answer makes of the node; without it the answer itself is the output. */
  readonly answered?: (input: NodeInput, answer: JsonObject) => NodeResult;
  /** Registration-time work: compile expressions, check what a schema cannot. The result comes back as `prepared`. */
  readonly prepare?: (config: JsonObject, tools: PrepareTools) => unknown;
}

export interface InputPortRules {
  readonly named: readonly string[];
  /** Without a value for each of these the node cannot be performed. */
  readonly required: readonly string[];
  /** True where there may be others than those that are named. */
  readonly isOpen: boolean;
}

/** What the output ports of a node may depend on. */
export interface GivenPorts {
  readonly config: JsonObject;
  /** Names of its input ports: those that edges lead to, those it declares, and the run's inputs where it gets them. */
  readonly inputs: ReadonlySet<string>;
}

export interface VariantPlace {
  readonly workflowId: string;
}

export interface PrepareTools {
  readonly expressions: ExpressionCompiler;
  readonly schemas: SchemaCompiler;
  /** Names and types of the workflow's declared variables. */
  readonly variables: ReadonlyMap<string, { type: string }>;
  /** Names and reducers of its declared channels. */
  readonly channels: ReadonlyMap<string, { reducer: string }>;
  readonly workflowId: string;
  /** The agent of a pack that is pinned to the node. */
  readonly agent?: InstalledAgent | undefined;
  /** A type of the host, or that version of a user's; otherwise why there is none, in words. */
  nodeType(typeId: string, version?: string): NodeType | string;
  /** Refuses the definition: `path` is a JSON Pointer inside the node's config; `cost` says what is over its limit. */
  refuse(
    path: string,
    message: string,
    cost?: { readonly code: string; readonly details?: JsonObject | undefined },
  ): never;
}

export interface NodeInput {
  readonly nodeId: string;
  readonly config: JsonObject;
  readonly prepared: unknown;
  /** Port name → value: edge-supplied values overlaid by the node's declared inputs. */
  readonly inputs: JsonObject;
  readonly variables: ReadonlyMap<string, Json>;
  /** Channels this node may read, as folded so far. */
  readonly channels: ReadonlyMap<string, Json>;
  readonly iteration: readonly number[];
  /** How often the node has been entered before by way of a loop back; 0 at first. */
  readonly visit: number;
  /** The agent pinned to the node. */
  readonly agent?: AgentRef | undefined;
  /** Options with which the run was created. */
  readonly configurable: JsonObject;
  /** The orchestrator's newest decision. */
  readonly decision?: JsonObject | undefined;
  /** The scope CEL expressions of this node see. */
  readonly scope: ExpressionScope;
  /** The same, with these outputs as those of the node. */
  scopeWith(outputs: JsonObject): ExpressionScope;
  /** What they may cost, together with everything else that is evaluated for this decision. */
  readonly budget: WorkBudget;
  /** The version of a change this run is pinned to (first call pins `max`). */
  getVersion(changeId: string, min: number, max: number): number;
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string, fields?: JsonObject): void;
}

export interface NodeResult {
  readonly outputs: JsonObject;
  /** Workflow variables to set; each becomes a `variable.changed`. */
  readonly variables?: JsonObject;
  /** Writes to channels, in order; each becomes a `channel.written`. */
  readonly channels?: readonly ChannelRequest[];
  /** Facts of the protocol's catalogue to record before the node completes, in order. */
  readonly events?: readonly NodeEvent[];
  /** Not done yet: the events are recorded, then this is asked, and `answered` gives the result. */
  readonly ask?: Question;
  /** Does not complete but goes back to the start of the cycle that the node closes. */
  readonly again?: true;
  /** Of a worker's call that asks: handed to the next call of the same node, and shown to no one. */
  readonly record?: JsonObject;
}

export interface NodeEvent {
  readonly type: string;
  readonly payload: JsonObject;
  /** Position of its cause in the same list. */
  readonly causedBy?: number;
}

export interface ChannelRequest {
  readonly channel: string;
  readonly value: Json;
  /** A channel of the run that started this one. For pure nodes only; the parent's declaration says how it is written. */
  readonly to?: 'parent';
  /** For a channel that the workflow does not declare. */
  readonly reducer?: Reducer;
  readonly ttlMs?: number;
  readonly maxSize?: number;
}

export interface PureNodeType extends NodeTypeBase {
  readonly kind: 'pure';
  run(input: NodeInput): NodeResult;
}

export interface TimerNodeType extends NodeTypeBase {
  readonly kind: 'timer';
  delayMs(input: NodeInput): number;
  finish(input: NodeInput): NodeResult;
}

/** What an effect works with, each made when it is first read; so a copy made by spreading does not hold them. */
export interface EffectContext {
  /** Same value on every attempt and after every crash: give it to the provider as its idempotency key. */
  readonly invocationId: string;
  readonly attempt: number;
  /** Aborted on cancel, pause, timeout, shutdown and loss of the claim. */
  readonly signal: AbortSignal;
  /** The same news without an AbortSignal, which is made only for those who ask for one. */
  readonly stop: StopSignal;
  /**
   * True while this process holds the claim under which the effect is performed, by the monotonic clock, now. A process that was
   * frozen has not heard its signal yet when it wakes: whatever leaves it by another way than `egress`, `memory` and `artifacts`
   * is sent only if this was true in the same turn of the event loop.
   */
  holdsClaim(): boolean;
  /** Sends nothing, not on any hop, once the claim is lost. */
  readonly egress: Egress;
  readonly secrets: Secrets;
  readonly models: Models;
  readonly tools: Tools;
  readonly peers: Peers;
  readonly memory: Memory;
  readonly artifacts: Artifacts;
  readonly workflows: Workflows;
  readonly prompts: PromptTemplates;
  /** W3C trace context of this attempt, to be sent along with calls. */
  readonly traceparent?: string | undefined;
  /** Records a piece of streamed text; durable soon, in order. */
  emit(chunk: OutputChunk): void;
  /** The same of what an agent reasons. */
  tellReasoning(piece: ReasoningPiece): void;
}

/** A piece of an agent's reasoning, of one turn. */
export interface ReasoningPiece {
  readonly agentId: string;
  readonly verbosity: 'summary' | 'full';
  readonly text: string;
  readonly isLast: boolean;
}

/** Tells when no one waits any more. Every AbortSignal is one. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A piece of streamed text, with the typed slots of the protocol's chunk metadata. */
export interface OutputChunk {
  readonly chunk: string;
  readonly isLast: boolean;
  readonly meta?: JsonObject;
}

/** Resolved values leave the effect only as a mark with the secret's id: outputs, chunks and errors are searched for them. */
export interface Secrets {
  /** Throws NodeFailure `credential_unavailable`. */
  resolve(secretId: string): Promise<string>;
}

/** What agents remember across runs; a reference is only ever seen by its own tenant. */
export interface Memory {
  /** Secrets that the effect resolved and sensitive inputs it was given are masked. Throws NodeFailure when the entry is too large. */
  write(memoryRef: string, entry: NewMemoryEntry): Promise<MemoryEntry>;
  /** Newest first; what has expired, and what is not ours, is not there. */
  list(
    memoryRef: string,
    filter?: { readonly limit?: number; readonly tag?: string },
  ): Promise<readonly MemoryEntry[]>;
}

export interface NewMemoryEntry {
  /** Chosen by the writer, so that a repeated effect writes the same entry; 1 to 1,500 characters. */
  readonly id: string;
  readonly content: string;
  readonly tags?: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number;
  /** False: kept as it is, though it may hold sensitive inputs; secrets are masked all the same. */
  readonly sensitive?: false;
}

export interface MemoryEntry {
  readonly id: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly createdAt: string;
  readonly expiresAt?: string;
}

/** Results too large for the log, stored apart from it and read by their id. */
export interface Artifacts {
  /** The id is built from node, iteration, attempt and name, so that a repeated effect writes the same artifact. */
  put(artifact: NewArtifact): Promise<ArtifactRef>;
  /** One of this run, or of the runs it was forked from. Throws NodeFailure: `artifact_not_found`, `artifact_too_large`. */
  read(
    artifactId: string,
    maxBytes: number,
  ): Promise<{ readonly mediaType: string; readonly bytes: Uint8Array }>;
}

/** The library of the run's tenant. */
export interface PromptTemplates {
  /** A version, or the newest. */
  find(
    templateId: string,
    version?: string,
  ): Promise<{ readonly template: PromptTemplateDocument } | undefined>;
}

/** The workflows of the run's tenant. */
export interface Workflows {
  /** Its current version; undefined where there is none. */
  describe(workflowId: string): Promise<WorkflowDescription | undefined>;
}

export interface WorkflowDescription {
  readonly description: string;
  /** What its runs take. */
  readonly inputSchema: JsonObject;
  /** Of the definition. */
  readonly digest: string;
}

export interface NewArtifact {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array | AsyncIterable<Uint8Array>;
  /** False: kept as it is, though it may hold sensitive inputs; secrets are masked all the same. */
  readonly sensitive?: false;
}

export interface ArtifactRef {
  readonly artifactId: string;
  readonly mediaType: string;
  readonly size: number;
  /** SHA-256, hex. */
  readonly digest: string;
}

export interface EffectNodeType extends NodeTypeBase {
  readonly kind: 'effect';
  /** Per attempt, where the node's `settings.timeoutMs` says nothing: for types that wait for others. 0 there still means none. */
  readonly defaultTimeoutMs?: number;
  /** Code of a user: a worker performs it (runtime/workers). It waits for one without taking a place of the host. */
  readonly servedBy?: ServedBy;
  perform(input: EffectInput, context: EffectContext): Promise<NodeResult>;
}

/** The version of a user's node type that a worker must serve to perform a task. */
export interface ServedBy {
  readonly typeId: string;
  readonly version: string;
  readonly digest: string;
  /** Ids of secrets whose values go to the worker with the task. */
  readonly secrets: readonly string[];
  readonly heartbeatTimeoutMs?: number | undefined;
  /** What its code needs of its run; nothing else of a result than outputs is taken from a type that needs nothing. */
  readonly uses: NonNullable<NodeTypeDocument['uses']>;
  /** All that is wrong with the values. Throw HostError when finding it costs more than the budget has. */
  readonly checkInputs: (values: JsonObject, budget: WorkBudget) => readonly Problem[];
  readonly checkOutputs: (values: JsonObject, budget: WorkBudget) => readonly Problem[];
}

/** What an effect gets: plain data, fixed when the node started. */
export interface EffectInput {
  readonly nodeId: string;
  readonly config: JsonObject;
  readonly prepared: unknown;
  readonly inputs: JsonObject;
  /** Present where some of them are sensitive: the inputs as they may be kept where others read them. */
  readonly shownInputs?: JsonObject | undefined;
  readonly agent?: AgentRef | undefined;
  readonly configurable: JsonObject;
  /** Id of a secret, for types that take one. */
  readonly credentialsRef?: string | undefined;
}

export interface StepsNodeType extends NodeTypeBase {
  readonly kind: 'steps';
  /** Per attempt of a step, where the node's `settings.timeoutMs` says nothing. */
  readonly defaultTimeoutMs?: number;
  /**
   * What comes after the steps on record, none of which is open: more steps, a question, a failure or the result. Pure. A step that
   * is on record already is not begun again. Throws NodeFailure to fail the node.
   */
  next(input: NodeInput, history: readonly StepRecord[]): StepMove;
  /** Performs one step. May be called again under the same invocation id, as `perform` of an effect may. */
  perform(input: StepInput, context: EffectContext): Promise<JsonObject>;
  /** Types that perform some of its steps instead: those whose request names one as `node`, with its `arguments` as their inputs. */
  performers?(prepared: unknown): ReadonlyMap<string, EffectNodeType>;
  /** Of code of users that uses its run: every step is a call of this (core/steps/worker-calls.ts). */
  readonly called?: EffectNodeType & { readonly servedBy: ServedBy };
}

export type StepMove =
  | { readonly steps: readonly StepRequest[]; readonly events?: readonly NodeEvent[] }
  /** The answer comes back as the result of the step with this id, whether it accepts or rejects. */
  | { readonly ask: Question; readonly step: string; readonly events?: readonly NodeEvent[] }
  /** How it ended comes back as the result of the step with this id (`ChildResult`), unless it could not be created: then the step failed. */
  | { readonly child: StepChild; readonly step: string; readonly events?: readonly NodeEvent[] }
  | { readonly failure: NodeFailure; readonly events?: readonly NodeEvent[] }
  | Omit<NodeResult, 'ask' | 'again'>;

/** A child run that ends with its parent. */
export type StepChild = Pick<ChildSpec, 'workflowId' | 'inputs'>;

export interface StepRequest {
  /** Unique in the execution of the node, and a name: it is part of the step's invocation id. */
  readonly id: string;
  /** What is to be done, as far as config and history do not say it; it is recorded, and shown. */
  readonly request: JsonObject;
  /** After a crash that leaves open whether it happened; absent: as the node's settings say. */
  readonly onUnknownOutcome?: 'repeat' | 'fail';
}

/** A step that has ended, or an answer. */
export interface StepRecord {
  readonly id: string;
  /** Steps that were decided on together have the same number; numbers grow. */
  readonly round: number;
  readonly request: JsonObject;
  /** Present where it ended well. */
  readonly result?: JsonObject | undefined;
  readonly error?:
    | {
        readonly code: string;
        readonly message: string;
        readonly retryable?: boolean;
        readonly details?: JsonObject;
      }
    | undefined;
}

export interface StepInput extends EffectInput {
  readonly step: PerformedStep;
}

export interface PerformedStep {
  readonly id: string;
  readonly request: JsonObject;
  /** All that had ended when the step began. */
  readonly history: readonly StepRecord[];
}

export interface LoopNodeType extends NodeTypeBase {
  readonly kind: 'loop';
}

export interface InterruptNodeType extends NodeTypeBase {
  readonly kind: 'interrupt';
  /** What to ask; called once, when the node starts. */
  ask(input: NodeInput): Question;
}

export interface ChildrenNodeType extends NodeTypeBase {
  readonly kind: 'children';
  /**
   * What comes after `done` children: another one, a question, or the result. `last` is how the newest of them ended; a failed
   * one comes here only if its `onFailure` is `absorb`.
   */
  next(input: NodeInput, done: number, last?: ChildEnd): { readonly child: ChildSpec } | NodeResult;
}

export interface ChildSpec {
  readonly workflowId: string;
  readonly inputs: JsonObject;
  /** Parent variable → child variable, copied when the child has completed. */
  readonly outputMapping: Readonly<Record<string, string>>;
  readonly onFailure: 'fail' | 'absorb';
  /** A parent that ends before the child cancels it. */
  readonly propagateCancellation: boolean;
}

export interface ChildEnd {
  readonly childRunId: string;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly outputs: JsonObject;
  readonly error?: { readonly code: string; readonly message: string };
}

/** A question to the outside. */
export interface Question {
  readonly kind: InterruptKind;
  /** What the one who answers gets to see, shaped by the kind. */
  readonly data: JsonObject;
  /** JSON Schema that an answer must satisfy in addition to what the kind itself demands. */
  readonly resumeSchema?: JsonObject;
  /** How long to wait; absent = for ever. */
  readonly timeoutMs?: number;
  /** Only an authenticated caller with the scope may answer; signed links may not. */
  readonly authRequired?: boolean;
  /** Said on `node.suspended`. */
  readonly reason?: string;
}

/** The only way out of the host (one egress policy for every outbound request). */
export interface Egress {
  /** `tenant`: on whose behalf; tenants take turns where names are looked up. Nodes need not say it. */
  fetch(request: EgressRequest, tenant?: string): Promise<EgressResponse>;
  /** The same, answered when the headers are here; the body comes in pieces. Reading it may throw what `fetch` throws. */
  open(request: EgressRequest, tenant?: string): Promise<EgressStream>;
}

export interface EgressRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: StopSignal;
  readonly maxResponseBytes: number;
  readonly followRedirects: boolean;
  /** HOST:PORT that the operator has named for requests of this kind: admitted for this one, though it may not be public; no redirect is. */
  readonly admits?: string | undefined;
  /** The URL is sensitive: errors and log lines do not name the receiver, whose spelling in them is not the URL's. */
  readonly hidesReceiver?: boolean | undefined;
  /**
   * Asked in the turn of the event loop in which bytes of the request leave the process, on every hop and every attempt. False:
   * they do not, and the request ends as aborted.
   */
  readonly mayLeave?: (() => boolean) | undefined;
}

export interface EgressResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface EgressStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Can be read once. A reader that stops ends the exchange; so does its signal. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Thrown by a node: becomes `node.failed` (or a retry when retryable). */
export class NodeFailure extends Error {
  readonly code: string;
  readonly retryable: boolean;
  readonly details: JsonObject | undefined;
  /** From a Retry-After answer; honoured up to the policy's maxMs. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: string,
    message: string,
    options: { retryable?: boolean; details?: JsonObject; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'NodeFailure';
    // Kept in a column of its own, and shown everywhere: what is no name is no code.
    this.code = isName(code) ? code : 'node_failed';
    this.retryable = options.retryable ?? false;
    this.details = options.details;
    this.retryAfterMs = options.retryAfterMs;
  }
}
