import { fullForm, type Json, type JsonObject, type WorkflowDefinition } from '@weft/protocol/plain';
import { type Drafts, createDrafts } from './drafts.ts';
import type {
  AnyNodeType,
  CommonNodeOptions,
  ElsewhereOptions,
  NodeHandle,
  OptionsArgument,
  OptionsOf,
  OutputsOfType,
} from './node-types.ts';
import { type Ref, refTo, type Untyped } from './references.ts';

/** A variable of a workflow: the run's input of that name, or its default. */
export type VariableDeclaration = Omit<WorkflowDefinition['variables'][number], 'name'>;

type Variables = Readonly<Record<string, VariableDeclaration>>;

interface TypesOfVariables {
  string: string;
  number: number;
  boolean: boolean;
  object: never;
  array: never;
}

/** What stands around the nodes. */
export type WorkflowHead<Declared extends Variables = Variables> = Pick<
  WorkflowDefinition,
  'id' | 'version'
> &
  Partial<Omit<WorkflowDefinition, 'id' | 'version' | 'nodes' | 'edges' | 'variables'>> & {
    readonly variables?: Declared;
  };

export interface EdgeOptions {
  /** CEL, or another condition: the edge is taken when it holds. */
  readonly when?: string | NonNullable<WorkflowDefinition['edges'][number]['condition']>;
  readonly label?: string;
}

export interface LoopOptions extends CommonNodeOptions {
  readonly maxIterations: number;
  /** CEL: a list, whose members are the items. One of `items` and `while` is needed. */
  readonly items?: string;
  /** CEL: the body is repeated while it holds. */
  readonly while?: string;
}

export interface WorkflowBuilder<Declared extends Variables = Variables> {
  /**
   * A node of a type of the host, by its id; of a type of your own, as `defineNode` made it; or of one whose code is not here, which the
   * host checks when the workflow is registered.
   */
  node<Type extends AnyNodeType>(
    id: string,
    type: Type,
    ...options: OptionsArgument<OptionsOf<Type>>
  ): NodeHandle<OutputsOfType<Type>>;
  /** Repeats the nodes that `body` makes. */
  loop(id: string, options: LoopOptions, body: () => void): NodeHandle<{ output: never }>;
  /** One node after another; from an output (`choice.out.true`) only when it is produced. */
  edge(from: NodeHandle | Ref, to: NodeHandle, options?: EdgeOptions): void;
  variable<Name extends keyof Declared & string>(
    name: Name,
    options?: { readonly optional: boolean },
  ): Ref<TypesOfVariables[Declared[Name]['type']]>;
  /** CEL, evaluated when the node starts. */
  expression(source: string): Untyped;
  expression<Value>(source: string): Ref<Value>;
  /** The item of the loop around the node. */
  item(): Untyped;
  item<Value>(): Ref<Value>;
}

/**
 * A workflow, written in TypeScript: the compiler checks the types of nodes, their config and their ports.
 *
 * ```ts
 * export default defineWorkflow(
 *   { id: 'order', version: '1.0.0', variables: { amount: { type: 'number', required: true } } },
 *   (w) => {
 *     const paid = w.node('charge', charge, { config: { currency: 'EUR' }, inputs: { amount: w.variable('amount') } });
 *     w.node('ship', ship, { inputs: { chargeId: paid.out.chargeId } });
 *   },
 * );
 * ```
 *
 * A node that takes an output of another comes after it; `edge` says it of others. Gives the definition in full form.
 */
export function defineWorkflow<const Declared extends Variables = Record<never, never>>(
  head: WorkflowHead<Declared>,
  build: (workflow: WorkflowBuilder<Declared>) => void,
): WorkflowDefinition {
  const { variables = {}, ...rest } = head;
  const drafts = createDrafts();
  build(builderOf<Declared>(drafts));
  const definition = {
    ...rest,
    ...drafts.finish(),
    variables: Object.entries(variables as Variables).map(([name, declared]) => ({ name, ...declared })),
  };
  return fullForm(asJson(definition)) as unknown as WorkflowDefinition;
}

function builderOf<Declared extends Variables>(drafts: Drafts): WorkflowBuilder<Declared> {
  return {
    node(id, type, ...[options]) {
      drafts.add(id, typeof type === 'string' ? type : type.typeId, (options ?? {}) as ElsewhereOptions);
      return handleOf(id);
    },
    loop(id, { maxIterations, items, while: condition, ...options }, body) {
      const config: JsonObject = { maxIterations };
      if (items !== undefined) config['items'] = items;
      if (condition !== undefined) config['while'] = condition;
      drafts.addLoop(id, { ...options, config }, body);
      return handleOf(id);
    },
    edge: (from, to, options = {}) => drafts.connect(from, to.id, options),
    variable: (variableName, { optional } = { optional: false }) =>
      refTo({ from: 'value', value: { type: 'variable', variableName, ...(optional && { optional }) } }),
    expression: evaluated,
    item: () => evaluated('item'),
  };
}

function evaluated(expression: string): Untyped {
  return refTo({ from: 'value', value: { type: 'expression', expression } });
}

function handleOf<Outputs>(id: string): NodeHandle<Outputs> {
  const output = (port: string): Untyped => refTo({ from: 'output', nodeId: id, port });
  return {
    id,
    output,
    out: new Proxy({} as NodeHandle<Outputs>['out'], {
      get: (_, port) => (typeof port === 'string' ? output(port) : undefined),
    }),
  };
}

/** Without members that are undefined, and without what JSON cannot hold. */
function asJson(definition: unknown): Json {
  return JSON.parse(JSON.stringify(definition)) as Json;
}
