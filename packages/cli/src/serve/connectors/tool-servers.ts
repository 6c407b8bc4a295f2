import type { McpServer, McpTools } from '@weft/connectors/mcp';
import type { Caller, Host, Log } from '@weft/engine';
import type { Json } from '@weft/protocol/plain';
import { unusable } from '../../exit-code.ts';
import { VERSION } from '../../version.ts';
import { checkSecrets } from './check-secrets.ts';

/** The MCP servers of a config file. */
export interface ServedTools {
  readonly tools: McpTools;
  /** Throws CliError for the first secret that is not there; the host must have started. */
  checkSecrets(host: Pick<Host, 'secrets'>, operator: Caller): Promise<void>;
}

/** Loaded only where it is wanted: the SDK takes a tenth of a second and a few megabytes. */
export async function readToolServers(
  block: Json | undefined,
  { cwd, log }: { readonly cwd: string; readonly log: Log },
): Promise<ServedTools | undefined> {
  if (block === undefined) return undefined;
  const { createMcpTools, McpConfigError, readMcpServers, secretsOf } = await import('@weft/connectors/mcp');
  let servers: readonly McpServer[];
  try {
    servers = readMcpServers(block);
  } catch (error) {
    throw error instanceof McpConfigError ? unusable('bad_config', error.message, error) : error;
  }
  const wanted = servers.flatMap(secretsOf).map((secret) => ({ ...secret, without: 'this server' }));
  return {
    tools: createMcpTools(servers, { log, cwd, version: VERSION }),
    checkSecrets: (host, operator) => checkSecrets(wanted, host, operator),
  };
}
