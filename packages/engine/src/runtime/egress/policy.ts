import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { blockedAddress, blockedName, type BlockReason } from './addresses.ts';
import { authorityOf, parsePair, type Destination } from './destination.ts';
import { EgressError } from './egress-error.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Every address of a name. */
export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>;

/**
 * The egress policy. A destination is admitted when
 *
 * 1. its authority, as written in the URL, is in the allow list; or
 * 2. every address its name resolves to is public, or in the allow list together with the port, and the name is not
 *    one that means this machine or its network.
 *
 * One bad address refuses the whole name: which one a socket would take is not ours to guess.
 */
export interface EgressPolicy {
  /** Resolves the name once and returns the checked addresses: connect to these and to nothing else. */
  admit(destination: Destination): Promise<readonly ResolvedAddress[]>;
}

export function createPolicy(allow: readonly string[], resolve: Resolve = resolveAll): EgressPolicy {
  const pairs = allow.map(parsePair);
  const allowed = new Set(pairs.map((pair) => pair.authority));
  const allowedPorts = new Set(pairs.map((pair) => pair.port));

  return {
    async admit(destination) {
      const { host, port, authority } = destination;
      const nameReason = isIP(host) === 0 ? blockedName(host) : undefined;
      if (nameReason !== undefined && !allowedPorts.has(port)) throw denied(destination, nameReason);

      const addresses = await addressesOf(destination, resolve);
      if (allowed.has(authority)) return addresses;
      for (const { address } of addresses) {
        if (allowed.has(authorityOf(address, port))) continue;
        const reason = nameReason ?? blockedAddress(address);
        if (reason !== undefined) throw denied(destination, reason);
      }
      return addresses;
    },
  };
}

async function addressesOf(
  { host, authority }: Destination,
  resolve: Resolve,
): Promise<readonly ResolvedAddress[]> {
  const family = isIP(host);
  if (family === 4 || family === 6) return [{ address: host, family }];
  const addresses = await resolve(host).catch((cause: unknown) => {
    throw unresolved(authority, cause);
  });
  if (addresses.length === 0) throw unresolved(authority);
  return addresses;
}

async function resolveAll(host: string): Promise<readonly ResolvedAddress[]> {
  const found = await lookup(host, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

function denied({ authority }: Destination, reason: BlockReason): EgressError {
  return new EgressError(
    'denied',
    `Requests to ${authority} are not allowed (${reason}); an operator can admit it with --allow-egress ${authority}.`,
    { reason, destination: authority },
  );
}

function unresolved(authority: string, cause?: unknown): EgressError {
  return new EgressError('network', `The name of ${authority} could not be resolved.`, {
    reason: errorCode(cause) ?? 'ENOTFOUND',
    destination: authority,
    cause,
  });
}

/** The `code` of a system error. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
