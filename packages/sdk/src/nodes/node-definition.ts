import type { NodeTypeDocument, WorkerMessage } from '@weft/protocol/plain';

/**
 * A node type of a user: what it takes, what it gives, and the function that does it. `defineNode` gives the types of `run` from the
 * schemas; workers and `testNode` take the definition as it is.
 */

/** Any JSON Schema. TypeBox schemas are such, and carry their static type along. */
export type NodeSchema = object;

/** Members by name; those made with `Type.Optional` may be left out. */
export type NodePorts = Readonly<Record<string, NodeSchema>>;

export interface NodeDefinition {
  readonly typeId: string;
  /** Semantic version. Raise it when the schemas change: a version names one set of schemas for ever. */
  readonly version: string;
  readonly title?: string | undefined;
  readonly summary?: string | undefined;
  readonly category?: string | undefined;
  readonly role?: string | undefined;
  /** JSON Schema of an object; absent: no config. */
  readonly config?: NodeSchema | undefined;
  readonly inputs: NodePorts;
  readonly outputs: NodePorts;
  /** Ids of secrets whose values the function gets. */
  readonly secrets?: readonly string[] | undefined;
  /** Per attempt, where a node's settings say nothing. */
  readonly timeoutMs?: number | undefined;
  /** An attempt that calls `heartbeat` less often than this has failed. */
  readonly heartbeatTimeoutMs?: number | undefined;
  /** What the function needs of its run. It gets `run`, and may return a NodeEnd. */
  readonly uses?: NodeTypeDocument['uses'];
  // The caller has checked the values against the schemas.
  run(context: NodeContext<never, never, never>): Promise<object> | object;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** What the function of a node gets. */
export interface NodeContext<
  Inputs = Readonly<Record<string, unknown>>,
  Config = Readonly<Record<string, unknown>>,
  Secrets = Readonly<Record<string, string>>,
> {
  readonly inputs: Inputs;
  readonly config: Config;
  readonly secrets: Secrets;
  /** The same on every repeat of this execution: give it to others as an idempotency key. */
  readonly invocationId: string;
  /** 1 at first. */
  readonly attempt: number;
  readonly runId: string;
  readonly nodeId: string;
  readonly workflowId: string;
  /** W3C trace context, to be sent along to what is called. */
  readonly traceparent?: string | undefined;
  /** Of its run, where the type says what it uses: the answers so far, and the values that it may read. */
  readonly run?: Extract<WorkerMessage, { type: 'task' }>['run'];
  /** Aborted by cancel, timeout, shutdown and a lost lease; its reason is a NodeError. */
  readonly signal: AbortSignal;
  /** Streams a piece of text to readers of the run. */
  readonly emit: (text: string) => void;
  /** Says that the function is still at work, and how far. Throws when it is to stop. */
  readonly heartbeat: (details?: unknown) => void;
  readonly log: (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;
}

/** Whether what a module exports was made by `defineNode`, of whatever copy of this package. */
export function isNodeDefinition(value: unknown): value is NodeDefinition {
  return (
    typeof value === 'object' &&
    value !== null &&
    'typeId' in value &&
    typeof value.typeId === 'string' &&
    'run' in value &&
    typeof value.run === 'function'
  );
}
