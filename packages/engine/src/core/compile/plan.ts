import type {
  ClientSchema,
  Json,
  JsonObject,
  Pattern,
  WorkflowDefinition,
  WorkflowNode,
  WorkBudget,
  WorkLimits,
} from '@weft/protocol';
import type { NodeType } from '../../model/node-type.ts';
import type { Reads } from '../expressions/expression-reads.ts';
import type { LazyMap } from '../expressions/cel/values.ts';
import type { Reducer } from '../channels/reducers.ts';

/**
 * A plan is a definition made ready to run: ids resolved to objects, conditions compiled, order fixed. It is built once
 * per definition digest by `compileWorkflow` (compile.ts), is immutable, and is shared by all runs of that digest.
 */
export interface Plan {
  readonly definition: WorkflowDefinition;
  readonly digest: string;
  /** What it takes in memory, roughly. */
  readonly bytes: number;
  readonly root: ScopePlan;
  /** Every node, also those inside loop bodies. */
  readonly nodes: ReadonlyMap<string, NodePlan>;
  readonly variables: ReadonlyMap<string, VariablePlan>;
  readonly channels: ReadonlyMap<string, ChannelPlan>;
  /** Nodes that start when a channel is written, by node id, in order of it. */
  readonly triggers: ReadonlyMap<string, TriggerPlan>;
  readonly maskingMode: MaskingMode;
  /** What all expressions, patterns and schemas of one decision may cost together. */
  readonly workLimits: WorkLimits;
  /** For the mode `hash`: HMAC-SHA-256 of a text under a key of the tenant, hex. */
  readonly keyedHash?: KeyedHash;
  /** It belongs to its tenant alone: the same names stand for other types, or other agents, elsewhere. */
  readonly usesUserTypes: boolean;
  /** Something in it is declared sensitive. */
  readonly hasSensitive: boolean;
  /** Throws HostError `validation_error` naming the key that does not fit `configurableSchema`. */
  readonly checkConfigurable: (configurable: JsonObject) => void;
}

export type MaskingMode = 'mask' | 'omit' | 'hash' | 'passthrough';

export type KeyedHash = (tenant: string, text: string) => string;

export interface VariablePlan {
  readonly name: string;
  readonly type: 'string' | 'number' | 'boolean' | 'object' | 'array';
  readonly required: boolean;
  /** Absent = as sensitive as what it is set from. */
  readonly sensitive?: boolean;
  readonly defaultValue?: Json;
}

export interface ChannelPlan {
  readonly name: string;
  readonly reducer: Reducer;
  /** Made ready from the channel's schema. */
  readonly schema?: ClientSchema;
  readonly defaultValue?: Json;
  readonly maxSize?: number;
  readonly ttlMs?: number;
  readonly schemaVersion: number;
  /** Absent = as sensitive as what is written to it. */
  readonly sensitive?: boolean;
  /** Who may write, and read: node ids, or type ids with a wildcard. Absent = every node. */
  readonly writers?: readonly string[];
  readonly readers?: readonly string[];
  /** Older versions of the schema whose entries are still valid. */
  readonly compatibleWith: readonly number[];
}

/** A node that does not start with the run, but when a channel is written. */
export interface TriggerPlan {
  readonly nodeId: string;
  readonly channels: readonly WatchedChannel[];
  /** The node and all that only it leads to: done again with every visit. Sorted. */
  readonly again: readonly string[];
  /** The node and all that it leads to, loop bodies included: what these write does not start it. */
  readonly behind: ReadonlySet<string>;
}

export interface WatchedChannel {
  readonly channel: string;
  /** `child`: writes of child runs; `parent`: the run's own. */
  readonly onlyFrom: 'child' | 'parent' | 'any';
  readonly debounceMs: number;
}

/** The nodes that are scheduled together: the whole graph outside loops, or one loop's body. */
export interface ScopePlan {
  /** In lexicographic order of node id. */
  readonly nodes: readonly NodePlan[];
  /** Nodes without an incoming edge inside the scope. */
  readonly sources: readonly NodePlan[];
  /** Nodes without an outgoing edge inside the scope. */
  readonly terminals: readonly NodePlan[];
  /** The loop whose body this is; absent for the root. */
  readonly loop?: NodePlan;
}

export type TriggerRule = 'all_success' | 'any_success' | 'all_complete' | 'none_failed' | 'any_failed';

/** What the events of every run say about a node in the same words, as JSON: written once, shared by all of them. */
export interface NodeWords {
  /** How a payload begins: `{"nodeId":"a"`. */
  readonly id: string;
  /** The payload of a first start outside loops. */
  readonly started: string;
}

