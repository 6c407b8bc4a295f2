import type { Egress, EgressRequest, StopSignal } from '../../model/node-type.ts';
import { createBoundedCache } from '../collections/bounded-cache.ts';
import { DEFAULT_LIMITS } from '../../host/limits.ts';
import type { Log } from '../../ports/log.ts';
import { createConnections } from './connections.ts';
import { type Destination, parseDestination } from './destination.ts';
import { EgressError, withoutReceiver } from './egress-error.ts';
import type { AnswerHead } from './answers.ts';
import { abortedExchange, exchange, type ExchangeOptions, openExchange } from './exchange.ts';
import { firstHop, type Hop, isRedirect, nextHop } from './hop.ts';
import { createLookUps } from './look-ups.ts';
import { resolveOwnUrl } from './own-url.ts';
import { type Addresses, createPolicy, type Resolve } from './policy.ts';
import { createResolver } from './resolver.ts';

const MAX_REDIRECTS = 5;
const MAX_DESTINATIONS = 512;
const IDLE_TIMEOUT_MS = 300_000;

export interface EgressOptions {
  /** Exact HOST:PORT pairs that are admitted although they are not public, plain http included. */
  readonly allow: readonly string[];
  /** What `weft://self` stands for, as long as the host listens. */
  readonly ownUrl?: (() => string | undefined) | undefined;
  /** The name servers of this system unless given. */
  readonly resolve?: Resolve;
  /** Names being looked up at the same time, in all and for one tenant. */
  readonly lookups?: number;
  readonly lookupsPerTenant?: number;
  /** For resolving, connecting and the TLS handshake, each redirect again. */
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
 * 3. No more than `maxResponseBytes` of an answer is taken, whole or in pieces.
 * 4. `mayLeave`, where given, is called in the turn in which the request is written to its socket, after names were resolved,
 *    connections opened and places in the pool waited for. No byte of a request is sent that may not leave.
 */
export function createEgress(options: EgressOptions): Egress {
  const { connectTimeoutMs, idleTimeoutMs = IDLE_TIMEOUT_MS } = options;
  const policy = createPolicy(options.allow);
  const lookUps = createLookUps({
    resolve: options.resolve ?? createResolver(),
    inAll: options.lookups ?? DEFAULT_LIMITS.hostLookups,
    perTenant: options.lookupsPerTenant ?? DEFAULT_LIMITS.tenantLookups,
    timeoutMs: connectTimeoutMs,
  });
  const connections = createConnections(connectTimeoutMs);
  // Workflows ask the same URLs again and again. Reading one says nothing about whether it is admitted: that is asked again.
  const destinations = createBoundedCache<string, Destination>(MAX_DESTINATIONS);

  function destinationOf(asked: string): Destination {
    const url = resolveOwnUrl(asked, options.ownUrl?.());
    const known = destinations.get(url);
    if (known !== undefined) return known;
    const destination = parseDestination(url);
    destinations.set(url, destination);
    return destination;
  }

  // One function, because every promise between a node and its answer is paid for by every effect.
  async function send<Answer extends AnswerHead>(
    perform: (hop: Hop, options: ExchangeOptions) => Promise<Answer>,
    request: EgressRequest,
    tenant: string,
  ): Promise<Answer> {
    const { signal, maxResponseBytes, followRedirects, mayLeave } = request;
    try {
      let hop = firstHop(request, destinationOf(request.url));
      for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
        const { destination } = hop;
        if (signal.aborted) throw abortedExchange(destination.authority, signal);
        const isNamed = redirects === 0 && request.admits === destination.authority;
        const addresses =
          policy.admitLiteral(destination, isNamed) ??
          (await admitName(destination, isNamed, tenant, signal));
        const response = await perform(hop, {
          addresses,
          connections,
          signal,
          maxResponseBytes,
          idleTimeoutMs,
          followRedirects,
          mayLeave,
        });
        if (!followRedirects || !isRedirect(response)) return response;
        hop = nextHop(hop, response);
      }
      throw tooManyRedirects(hop.destination.authority);
    } catch (cause) {
      const isShown = request.hidesReceiver !== true || !(cause instanceof EgressError);
      const error = isShown ? cause : withoutReceiver(cause);
      noteRefusal(error);
      throw error;
    }
  }

  async function admitName(
    destination: Destination,
    isNamed: boolean,
    tenant: string,
    signal: StopSignal,
  ): Promise<Addresses> {
    try {
      return await policy.admit(destination, (host) => lookUps.find(host, tenant, signal), isNamed);
    } catch (error) {
      throw signal.aborted ? abortedExchange(destination.authority, signal) : error;
    }
  }

  function noteRefusal(error: unknown): void {
    if (!(error instanceof EgressError) || error.problem !== 'denied') return;
    const fields = { destination: error.destination, reason: error.reason };
    options.log?.('info', fields, 'outbound request refused');
  }

  return {
    fetch: (request, tenant = '') => send(exchange, request, tenant),
    open: (request, tenant = '') => send(openExchange, request, tenant),
  };
}

function tooManyRedirects(destination: string): EgressError {
  const message = `The request was redirected more than ${MAX_REDIRECTS} times.`;
  return new EgressError('too_many_redirects', message, { reason: 'too_many_redirects', destination });
}
