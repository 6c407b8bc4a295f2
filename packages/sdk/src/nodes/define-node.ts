import type { Static, TObject } from 'typebox';
import type { NodeContext, NodeDefinition, NodePorts, NodeSchema } from './node-definition.ts';

/** The values of ports, by the types of their schemas. */
export type PortValues<Ports extends NodePorts> = Static<
  TObject<{ -readonly [Name in keyof Ports]: Ports[Name] }>
>;

/** A node type whose schemas are known to the compiler. */
export interface TypedNode<
  Id extends string = string,
  Inputs extends NodePorts = NodePorts,
  Outputs extends NodePorts = NodePorts,
  Config extends NodeSchema = NodeSchema,
  Secret extends string = string,
> extends NodeDefinition {
  readonly typeId: Id;
  readonly inputs: Inputs;
  readonly outputs: Outputs;
  readonly config?: Config | undefined;
  readonly secrets?: readonly Secret[] | undefined;
  run(
    context: NodeContext<PortValues<Inputs>, Static<Config>, Readonly<Record<Secret, string>>>,
  ): Promise<PortValues<Outputs>> | PortValues<Outputs>;
}

/**
 * A function as a node type.
 *
 * ```ts
 * export const charge = defineNode({
 *   typeId: 'acme.charge',
 *   version: '1.0.0',
 *   inputs: { amount: Type.Number() },
 *   outputs: { chargeId: Type.String() },
 *   async run({ inputs, invocationId }) {
 *     return { chargeId: await pay(inputs.amount, invocationId) };
 *   },
 * });
 * ```
 */
export function defineNode<
  const Id extends string,
  Inputs extends NodePorts,
  Outputs extends NodePorts,
  Config extends NodeSchema = object,
  const Secret extends string = never,
>(
  definition: TypedNode<Id, Inputs, Outputs, Config, Secret>,
): TypedNode<Id, Inputs, Outputs, Config, Secret> {
  return Object.freeze(definition);
}
