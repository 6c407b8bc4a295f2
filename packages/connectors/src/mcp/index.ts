import type { ToolServerStatus, Tools } from '@weft/engine';
import type { McpServer } from './config.ts';
import { unknownServer } from './failures.ts';
import {
  type ConnectionOptions,
  createServerConnection,
  type ServerConnection,
} from './server-connection.ts';

export { McpConfigError, type McpServer, readMcpServers, secretsOf } from './config.ts';

/** The tools of MCP servers, for `HostOptions.tools`. */
export interface McpTools extends Tools {
  status(server: string): ToolServerStatus;
  /** Ends every process, with all that it has started. */
  stop(): Promise<void>;
}

export function createMcpTools(servers: readonly McpServer[], options: ConnectionOptions): McpTools {
  const connections = new Map(
    servers.map((server) => [server.name, createServerConnection(server, options)]),
  );
  const names = [...connections.keys()];

  function connectionOf(server: string): ServerConnection {
    const connection = connections.get(server);
    if (connection === undefined) throw unknownServer(server, names);
    return connection;
  }

  return {
    servers: names,
    list: async (server, context) => await connectionOf(server).list(context),
    call: async (call, context) => await connectionOf(call.server).call(call, context),
    status: (server) => ({ transport: transportOf(servers, server), ...connectionOf(server).status() }),
    async stop() {
      await Promise.all([...connections.values()].map((connection) => connection.stop()));
    },
  };
}

function transportOf(servers: readonly McpServer[], name: string): 'stdio' | 'http' {
  return servers.find((server) => server.name === name)?.reach.kind ?? 'stdio';
}
