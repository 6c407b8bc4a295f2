import type { Json } from '@weft/protocol';
import type { NodeType } from '../../model/node-type.ts';
import type { InstalledAgents } from '../agents/agents.ts';
import type { NodeTypes } from '../node-types/node-types.ts';
import { createPinAgents } from './pin-agents.ts';
import { createPinTypes, type Pinned } from './pin-types.ts';

/** What a registered definition names by version: agents of packs, then node types, also those that are tools of such agents. */
export type Pin = (tenant: string, definition: Json, before?: Json) => Promise<Pinned>;

export function createPin(
  own: ReadonlyMap<string, NodeType>,
  { agents, nodeTypes }: { readonly agents: InstalledAgents; readonly nodeTypes: NodeTypes },
): Pin {
  const pinAgents = createPinAgents(own, agents);
  const pinTypes = createPinTypes(own, nodeTypes);
  return async (tenant, definition, before) =>
    pinTypes(tenant, await pinAgents(tenant, definition, before), before);
}
