import type { JsonObject, NodeTypeEntry } from '@weft/protocol';
import type { NodeTypeCatalogue } from '../../host/host.ts';
import type { NodeType } from '../../model/node-type.ts';
import { NODE_DOCS } from '../../nodes/node-docs.ts';
import type { NodeTypes, RegisteredNodeType } from './node-types.ts';

/** Every node type that a tenant's definitions may use, as editors and people want to see it. */
export function createCatalogue(
  own: ReadonlyMap<string, NodeType>,
  ofUsers: Pick<NodeTypes, 'list' | 'map' | 'watch'>,
): NodeTypeCatalogue {
  const builtin = [...own.values()].map(entryOfHost).sort((a, b) => (a.typeId < b.typeId ? -1 : 1));
  return {
    async list({ tenant }, typeId) {
      const served = (await ofUsers.list(tenant, typeId)).map(entryOfUser);
      return [...builtin.filter((entry) => typeId === undefined || entry.typeId === typeId), ...served];
    },
    map: (...mapping) => ofUsers.map(...mapping),
    watch: (onChange) => ofUsers.watch(onChange),
  };
}

function entryOfHost({ typeId, title, summary, config }: NodeType): NodeTypeEntry {
  const docs = NODE_DOCS[typeId];
  return {
    typeId,
    title,
    summary,
    builtin: true,
    config: config as JsonObject,
    ...(docs !== undefined && { inputs: portsSchema(docs.inputs), outputs: portsSchema(docs.outputs) }),
  };
}

/** What is known of the ports of the host's own types: their names and what they mean. */
function portsSchema(ports: Readonly<Record<string, string>>): JsonObject {
  const named = Object.entries(ports).filter(([port]) => port !== '*');
  return {
    type: 'object',
    properties: Object.fromEntries(named.map(([port, description]) => [port, { description }])),
    additionalProperties: Object.hasOwn(ports, '*'),
  };
}

function entryOfUser(type: RegisteredNodeType): NodeTypeEntry {
  const { registeredAt: _at, timeoutMs: _timeout, heartbeatTimeoutMs: _heartbeat, ...shown } = type;
  return { ...shown, builtin: false, config: type.config ?? { type: 'object', properties: {} } };
}
