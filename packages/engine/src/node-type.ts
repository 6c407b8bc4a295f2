import type { Json, JsonObject } from '@weft/protocol';
import type { TSchema } from 'typebox';
import type { ExpressionCompiler } from './core/plan.ts';
import type { Reducer } from './core/reducers.ts';

/**
 * A node type is one small module in `nodes/` that exports one of these shapes, plus one line in `nodes/index.ts`.
 *
 * - `pure`: computes outputs from its inputs, now, without the outside world. It may run inside a pure stretch.
 * - `timer`: waits; says for how long, and what it outputs afterwards.
 * - `effect`: touches the world. Its `node.started` is durable before `perform` is called; `perform` may be called
 *   again under the same invocation id after a crash.
 * - `loop`: runs a body of other nodes; the core iterates.
 * - `interrupt`: asks somebody outside and waits for the answer; the core keeps the question and judges the answer.
 */
export type NodeType = PureNodeType | TimerNodeType | EffectNodeType | LoopNodeType | InterruptNodeType;

interface NodeTypeBase {
  readonly typeId: string;
  readonly title: string;
  /** One sentence for the reference page. */
  readonly summary: string;
  /** Closed schema of `config`. */
  readonly config: TSchema;
  /** Output ports of which only some are produced: an edge from an absent one is not taken. */
  readonly branches?: readonly string[];
  /** Capability ids the host must provide; a missing one fails the node before it starts. */
  readonly requires?: readonly string[];
  /** Registered only under `--conformance`. */
  readonly conformanceOnly?: true;
  /** Outputs repeat raw run inputs, so the public payload never shows them. */
  readonly privateOutputs?: true;
  /** Registration-time work: compile expressions, check what a schema cannot. The result comes back as `prepared`. */
  readonly prepare?: (config: JsonObject, tools: PrepareTools) => unknown;
}

export interface PrepareTools {
  readonly expressions: ExpressionCompiler;
  /** Names and types of the workflow's declared variables. */
  readonly variables: ReadonlyMap<string, { type: string }>;
  /** Refuses the definition: `path` is a JSON Pointer inside the node's config. */
  refuse(path: string, message: string): never;
}

export interface NodeInput {
  readonly nodeId: string;
  readonly config: JsonObject;
  readonly prepared: unknown;
  /** Port name → value: edge-supplied values overlaid by the node's declared inputs. */
  readonly inputs: JsonObject;
  readonly variables: ReadonlyMap<string, Json>;
  readonly iteration: readonly number[];
  /** The scope CEL expressions of this node see. */
  readonly scope: JsonObject;
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
}

export interface ChannelRequest {
  readonly channel: string;
  readonly value: Json;
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

export interface EffectContext {
  /** Same value on every attempt and after every crash: give it to the provider as its idempotency key. */
  readonly invocationId: string;
  readonly attempt: number;
  /** Aborted on cancel, pause, timeout, shutdown and loss of the claim. */
  readonly signal: AbortSignal;
  readonly egress: Egress;
}

export interface EffectNodeType extends NodeTypeBase {
  readonly kind: 'effect';
  perform(input: EffectInput, context: EffectContext): Promise<NodeResult>;
}

/** What an effect gets: plain data, fixed when the node started. */
export interface EffectInput {
  readonly nodeId: string;
  readonly config: JsonObject;
  readonly prepared: unknown;
  readonly inputs: JsonObject;
}

export interface LoopNodeType extends NodeTypeBase {
  readonly kind: 'loop';
}

export interface InterruptNodeType extends NodeTypeBase {
  readonly kind: 'interrupt';
  /** What to ask; called once, when the node starts. */
  ask(input: NodeInput): Question;
}

/** A question to the outside. */
export interface Question {
  readonly kind: InterruptKind;
  /** What the one who answers gets to see, shaped by the kind. */
  readonly data: JsonObject;
  /** JSON Schema that an answer must satisfy, beside what the kind itself demands. */
  readonly resumeSchema?: JsonObject;
  /** How long to wait; absent = for ever. */
  readonly timeoutMs?: number;
  /** Only an authenticated caller with the scope may answer; signed links may not. */
  readonly authRequired?: boolean;
}

export type InterruptKind = 'approval' | 'clarification' | 'external-event' | 'custom';

/** The only way out of the host (one egress policy for every outbound request). */
export interface Egress {
  fetch(request: EgressRequest): Promise<EgressResponse>;
}

export interface EgressRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  readonly maxResponseBytes: number;
  readonly followRedirects: boolean;
}

export interface EgressResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
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
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.details = options.details;
    this.retryAfterMs = options.retryAfterMs;
  }
}
