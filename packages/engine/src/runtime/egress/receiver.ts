import { isIP } from 'node:net';
import { blockedAddress, blockedName } from './addresses.ts';
import { type Destination, parseDestination, parsePair } from './destination.ts';

/**
 * Whether a URL may be given to the host as a place to send to. It says nothing about what the name resolves to: that is
 * looked at for every request, by the policy.
 */
export type ReceiverCheck = (url: string) => string | undefined;

/** Returns the complaint, as the second half of a sentence; undefined when there is none. Never repeats the URL. */
export function createReceiverCheck(allow: readonly string[]): ReceiverCheck {
  const admitted = new Set(allow.map((entry) => parsePair(entry).authority));
  return (url) => {
    let destination: Destination;
    try {
      destination = parseDestination(url);
    } catch {
      return 'must be an absolute https URL';
    }
    if (destination.authorization !== undefined) return 'must hold no user name and no password';
    if (admitted.has(destination.authority)) return undefined;
    if (destination.url.protocol !== 'https:') return 'must begin with https://';
    const { host } = destination;
    const reason = isIP(host) === 0 ? blockedName(host) : blockedAddress(host);
    return reason === undefined
      ? undefined
      : `must lead to a public address (${reason}); an operator can admit others with --allow-egress`;
  };
}
