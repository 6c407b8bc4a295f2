export { type Static, Type } from 'typebox';
export { defineNode, type PortValues, type TypedNode } from './define-node.ts';
export {
  isNodeDefinition,
  type LogLevel,
  type NodeContext,
  type NodeDefinition,
  type NodePorts,
  type NodeSchema,
} from './node-definition.ts';
export { NodeEnd, type NodeEndParts } from './node-end.ts';
export { NodeError, type NodeErrorOptions } from './node-error.ts';
export { nodeTypeDocument } from './node-type-document.ts';
export { type LogLine, testNode, type TestedNode } from './test-node.ts';
