import { CallToolSchema, HostError } from '@weft/protocol';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { bodyParser } from '../../http/parse-body.ts';

const parseCall = bodyParser(CallToolSchema);

/** MCP servers of the host's config file. */
export const toolServerRoutes: Routes = (serve, { host }) => {
  serve('listToolServers', async (request, reply) => {
    const servers = host.toolServers.list(callerOf(request));
    return sendJson(reply, 200, JSON.stringify({ servers }));
  });

  serve('testToolServer', async (request, reply) => {
    const tested = await host.toolServers.test(callerOf(request), pathParam(request, 'server'));
    if (tested === undefined) throw noServer();
    return sendJson(reply, 200, JSON.stringify(tested));
  });

  serve('callTool', async (request, reply) => {
    const server = pathParam(request, 'server');
    const outcome = await host.toolServers.call(callerOf(request), server, parseCall(request.body));
    if (outcome === undefined) throw noServer();
    return sendJson(reply, 200, JSON.stringify(outcome));
  });
};

function noServer(): HostError {
  return new HostError(
    'not_found',
    'No MCP server of this name is configured. Servers are named under "mcpServers" in the host’s config file.',
  );
}
