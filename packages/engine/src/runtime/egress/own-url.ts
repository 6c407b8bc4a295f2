import { EgressError } from './egress-error.ts';

const OWN = /^weft:\/\/self(?=[/?#]|$)/;

/** `weft://self/path` is the host itself, wherever it listens. It must be admitted like any other address. */
export function resolveOwnUrl(url: string, ownUrl: string | undefined): string {
  if (!OWN.test(url)) return url;
  if (ownUrl !== undefined) return url.replace(OWN, () => ownUrl);
  throw new EgressError('network', 'This host does not listen at an address of its own (yet).', {
    reason: 'not_listening',
    destination: 'self',
  });
}
