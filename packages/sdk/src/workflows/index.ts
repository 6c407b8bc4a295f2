export type { BuiltinNodeTypes } from './builtin-types.ts';
export {
  defineWorkflow,
  type EdgeOptions,
  type LoopOptions,
  type VariableDeclaration,
  type WorkflowBuilder,
  type WorkflowHead,
} from './define-workflow.ts';
export type {
  CommonNodeOptions,
  InputsOf,
  NodeHandle,
  NodeLike,
  NodeOptions,
  OutputsOf,
  ServedElsewhere,
} from './node-types.ts';
export type { Ref } from './references.ts';