export interface NodePlan {
  readonly id: string;
  readonly words: NodeWords;
  readonly type: NodeType;
  readonly node: WorkflowNode;
  readonly config: JsonObject;
  readonly prepared: unknown;
  readonly settings: NodeSettings;
  readonly disabled: boolean;
  /** Output ports that are declared sensitive, or not to be; others are as sensitive as what the node has read. */
  readonly sensitivePorts: ReadonlyMap<string, boolean>;
  /** Sorted by edge id. Implicit edges of an edge-less workflow are here too. */
  readonly incoming: readonly EdgePlan[];
  readonly outgoing: readonly EdgePlan[];
  /** Rule of the first incoming edge by id. */
  readonly rule: TriggerRule;
  readonly ports: readonly PortPlan[];
  readonly scope: ScopePlan;
  /** Ids of the nodes on the cycle that this node closes, itself included; the edge that leads back is in no list. */
  readonly cycle?: readonly string[];
  /** Loops only. */
  readonly loop?: LoopPlan;
}

export interface LoopPlan {
  readonly body: ScopePlan;
  readonly maxIterations: number;
  /** Exactly one of the two. `items` is evaluated once, at the loop's start. */
  readonly items?: Expression;
  readonly while?: Expression;
}

export interface NodeSettings {
  /** Per attempt; 0 = none. */
  readonly timeoutMs: number;
  readonly retry: RetryPolicy;
  readonly onUnknownOutcome: 'repeat' | 'fail';
}

export interface RetryPolicy {
  /** Attempts in all, the first included; 1 = no retry. */
  readonly maxAttempts: number;
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** Share of the delay that is drawn at random, 0..1. */
  readonly jitter: number;
  /** Error codes never retried. */
  readonly never: readonly string[];
}

export interface EdgePlan {
  readonly id: string;
  readonly source: NodePlan;
  readonly target: NodePlan;
  readonly sourcePort: string;
  /** False when the edge names no port: a missing default port then falls back to the whole output map. */
  readonly sourcePortNamed: boolean;
  readonly targetPort: string;
  /** Absent = always taken. Throws ExpressionError when it cannot be evaluated. */
  readonly condition?: Condition;
}

/** `outputs` are the source node's outputs; `scope` is what expressions see. Charged to the budget of the decision. */
export type Condition = (outputs: JsonObject, scope: ExpressionScope, budget: WorkBudget) => boolean;

/** What an expression sees, by the names of its roots. */
export interface ExpressionScope {
  readonly [root: string]: Json | LazyMap | undefined;
}

/** A compiled CEL expression. Throws ExpressionError. */
export interface Expression {
  (scope: ExpressionScope, budget: WorkBudget): Json;
  /** Syntax nodes. */
  readonly size: number;
  /** What it may read, and what of that it looks for with `has()` first. */
  readonly reads?: Reads;
  readonly tested?: Reads;
}

export interface ExpressionCompiler {
  /** Throws ExpressionError with the position when the source is wrong, too long or too costly. */
  compile(source: string): Expression;
  /** Throws ExpressionError when the pattern is wrong or too costly. */
  pattern(source: string): Pattern;
}

export interface SchemaCompiler {
  /** Throws HostError when the schema is not acceptable. */
  schema(schema: JsonObject): ClientSchema;
}

/** Codes under which a text of a client is refused for what it costs. */
const COST_CODES = ['expression_budget_exceeded', 'pattern_too_costly', 'schema_too_large'] as const;
export type CostCode = (typeof COST_CODES)[number];

export function isCostCode(code: string): code is CostCode {
  return (COST_CODES as readonly string[]).includes(code);
}

interface ExpressionErrorOptions {
  readonly cause?: unknown;
  readonly code?: CostCode | undefined;
  readonly details?: JsonObject | undefined;
}

/** An expression that does not compile, or cannot be evaluated with these values. */
export class ExpressionError extends Error {
  /** Set when it costs too much; `details` then has the limit and what was observed. */
  readonly code: CostCode | undefined;
  readonly details: JsonObject | undefined;

  constructor(message: string, { cause, code, details }: ExpressionErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ExpressionError';
    this.code = code;
    this.details = details;
  }
}

export type PortPlan =
  | { readonly name: string; readonly from: 'static'; readonly value: Json }
  | { readonly name: string; readonly from: 'expression'; readonly expression: Expression }
  | {
      readonly name: string;
      readonly from: 'connection';
      readonly nodeId: string;
      readonly outputKey: string;
      readonly optional: boolean;
    }
  | {
      readonly name: string;
      readonly from: 'variable';
      readonly variableName: string;
      readonly optional: boolean;
    };
