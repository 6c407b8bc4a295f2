import type { PeerDocument, PeerTest } from '@weft/protocol';
import type { Caller } from './caller.ts';

/** Agents of other hosts that nodes may call, as the operator has configured them. */
export interface PeerAgents {
  list(caller: Caller): readonly PeerDocument[];
  /** Fetches the card of a peer and checks it; undefined when there is none of this name. */
  test(caller: Caller, peer: string): Promise<PeerTest | undefined>;
}
