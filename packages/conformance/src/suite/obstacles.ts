import type { JsonObject } from '@weft/protocol';
import type { Peers } from '../peers/peers.ts';
import { GATES } from '../requirements/gates.ts';
import { REQUIREMENTS } from '../areas/requirements.ts';
import type { Requirement } from '../requirements/requirement.ts';
import { type Check, type Needs, type OtherKeys, POLICY_MODES, type PolicyProviders } from './check.ts';
import type { Launcher } from './launcher.ts';

/** What a run of the suite has to offer to its checks. */
export interface Offer {
  readonly discovery: JsonObject;
  readonly keys: OtherKeys;
  readonly peers: Peers;
  readonly policies: PolicyProviders;
  readonly launcher: Launcher | undefined;
}

export interface Obstacle {
  readonly outcome: 'not-applicable' | 'not-tested';
  readonly reason: string;
}

/** Why a check is not run on this host, or not this time. */
export function obstacleTo(check: Check, offer: Offer): Obstacle | undefined {
  if (check.isOffline === true) return undefined;
  return closedGate(check, offer.discovery) ?? missingNeed(check.needs ?? {}, offer);
}

function closedGate({ proves }: Check, discovery: JsonObject): Obstacle | undefined {
  for (const id of proves) {
    const { gate }: Requirement = REQUIREMENTS[id];
    if (gate !== undefined && !GATES[gate].isOpen(discovery))
      return { outcome: 'not-applicable', reason: `not advertised: ${GATES[gate].says}` };
  }
  return undefined;
}

const KEY_FLAGS: Readonly<Record<keyof OtherKeys, string>> = {
  lowScope: '--low-scope-key-file',
  otherTenant: '--other-tenant-key-file',
  otherWorkspace: '--other-workspace-key-file',
};

function missingNeed({ fixtures, key, peer, launch, policies }: Needs, offer: Offer): Obstacle | undefined {
  const listed = offer.discovery['fixtures'];
  const missing = fixtures?.filter((name) => !Array.isArray(listed) || !listed.includes(name)) ?? [];
  const reasons = [
    missing.length > 0 && `the host does not list the fixture ${missing.join(', ')}`,
    key !== undefined && offer.keys[key] === undefined && `it needs a key (${KEY_FLAGS[key]})`,
    peer !== undefined && offer.peers[peer] === undefined && `it needs a peer (--${peer}-port)`,
    policies === true &&
      POLICY_MODES.some((mode) => offer.policies[mode] === undefined) &&
      'it needs a provider of each mode (--policy-providers)',
    launch === true && offer.launcher === undefined && 'it starts processes (--launch)',
  ];
  const reason = reasons.find((text) => text !== false);
  return reason === undefined ? undefined : { outcome: 'not-tested', reason };
}
