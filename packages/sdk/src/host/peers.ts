import { endpointOf } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import { type ListPromise, wholeList } from '../requests/page-promise.ts';
import type { Transport } from '../requests/transport.ts';

/** An agent of another host in the host's config file. */
export interface PeerEntry {
  readonly name: string;
  /** For the operator's tenant. */
  readonly url?: string;
}

/** What a peer says of itself. */
export interface PeerCard {
  readonly agentName: string;
  /** Of A2A. */
  readonly protocolVersion: string;
  /** A message whose outcome is not known may be sent again: the peer takes it once. */
  readonly takesRepeats: boolean;
  readonly skills: readonly PeerSkill[];
}

export interface PeerSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** SHA-256 of the card with this skill alone: another one is another agent, or another skill. */
  readonly digest: string;
}

export interface PeerTest {
  readonly peer: PeerEntry;
  readonly tookMs: number;
  readonly card?: PeerCard;
  readonly error?: { readonly code: string; readonly message: string };
}

export interface Peers {
  list(): ListPromise<PeerEntry>;
  /** Fetches the agent card of a peer, and checks it. */
  test(peer: string): ApiPromise<PeerTest>;
}

export function createPeers(transport: Transport): Peers {
  return {
    list: () => wholeList(transport, endpointOf('listPeers'), 'peers', {}),
    test: (peer) => transport.json(endpointOf('testPeer', { peer })),
  };
}
