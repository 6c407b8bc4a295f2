import type { Caller, Host, HostOptions, Log } from '@weft/engine';
import type { ServeSettings } from '../settings/settings.ts';
import { readBudgets } from '../settings/budgets.ts';
import { readModels } from './models.ts';
import { readToolServers } from './tool-servers.ts';

/** What the config file connects a host with. Its code is loaded only where a block names some. */
export interface Connectors {
  readonly options: Pick<HostOptions, 'models' | 'tools' | 'budgets'>;
  /** Throws where the configuration names a secret that is not there. */
  check(host: Host, operator: Caller): Promise<void>;
  stop(): Promise<void>;
}

export async function readConnectors(
  { blocks }: Pick<ServeSettings, 'blocks'>,
  place: { readonly cwd: string; readonly log: Log },
): Promise<Connectors> {
  const served = await readModels(blocks.models);
  const toolServers = await readToolServers(blocks.mcpServers, place);
  return {
    options: {
      models: served.models,
      budgets: readBudgets(blocks.budgets),
      ...(toolServers !== undefined && { tools: toolServers.tools }),
    },
    async check(host, operator) {
      await served.checkKeys(host, operator);
      await toolServers?.checkSecrets(host, operator);
    },
    async stop() {
      await toolServers?.tools.stop();
    },
  };
}
