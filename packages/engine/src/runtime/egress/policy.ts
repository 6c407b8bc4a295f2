import { blockedAddress, blockedName, type BlockReason } from './addresses.ts';
import { authorityOf, parsePair, type Destination, type ResolvedAddress } from './destination.ts';
import { EgressError } from './egress-error.ts';

/** Every address of a name; none when there is no such name. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<Addresses>;

/**
 * The egress policy. A destination is admitted when
 *
 * 1. its authority, as written in the URL, is in the allow list, or is the one that the operator has named for this kind of request; or
 * 2. every address its name resolves to is public, or in the allow list together with the port, and the name is not
 *    one that means this machine or its network.
 *
 * One bad address refuses the whole name: which one a socket would take is not ours to guess.
 */
export interface EgressPolicy {
  /** Resolves the name once and returns the checked addresses: connect to these and to nothing else. */
  admit(destination: Destination, resolve: FindAddresses, isNamed?: boolean): Promise<Addresses>;
  /** The same where the destination is an address, and there is nothing to wait for; undefined where it is a name. */
  admitLiteral(destination: Destination, isNamed?: boolean): Addresses | undefined;
}

export type Addresses = readonly ResolvedAddress[];

/** Resolves the addresses of a name. */
export type FindAddresses = (host: string) => Promise<Addresses>;

export function createPolicy(allow: readonly string[]): EgressPolicy {
  const pairs = allow.map(parsePair);
  const allowed = new Set(pairs.map((pair) => pair.authority));
  const allowedPorts = new Set(pairs.map((pair) => pair.port));

  async function admitName(
    destination: Destination,
    resolve: FindAddresses,
    isNamed: boolean,
  ): Promise<Addresses> {
    const { host, port, authority } = destination;
    const reason = isNamed ? undefined : blockedName(host);
    if (reason !== undefined && !allowedPorts.has(port)) throw denied(destination, reason);
    const addresses = await resolve(host).catch((cause: unknown) => {
      throw unresolved(authority, cause);
    });
    if (addresses.length === 0) throw unresolved(authority);
    return isNamed ? addresses : checked(destination, addresses, reason);
  }

  function checked(
    destination: Destination,
    addresses: Addresses,
    nameReason: BlockReason | undefined,
  ): Addresses {
    if (allowed.has(destination.authority)) return addresses;
    for (const { address } of addresses) {
      if (allowed.has(authorityOf(address, destination.port))) continue;
      const reason = nameReason ?? blockedAddress(address);
      if (reason !== undefined) throw denied(destination, reason);
    }
    return addresses;
  }

  function admitLiteral(destination: Destination, isNamed = false): Addresses | undefined {
    const { literal } = destination;
    if (literal === undefined) return undefined;
    return isNamed ? [literal] : checked(destination, [literal], undefined);
  }

  return {
    admit: async (destination, resolve, isNamed = false) =>
      admitLiteral(destination, isNamed) ?? admitName(destination, resolve, isNamed),
    admitLiteral,
  };
}

function denied({ authority }: Destination, reason: BlockReason): EgressError {
  return new EgressError(
    'denied',
    `Requests to ${authority} are not allowed (${reason}); an operator can admit it with --allow-egress ${authority}.`,
    { reason, destination: authority },
  );
}

function unresolved(authority: string, cause?: unknown): EgressError {
  const reason = errorCode(cause) ?? 'ENOTFOUND';
  const what = reason === 'resolve_timeout' ? 'was not resolved in time' : 'could not be resolved';
  return new EgressError('network', `The name of ${authority} ${what}.`, {
    reason,
    destination: authority,
    cause,
  });
}

/** The `code` of a system error. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
