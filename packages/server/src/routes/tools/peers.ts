import { HostError } from '@weft/protocol';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';

/** Agents of other hosts in the host's config file. */
export const peerRoutes: Routes = (serve, { host }) => {
  serve('listPeers', async (request, reply) => {
    const peers = host.peers.list(callerOf(request));
    return sendJson(reply, 200, JSON.stringify({ peers }));
  });

  serve('testPeer', async (request, reply) => {
    const tested = await host.peers.test(callerOf(request), pathParam(request, 'peer'));
    if (tested === undefined) {
      throw new HostError(
        'not_found',
        'No peer of this name is configured. Peers are named under "a2a.peers" in the host’s config file.',
      );
    }
    return sendJson(reply, 200, JSON.stringify(tested));
  });
};
