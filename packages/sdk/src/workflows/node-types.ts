import type { JsonObject, WorkflowDefinition } from '@weft/protocol/plain';
import type { BuiltinNodeTypes } from './builtin-types.ts';
import type { Ref, Untyped } from './references.ts';

type WorkflowNode = WorkflowDefinition['nodes'][number];

/** What `defineNode` makes: its ports and config are known to the compiler by its function. */
export interface NodeLike {
  readonly typeId: string;
  readonly version: string;
  run(context: never): unknown;
}

/** A type whose code is not at hand, such as one that a worker in another language serves. */
export interface ServedElsewhere {
  readonly typeId: string;
  readonly run?: never;
}

type ContextOf<Node extends NodeLike> = Parameters<Node['run']>[0];

export type InputsOf<Node extends NodeLike> =
  ContextOf<Node> extends { readonly inputs: infer Inputs } ? Inputs : never;

export type ConfigOf<Node extends NodeLike> =
  ContextOf<Node> extends { readonly config: infer Config } ? Config : never;

export type OutputsOf<Node extends NodeLike> = Awaited<ReturnType<Node['run']>>;

/** A value, or where one comes from. */
export type Wired<Value> = Value | Ref<Value>;

export type WiredInputs<Inputs> = { readonly [Port in keyof Inputs]: Wired<Inputs[Port]> };

/** What every node may have. */
export interface CommonNodeOptions {
  readonly name?: string;
  readonly notes?: string;
  readonly position?: { readonly x: number; readonly y: number };
  readonly settings?: WorkflowNode['settings'];
  readonly disabled?: boolean;
  readonly credentialsRef?: string;
  readonly agent?: WorkflowNode['agent'];
  readonly outputSensitivity?: Readonly<Record<string, boolean>>;
  /** When the node starts, if several edges lead to it. */
  readonly join?: WorkflowDefinition['edges'][number]['triggerRule'];
}

type Member<Name extends string, Value> =
  Record<never, never> extends Value ? { readonly [Key in Name]?: Value } : { readonly [Key in Name]: Value };

export type NodeOptions<Config, Inputs> = CommonNodeOptions &
  Member<'config', Config> &
  Member<'inputs', WiredInputs<Inputs>>;

/** Left out where nothing in it is needed. */
export type OptionsArgument<Options> =
  Record<never, never> extends Options ? readonly [options?: Options] : readonly [options: Options];

export type ElsewhereOptions = CommonNodeOptions & {
  readonly config?: JsonObject;
  readonly inputs?: Readonly<Record<string, unknown>>;
};

export type AnyNodeType = keyof BuiltinNodeTypes | NodeLike | ServedElsewhere;

export type OptionsOf<Type extends AnyNodeType> = Type extends keyof BuiltinNodeTypes
  ? BuiltinNodeTypes[Type] extends { config: infer Config; inputs: infer Inputs }
    ? NodeOptions<Config, Inputs>
    : never
  : Type extends NodeLike
    ? NodeOptions<ConfigOf<Type>, InputsOf<Type>>
    : ElsewhereOptions;

/** Nothing is known of what types of the host put out but the names of their ports. */
export type OutputsOfType<Type extends AnyNodeType> = Type extends keyof BuiltinNodeTypes
  ? BuiltinNodeTypes[Type] extends { outputs: infer Outputs }
    ? { readonly [Port in keyof Outputs]: never }
    : never
  : Type extends NodeLike
    ? OutputsOf<Type>
    : Record<never, never>;

/** A node of the workflow, to be used by those that come after it. */
export interface NodeHandle<Outputs = Record<never, never>> {
  readonly id: string;
  /** Its outputs, by port. */
  readonly out: { readonly [Port in keyof Outputs]-?: Ref<NonNullable<Outputs[Port]>> };
  /** An output whose name is known only when it has run. */
  output(port: string): Untyped;
}
