import type { Caller, Host, OfferedAgent } from '@weft/engine';
import { agentsOf, type OpenedPack, unmetOptional } from '@weft/packs';
import { isJsonObject, type JsonObject } from '@weft/protocol';
import { loadPack, offerOf, openPackFolder } from './pack-folder.ts';
import { type TenantFolder, tenantFolders } from './tenant-folders.ts';

/**
 * Gives a host the agents of all installed packs, those of each tenant to itself. One that does not fit the host is a reason not to start:
 * throws PackError. Those of the host itself are the default tenant's. Returns the folders with packs that have code, and
 * that of the default tenant when there is nothing in it.
 */
export async function installAgents(
  host: Pick<Host, 'agents' | 'capabilities'>,
  caller: Caller,
  path: string,
  own: readonly OfferedAgent[] = [],
): Promise<readonly TenantFolder[]> {
  const capabilities = JSON.parse(JSON.stringify(host.capabilities())) as JsonObject;
  const withCode: TenantFolder[] = [];
  for (const folder of await tenantFolders(path)) {
    const packs = await packsIn(folder.path, capabilities);
    const builtIn = folder.path === path ? own : [];
    const agents = [...builtIn, ...packs.flatMap((pack) => offeredBy(pack, capabilities))];
    if (isOffered(capabilities)) await host.agents.install({ ...caller, tenant: folder.tenant }, agents);
    const isEmpty = packs.length === 0 && folder.path === path;
    if (isEmpty || packs.some(({ manifest }) => manifest.nodes.length > 0)) withCode.push(folder);
  }
  return withCode;
}

/** Where the host does not offer it, every agent has been refused by now. */
function isOffered({ agents }: JsonObject): boolean {
  return isJsonObject(agents ?? null) && (agents as JsonObject)['manifestRuntime'] !== undefined;
}

async function packsIn(path: string, capabilities: JsonObject): Promise<OpenedPack[]> {
  const folder = await openPackFolder(path, '.');
  const offer = { ...(await offerOf(folder)), capabilities };
  const found: OpenedPack[] = [];
  for (const entry of folder.packs) found.push(await loadPack(folder, entry, offer));
  return found;
}

function offeredBy({ manifest, files }: OpenedPack, capabilities: JsonObject): OfferedAgent[] {
  const degraded = unmetOptional(manifest, capabilities);
  return agentsOf(manifest, files).map(({ manifest: agent, systemPrompt, taskSchema, returnSchema }) => {
    const { agentId, persona, label, description, modelClass, toolAllowlist, memoryShape, confidence } =
      agent;
    const threshold = confidence?.defaultThreshold;
    return {
      agentId,
      persona,
      label: label ?? persona,
      ...(description !== undefined && { description }),
      modelClass,
      packName: manifest.name,
      packVersion: manifest.version,
      toolAllowlist: toolAllowlist ?? [],
      ...(memoryShape !== undefined && { memoryShape }),
      ...(threshold !== undefined && { confidenceThreshold: threshold }),
      systemPrompt,
      ...(taskSchema !== undefined && { taskSchema }),
      ...(returnSchema !== undefined && { returnSchema }),
      ...(degraded.length > 0 && { degraded }),
    };
  });
}
