import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { PinnedType } from '../../host/host.ts';
import { pointer } from '../../core/compile/problems.ts';
import type { NodeTypes } from '../node-types/node-types.ts';

/** A definition in which every node of a type that workers serve names its version. */
export interface Pinned {
  readonly definition: Json;
  readonly pins: readonly PinnedType[];
}

export interface PinTypes {
  /**
   * Pins nodes that name no version to that of the same node in `before`, else to the newest. What is unknown stays as it is, and is
   * found where definitions are compiled.
   */
  (tenant: string, definition: Json, before?: Json): Promise<Pinned>;
}

/** A registered definition and the node types of its tenant, which never change, are all that its runs depend on. */
export function createPinTypes(
  isOwn: (typeId: string) => boolean,
  nodeTypes: Pick<NodeTypes, 'read'>,
): PinTypes {
  return async (tenant, definition, before) => {
    const nodes = isJsonObject(definition) ? definition['nodes'] : undefined;
    if (!Array.isArray(nodes) || !nodes.some((node) => typeOf(node, isOwn) !== undefined))
      return { definition, pins: [] };
    const types = await nodeTypes.read(tenant);
    const kept = pinsIn(before);
    const pins: PinnedType[] = [];
    const pinned = nodes.map((node, index) => {
      const typeId = typeOf(node, isOwn);
      if (typeId === undefined || !isJsonObject(node)) return node;
      const { settings = {}, id } = node;
      if (!isJsonObject(settings)) return node;
      const written = settings['typeVersion'];
      const version = written ?? kept.get(`${String(id)} ${typeId}`) ?? types.newest(typeId)?.version;
      if (typeof version !== 'string') return node;
      if (types.get(typeId, version) !== undefined)
        pins.push({ path: pointer('nodes', index), typeId, version });
      return written === undefined ? { ...node, settings: { ...settings, typeVersion: version } } : node;
    });
    return { definition: { ...(definition as JsonObject), nodes: pinned }, pins };
  };
}

/** Undefined where it is one of the host, or no type at all. */
function typeOf(node: Json, isOwn: (typeId: string) => boolean): string | undefined {
  const typeId = isJsonObject(node) ? node['typeId'] : undefined;
  return typeof typeId === 'string' && !isOwn(typeId) ? typeId : undefined;
}

function pinsIn(before: Json | undefined): ReadonlyMap<string, string> {
  const pins = new Map<string, string>();
  const nodes = isJsonObject(before) && Array.isArray(before['nodes']) ? before['nodes'] : [];
  for (const node of nodes) {
    if (!isJsonObject(node) || !isJsonObject(node['settings'])) continue;
    const version = node['settings']['typeVersion'];
    if (typeof version === 'string') pins.set(`${String(node['id'])} ${String(node['typeId'])}`, version);
  }
  return pins;
}
