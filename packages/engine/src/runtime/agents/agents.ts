import { type AgentEntry, canonicalJson, HostError, isName, type Json } from '@weft/protocol';
import type { Caller } from '../../host/host.ts';
import type { Agents, OfferedAgent } from '../../host/surface/agents.ts';
import { agentName, type InstalledAgent, type PinnedAgent } from '../../model/installed-agent.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DocumentPlace, Documents } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Committer } from '../commits/committer.ts';
import { writeFailure } from '../commits/write-failure.ts';
import { compareVersions } from '../node-types/version-order.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import { entryOf } from './agent-entry.ts';

/**
 * Agents of packs. This process knows those that are installed now; the store keeps every one that was.
 *
 * N-6. (tenant, agent, version) names one prompt, one list of tools and one pair of schemas for ever, whether its pack is still installed
 *      or not: definitions that pin it, and their runs, keep what they were registered with.
 */
export interface InstalledAgents extends Agents {
  /** Also one whose pack was removed. */
  find(tenant: string, agent: PinnedAgent): Promise<InstalledAgent | undefined>;
  /** Versions that are installed now, the newest last. */
  versions(tenant: string, agentId: string): readonly string[];
}

export interface AgentDependencies {
  readonly store: Pick<Documents, 'readDocument'>;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly random: RandomBytes;
}

const AGENTS = 'agents';

export function createAgents({ store, committer, clock, random }: AgentDependencies): InstalledAgents {
  /** By tenant, then by id; the newest version last. */
  const installed = new Map<string, ReadonlyMap<string, readonly OfferedAgent[]>>();

  async function find(tenant: string, agent: PinnedAgent): Promise<InstalledAgent | undefined> {
    if (!isName(agent.agentId) || !isName(agent.version)) return undefined;
    const stored = await store.readDocument(placeOf(tenant, agentName(agent)));
    return stored && (JSON.parse(stored.body) as InstalledAgent);
  }

  /** Whether it has to be written. */
  async function isNew(tenant: string, agent: InstalledAgent): Promise<boolean> {
    const { agentId, packVersion: version } = agent;
    const known = await find(tenant, { agentId, version });
    if (known === undefined) return true;
    if (canonicalJson(asJson(known)) === canonicalJson(asJson(agent))) return false;
    throw new HostError(
      'conflict',
      `The agent "${agentId}" of version "${version}" was installed with other contents before. A version never changes: raise that of the pack.`,
      { agentId, version },
    );
  }

  async function write(caller: Caller, agent: InstalledAgent): Promise<void> {
    const at = clock.now();
    const target = agentName({ agentId: agent.agentId, version: agent.packVersion });
    const result = await committer.submit({
      kind: 'document',
      batchId: randomId(random),
      ...placeOf(caller.tenant, target),
      body: JSON.stringify(agent),
      at,
      onlyNew: true,
      audit: [auditOf(caller, { at, action: 'agent.install', target })],
    });
    // Another process may have been faster; what it wrote is then held against this one.
    if (result.state === 'refused' && result.reason === 'document_exists') await isNew(caller.tenant, agent);
    else if (result.state !== 'committed') throw writeFailure(result);
  }

  return {
    find,
    versions: (tenant, agentId) =>
      (installed.get(tenant)?.get(agentId) ?? []).map(({ packVersion }) => packVersion),
    async install(caller, agents) {
      const kept = agents.map(({ degraded: _degraded, ...agent }): InstalledAgent => agent);
      const fresh: InstalledAgent[] = [];
      for (const agent of kept) if (await isNew(caller.tenant, agent)) fresh.push(agent);
      for (const agent of fresh) await write(caller, agent);
      installed.set(caller.tenant, byId(agents));
    },
    list({ tenant }) {
      if (installed.size === 0) return undefined;
      const agents = [...(installed.get(tenant)?.values() ?? [])].flatMap((versions) => versions.slice(-1));
      return agents.map(entryOf).sort(byAgentId);
    },
  };
}

function byId(agents: readonly OfferedAgent[]): ReadonlyMap<string, readonly OfferedAgent[]> {
  const found = new Map<string, OfferedAgent[]>();
  for (const agent of agents) found.set(agent.agentId, [...(found.get(agent.agentId) ?? []), agent]);
  for (const versions of found.values())
    versions.sort((left, right) => compareVersions(left.packVersion, right.packVersion));
  return found;
}

function byAgentId(left: AgentEntry, right: AgentEntry): number {
  return left.agentId < right.agentId ? -1 : 1;
}

function placeOf(tenant: string, id: string): DocumentPlace {
  return { tenant, collection: AGENTS, scope: '', id };
}

/** As it is kept. */
function asJson(agent: InstalledAgent): Json {
  return JSON.parse(JSON.stringify(agent)) as Json;
}
