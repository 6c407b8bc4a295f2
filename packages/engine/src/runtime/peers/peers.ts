import type { PeerDocument } from '@weft/protocol';
import type { PeerAgents } from '../../host/host.ts';
import { type Egress, NodeFailure } from '../../model/node-type.ts';
import type { PeerCard, PeerContext, Peers } from '../../ports/peers.ts';
import type { SecretResolver } from '../../ports/secrets.ts';
import { openSecrets } from '../effects/open-effect-ports.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';

export interface PeerDependencies {
  readonly peers: Peers;
  readonly egress: Egress;
  readonly resolver: SecretResolver;
  /** The tenant whose secrets are the operator's. */
  readonly operator: string;
  readonly random: RandomBytes;
}

/** No one waits longer for an answer over HTTP. */
const PATIENCE_MS = 60_000;

export function createPeerAgents(dependencies: PeerDependencies): PeerAgents {
  const { peers, operator } = dependencies;
  /** Where a peer is, is for those to know who have configured it. */
  const describe = (tenant: string, name: string): PeerDocument => ({
    name,
    ...(tenant === operator && { url: peers.addressOf(name) }),
  });

  return {
    list: ({ tenant }) => peers.names.map((name) => describe(tenant, name)),
    async test({ tenant }, name) {
      if (!peers.names.includes(name)) return undefined;
      const began = performance.now();
      const took = () => Math.round(performance.now() - began);
      const peer = describe(tenant, name);
      try {
        return { peer, card: shown(await peers.card(name, contextOf(dependencies))), tookMs: took() };
      } catch (error) {
        if (!(error instanceof NodeFailure)) throw error;
        return { peer, error: { code: error.code, message: error.message }, tookMs: took() };
      }
    },
  };
}

function shown({ agentName, protocolVersion, skills, takesRepeats }: PeerCard) {
  return { agentName, protocolVersion, skills: skills.map((skill) => ({ ...skill })), takesRepeats };
}

function contextOf({ egress, resolver, operator, random }: PeerDependencies): PeerContext {
  const secrets = openSecrets(resolver, { tenant: operator, principal: undefined }, () => undefined);
  return {
    signal: AbortSignal.timeout(PATIENCE_MS),
    invocationId: randomId(random),
    egress,
    secrets,
    operatorSecrets: secrets,
    holdsClaim: () => true,
  };
}
