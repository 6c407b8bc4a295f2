import type { JsonObject, NodeTypeEntry } from '@weft/protocol';
import type { NodeTypeCatalogue, Workers } from '../../host/host.ts';
import type { NodeType } from '../../model/node-type.ts';
import { NODE_DOCS } from '../../nodes/node-docs.ts';
import type { NodeTypes, RegisteredNodeType } from './node-types.ts';

/** Every node type that a tenant's definitions may use, as editors and people want to see it. */
export function createCatalogue(
  own: ReadonlyMap<string, NodeType>,
  ofUsers: Pick<NodeTypes, 'list' | 'map' | 'watch'>,
  workers: Pick<Workers, 'list'>,
): NodeTypeCatalogue {
  const builtin = [...own.values()].map(entryOfHost).sort((a, b) => (a.typeId < b.typeId ? -1 : 1));
  return {
    async list(caller, typeId) {
      const types = await ofUsers.list(caller.tenant, typeId);
      const serving = types.length === 0 ? [] : await workers.list(caller);
      const served = types.map((type) => ({ ...entryOfUser(type), workers: countServing(serving, type) }));
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

/** Those that take tasks of it now. */
function countServing(
  workers: Awaited<ReturnType<Workers['list']>>,
  { typeId, version }: RegisteredNodeType,
): number {
  const doesServe = (worker: (typeof workers)[number]): boolean =>
    worker.state === 'active' &&
    worker.types.some((served) => served.typeId === typeId && served.version === version);
  return workers.filter(doesServe).length;
}

function entryOfUser(type: RegisteredNodeType): NodeTypeEntry {
  const { registeredAt: _at, timeoutMs: _timeout, heartbeatTimeoutMs: _heartbeat, ...shown } = type;
  return { ...shown, builtin: false, config: type.config ?? { type: 'object', properties: {} } };
}
