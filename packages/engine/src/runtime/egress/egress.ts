import { isIP } from 'node:net';
import type { Egress, EgressRequest, EgressResponse } from '../../node-type.ts';
import type { Log } from '../log.ts';
import { type Connections, createConnections } from './connections.ts';
import { EgressError } from './egress-error.ts';
import { abortedExchange, exchange } from './exchange.ts';
import { firstHop, isRedirect, nextHop, type Hop } from './hop.ts';
import { createPolicy, type EgressPolicy, type Resolve, type ResolvedAddress } from './policy.ts';

const MAX_REDIRECTS = 5;
const IDLE_TIMEOUT_MS = 300_000;

export interface EgressOptions {
  /** Exact HOST:PORT pairs that are admitted although they are not public, plain http included. */
  readonly allow: readonly string[];
  /** Every address of a name; the system's resolver unless given. */
  readonly resolve?: Resolve;
  /** For resolving, connecting and the TLS handshake, each redirect anew. */
  readonly connectTimeoutMs: number;
  /** The longest silence on an open connection. The whole request is bounded by its signal. */
  readonly idleTimeoutMs?: number;
  readonly log?: Log;
}

/**
 * The only way out of the host. Each hop, the first and every redirect, goes the same way: read the URL, resolve the
 * name once, check every address, connect to a checked one.
 *
 * 1. No socket is opened to an address that was not checked for this hop.
 * 2. Errors and log lines name the authority only, never userinfo, path, query or headers.
 * 3. No more than `maxResponseBytes` of an answer is held in memory.
 */
export function createEgress(options: EgressOptions): Egress {
  const policy = createPolicy(options.allow, options.resolve);
  const connections = createConnections(options.connectTimeoutMs);

  return {
    async fetch(request) {
      try {
        return await follow(request, policy, connections, options);
      } catch (error) {
        if (error instanceof EgressError && error.problem === 'denied') {
          const fields = { destination: error.destination, reason: error.reason };
          options.log?.('info', fields, 'outbound request refused');
        }
        throw error;
      }
    },
  };
}

async function follow(
  request: EgressRequest,
  policy: EgressPolicy,
  connections: Connections,
  options: EgressOptions,
): Promise<EgressResponse> {
  let hop = firstHop(request);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await exchange(hop, {
      addresses: await admit(hop, request.signal, policy, options.connectTimeoutMs),
      connections,
      signal: request.signal,
      maxResponseBytes: request.maxResponseBytes,
      idleTimeoutMs: options.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
      followRedirects: request.followRedirects,
    });
    if (!request.followRedirects || !isRedirect(response)) return response;
    hop = nextHop(hop, response);
  }
  const { authority } = hop.destination;
  throw new EgressError(
    'too_many_redirects',
    `The request was redirected more than ${MAX_REDIRECTS} times.`,
    {
      reason: 'too_many_redirects',
      destination: authority,
    },
  );
}

/** The system's resolver cannot be aborted, so the wait for it is. */
async function admit(
  hop: Hop,
  signal: AbortSignal,
  policy: EgressPolicy,
  timeoutMs: number,
): Promise<readonly ResolvedAddress[]> {
  const { authority, host } = hop.destination;
  if (signal.aborted) throw abortedExchange(authority, signal);
  // An address needs no resolver, so there is nothing to wait for.
  if (isIP(host) !== 0) return await policy.admit(hop.destination);
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const cut = new Promise<never>((_, reject) => {
    onAbort = () => reject(abortedExchange(authority, signal));
    signal.addEventListener('abort', onAbort);
    timer = setTimeout(() => reject(resolveTimedOut(authority)), timeoutMs);
  });
  try {
    return await Promise.race([policy.admit(hop.destination), cut]);
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}

function resolveTimedOut(destination: string): EgressError {
  return new EgressError('network', `The name of ${destination} was not resolved in time.`, {
    reason: 'resolve_timeout',
    destination,
  });
}
