import { HostError } from '@weft/protocol';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';

/** Agents of installed packs. */
export const agentRoutes: Routes = (serve, { host }) => {
  function agentsOf(request: Parameters<typeof callerOf>[0]) {
    const agents = host.agents.list(callerOf(request));
    if (agents !== undefined) return agents;
    throw new HostError(
      'not_found',
      'This host has no agents of packs. Start it with --packs DIR, and with a model in its config file.',
    );
  }

  serve('listAgents', async (request, reply) => {
    const agents = agentsOf(request);
    return sendJson(reply, 200, JSON.stringify({ agents, total: agents.length }));
  });

  serve('getAgent', async (request, reply) => {
    const agentId = pathParam(request, 'agentId');
    const agent = agentsOf(request).find((each) => each.agentId === agentId);
    if (agent === undefined) throw new HostError('not_found', 'No agent of this id is installed.');
    return sendJson(reply, 200, JSON.stringify(agent));
  });
};
