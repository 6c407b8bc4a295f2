import type { WorkflowDefinition } from '@weft/protocol/plain';

type PortValue = WorkflowDefinition['nodes'][number]['inputs'][string];

/** Where a value comes from at run time; `Value` is what the compiler knows of it. */
export interface Ref<out Value = unknown> {
  readonly [SOURCE]: Source;
  /** Only for the compiler. */
  readonly [VALUE]?: Value;
}

/** What fits every input, because nothing is known of it. */
export type Untyped = Ref<never>;

export type Source =
  | { readonly from: 'output'; readonly nodeId: string; readonly port: string }
  | { readonly from: 'value'; readonly value: Exclude<PortValue, { type: 'connection' }> };

const SOURCE = Symbol.for('@weft/sdk/workflows source');
declare const VALUE: unique symbol;

export function refTo<Value>(source: Source): Ref<Value> {
  return Object.freeze({ [SOURCE]: source });
}

/** Undefined for a plain value. */
export function sourceOf(value: unknown): Source | undefined {
  return typeof value === 'object' && value !== null && SOURCE in value ? (value as Ref)[SOURCE] : undefined;
}
