import type { Caller, Host, HostOptions, Log } from '@weft/engine';
import type { ServeSettings } from '../settings/settings.ts';
import { readBudgets } from '../settings/budgets.ts';
import { readModels } from './models.ts';
import { readPeers } from './peers.ts';
import { readToolServers } from './tool-servers.ts';

/** What the config file connects a host with. Its code is loaded only where a block names some. */
export interface Connectors {
  readonly options: Pick<HostOptions, 'models' | 'tools' | 'peers' | 'budgets'>;
  /** Throws where the configuration names a secret that is not there. */
  check(host: Host, operator: Caller): Promise<void>;
  stop(): Promise<void>;
}

export async function readConnectors(
  { blocks }: Pick<ServeSettings, 'blocks'>,
  place: { readonly cwd: string; readonly log: Log; readonly suitePeer: string | undefined },
): Promise<Connectors> {
  const served = await readModels(blocks.models);
  const toolServers = await readToolServers(blocks.mcpServers, place);
  const servedPeers = await readPeers(blocks.a2a, place.suitePeer);
  return {
    options: {
      models: served.models,
      budgets: readBudgets(blocks.budgets),
      ...(toolServers !== undefined && { tools: toolServers.tools }),
      ...(servedPeers !== undefined && { peers: servedPeers.peers }),
    },
    async check(host, operator) {
      await served.checkKeys(host, operator);
      await toolServers?.checkSecrets(host, operator);
      await servedPeers?.checkSecrets(host, operator);
    },
    async stop() {
      await toolServers?.tools.stop();
    },
  };
}
