import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import {
  agentName,
  type InstalledAgent,
  type PinnedAgent,
  pinnedAgent,
} from '../../model/installed-agent.ts';
import type { NodeType } from '../../model/node-type.ts';
import type { InstalledAgents } from '../agents/agents.ts';

/**
 * A definition in which every node that takes an agent of a pack names its version, as node types are pinned: to that of the same node in
 * `before`, else to the newest that is installed. What is not known stays as it is.
 */
export type PinAgents = (tenant: string, definition: Json, before?: Json) => Promise<Json>;

export function createPinAgents(
  own: ReadonlyMap<string, NodeType>,
  agents: Pick<InstalledAgents, 'find' | 'versions'>,
): PinAgents {
  return async (tenant, definition, before) => {
    if (nodesWithAgents(definition, own).length === 0) return definition;
    const find = createFinder(agents, tenant);
    const kept = new Map(
      nodesWithAgents(before, own).map(({ id, agent }) => [
        `${String(id)} ${agent.agentId}`,
        pinnedAgent(agent),
      ]),
    );
    const nodes: Json[] = [];
    for (const node of nodesIn(definition)) {
      if (!takesAgent(node, own)) {
        nodes.push(node);
        continue;
      }
      const { agentId, version: written } = node.agent;
      const installed = agents.versions(tenant, agentId);
      const version = written ?? kept.get(`${String(node.id)} ${agentId}`)?.version ?? installed.at(-1);
      const isOfPack = installed.length > 0 || node.agent['sourceManifestId'] === agentId;
      if (version === undefined || !isOfPack) nodes.push(node);
      else nodes.push(pinNode(node, own, version, await find({ agentId, version })));
    }
    return { ...(definition as JsonObject), nodes };
  };
}

/** Agents of packs that a registered definition has, by name. */
export async function agentsIn(
  definition: unknown,
  tenant: string,
  own: ReadonlyMap<string, NodeType>,
  agents: Pick<InstalledAgents, 'find'>,
): Promise<ReadonlyMap<string, InstalledAgent>> {
  const find = createFinder(agents, tenant);
  const found = new Map<string, InstalledAgent>();
  for (const { agent } of nodesWithAgents(definition as Json, own)) {
    const pinned = pinnedAgent(agent);
    const known = pinned && (await find(pinned));
    if (pinned !== undefined && known !== undefined) found.set(agentName(pinned), known);
  }
  return found;
}

/** A definition has so many different agents at most; others are not looked for. */
const MOST_AGENTS = 100;

function createFinder(agents: Pick<InstalledAgents, 'find'>, tenant: string) {
  const asked = new Map<string, Promise<InstalledAgent | undefined>>();
  return async (pinned: PinnedAgent): Promise<InstalledAgent | undefined> => {
    const name = agentName(pinned);
    const before = asked.get(name);
    if (before !== undefined || asked.size >= MOST_AGENTS) return before;
    const asking = agents.find(tenant, pinned);
    asked.set(name, asking);
    return asking;
  };
}

/** A version that is not known is found where the definition is compiled. */
function pinNode(
  node: NodeWithAgent,
  own: ReadonlyMap<string, NodeType>,
  version: string,
  agent: InstalledAgent | undefined,
): Json {
  const { agentId } = node.agent;
  const config = agent && own.get(node.typeId)?.takesAgent?.(node.config, agent);
  return {
    ...node,
    agent: { ...node.agent, version, sourceManifestId: agentId },
    config: config ?? node.config,
  };
}

interface NodeWithAgent extends JsonObject {
  readonly id: Json;
  readonly typeId: string;
  readonly config: JsonObject;
  readonly agent: JsonObject & { readonly agentId: string; readonly version?: string };
}

function nodesWithAgents(definition: Json | undefined, own: ReadonlyMap<string, NodeType>): NodeWithAgent[] {
  return nodesIn(definition).filter((node): node is NodeWithAgent => takesAgent(node, own));
}

/** What has no right shape is left to those who check it. */
function takesAgent(node: Json, own: ReadonlyMap<string, NodeType>): node is NodeWithAgent {
  if (!isJsonObject(node)) return false;
  const { typeId, config, agent } = node;
  if (typeof typeId !== 'string' || own.get(typeId)?.takesAgent === undefined) return false;
  if (!isJsonObject(config) || !isJsonObject(agent) || agent['channel'] !== undefined) return false;
  const { agentId, version } = agent;
  return typeof agentId === 'string' && (version === undefined || typeof version === 'string');
}

function nodesIn(definition: Json | undefined): readonly Json[] {
  const nodes = isJsonObject(definition) ? definition['nodes'] : undefined;
  return Array.isArray(nodes) ? nodes : [];
}
