import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { PinnedType } from '../../host/host.ts';
import { pointer } from '../../core/compile/problems.ts';
import type { NodeType } from '../../model/node-type.ts';
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
  own: ReadonlyMap<string, NodeType>,
  nodeTypes: Pick<NodeTypes, 'read'>,
): PinTypes {
  return async (tenant, definition, before) => {
    const nodes = isJsonObject(definition) ? definition['nodes'] : undefined;
    if (!Array.isArray(nodes) || !usesUserTypes(definition, own)) return { definition, pins: [] };
    const types = await nodeTypes.read(tenant);
    const kept = pinsIn(before, own);
    const pins: PinnedType[] = [];
    const pinned = nodes.map((node, index) =>
      pinNode(node, own, (typeId, written) => {
        if (own.has(typeId)) return undefined;
        const version = written ?? kept.get(placeIn(node, typeId)) ?? types.newest(typeId)?.version;
        if (version !== undefined && types.get(typeId, version) !== undefined)
          pins.push({ path: pointer('nodes', index), typeId, version });
        return version;
      }),
    );
    return { definition: { ...(definition as JsonObject), nodes: pinned }, pins };
  };
}

/** Nearly every definition has types of the host alone, and then nothing is read. */
export function usesUserTypes(definition: unknown, own: ReadonlyMap<string, NodeType>): boolean {
  let isFound = false;
  for (const node of nodesIn(definition as Json)) {
    pinNode(node, own, (typeId) => {
      isFound ||= !own.has(typeId);
      return undefined;
    });
  }
  return isFound;
}

type VersionOf = (typeId: string, written: string | undefined) => string | undefined;

/** With the versions of its type and of those that its config names; where there is none, as it is. */
function pinNode(node: Json, own: ReadonlyMap<string, NodeType>, versionOf: VersionOf): Json {
  if (!isJsonObject(node)) return node;
  const { typeId, config, settings = {} } = node;
  if (typeof typeId !== 'string') return node;
  const type = own.get(typeId);
  if (type !== undefined) {
    const isPinned = type.pinTypes !== undefined && isJsonObject(config);
    return isPinned ? { ...node, config: type.pinTypes(config, versionOf) } : node;
  }
  if (!isJsonObject(settings)) return node;
  const written = settings['typeVersion'];
  if (written !== undefined && typeof written !== 'string') return node;
  const version = versionOf(typeId, written);
  if (version === undefined || written !== undefined) return node;
  return { ...node, settings: { ...settings, typeVersion: version } };
}

function pinsIn(before: Json | undefined, own: ReadonlyMap<string, NodeType>): ReadonlyMap<string, string> {
  const pins = new Map<string, string>();
  for (const node of nodesIn(before)) {
    pinNode(node, own, (typeId, written) => {
      if (written !== undefined) pins.set(placeIn(node, typeId), written);
      return written;
    });
  }
  return pins;
}

function nodesIn(definition: Json | undefined): readonly Json[] {
  const nodes = isJsonObject(definition) ? definition['nodes'] : undefined;
  return Array.isArray(nodes) ? nodes : [];
}

function placeIn(node: Json, typeId: string): string {
  return `${isJsonObject(node) ? String(node['id']) : ''} ${typeId}`;
}
