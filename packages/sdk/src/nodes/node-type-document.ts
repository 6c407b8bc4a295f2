import type { JsonObject, NodeTypeDocument } from '@weft/protocol/plain';
import type { NodeDefinition, NodePorts } from './node-definition.ts';

/** What a host gets to know of a node type: its schemas, and nothing of its code. */
export function nodeTypeDocument(definition: NodeDefinition): NodeTypeDocument {
  const { typeId, version, title, summary, category, role, secrets, timeoutMs, heartbeatTimeoutMs, uses } =
    definition;
  return {
    typeId,
    version,
    ...(title !== undefined && { title }),
    ...(summary !== undefined && { summary }),
    ...(category !== undefined && { category }),
    ...(role !== undefined && { role }),
    ...(definition.config !== undefined && { config: asJson(definition.config) }),
    inputs: portsSchema(definition.inputs),
    outputs: portsSchema(definition.outputs),
    ...(secrets !== undefined && { secrets: [...secrets] }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(heartbeatTimeoutMs !== undefined && { heartbeatTimeoutMs }),
    ...(uses !== undefined && { uses }),
  };
}

/** Ports as the schema of one closed object. */
export function portsSchema(ports: NodePorts): JsonObject {
  const entries = Object.entries(ports);
  const required = entries.filter(([, schema]) => !isOptional(schema)).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, schema]) => [name, asJson(schema)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** TypeBox marks what `Type.Optional` made with a member that is not enumerable. */
function isOptional(schema: object): boolean {
  return '~optional' in schema;
}

/** Without what TypeBox hides in its schemas. */
function asJson(schema: object): JsonObject {
  return JSON.parse(JSON.stringify(schema)) as JsonObject;
}
