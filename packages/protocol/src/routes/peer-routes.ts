import { PeerListSchema, PeerTestSchema } from '../documents/agents/peers.ts';
import { describeRoutes } from './route-description.ts';

/** Agents of other hosts in the host's config file. */
export const PEER_ROUTES = describeRoutes({
  listPeers: {
    scope: 'manifest:read',
    summary: 'Agents of other hosts that the operator has configured, and that nodes may call over A2A.',
    responses: { 200: { description: 'All of them.', schema: PeerListSchema } },
    errors: [],
  },
  testPeer: {
    scope: 'host:admin',
    summary: 'Fetches the agent card of a peer, and checks it.',
    responses: {
      200: {
        description: 'The card of the peer, or the error that kept it from being read.',
        schema: PeerTestSchema,
      },
    },
    errors: ['not_found'],
  },
});
