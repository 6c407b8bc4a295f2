import type { Caller, Host, HostOptions, Log } from '@weft/engine';
import { readModels } from './models.ts';
import type { ServeSettings } from './settings/settings.ts';
import { readToolServers } from './tool-servers.ts';

/** What the blocks of a config file add to a host. */
export interface Connectors {
  readonly options: Pick<HostOptions, 'models' | 'tools'>;
  /** Throws CliError for the first secret that is not there; the host must have started. */
  checkSecrets(host: Pick<Host, 'secrets'>, operator: Caller): Promise<void>;
  stop(): Promise<void>;
}

export async function readConnectors(
  { blocks }: Pick<ServeSettings, 'blocks'>,
  place: { readonly cwd: string; readonly log: Log },
): Promise<Connectors> {
  const models = await readModels(blocks.models);
  const toolServers = await readToolServers(blocks.mcpServers, place);
  return {
    options: {
      ...(models !== undefined && { models: models.models }),
      ...(toolServers !== undefined && { tools: toolServers.tools }),
    },
    async checkSecrets(host, operator) {
      await models?.checkKeys(host, operator);
      await toolServers?.checkSecrets(host, operator);
    },
    stop: async () => await toolServers?.tools.stop(),
  };
}
