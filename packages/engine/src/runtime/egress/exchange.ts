import { type Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { EgressResponse } from '../../node-type.ts';
import { type Connections, type PinnedOptions, pinName } from './connections.ts';
import { EgressError } from './egress-error.ts';
import { isRedirect, type Hop } from './hop.ts';
import { errorCode, type ResolvedAddress } from './policy.ts';

export interface ExchangeOptions {
  /** Checked: the socket connects to one of these, whatever the name resolves to by now. */
  readonly addresses: readonly ResolvedAddress[];
  readonly connections: Connections;
  readonly signal: AbortSignal;
  readonly maxResponseBytes: number;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** A redirect that will be followed needs no body. */
  readonly followRedirects: boolean;
}

/**
 * One HTTP request and its answer, over a connection to a checked address. A kept connection that the other side closed in
 * the very moment it was used again gets a second try on a fresh one.
 */
export async function exchange(hop: Hop, options: ExchangeOptions): Promise<EgressResponse> {
  const agent = hop.destination.url.protocol === 'https:' ? options.connections.https : options.connections.http;
  const first = await exchangeOver(hop, options, agent);
  const answer = first === 'stale' ? await exchangeOver(hop, options, false) : first;
  if (answer !== 'stale') return answer;
  throw brokenExchange(hop.destination.authority, options.signal, undefined);
}

function exchangeOver(hop: Hop, options: ExchangeOptions, agent: Agent | false): Promise<EgressResponse | 'stale'> {
  const { authority } = hop.destination;
  return new Promise((resolve, reject) => {
    let answered = false;
    const request = openRequest(hop, options, agent);
    const end = (settle: () => void): void => {
      clearTimeout(connectTimer);
      settle();
      request.destroy();
    };
    const fail = (error: EgressError): void => end(() => reject(error));
    const broken = (cause?: unknown): void => {
      if (isStale(request, cause) && !answered && !options.signal.aborted) end(() => resolve('stale'));
      else fail(brokenExchange(authority, options.signal, cause));
    };
    const connectTimer = setTimeout(
      () => fail(timedOut(authority, 'connect_timeout')),
      options.connectTimeoutMs,
    );

    request.on('socket', (socket) => {
      if (request.reusedSocket) clearTimeout(connectTimer);
      else whenConnected(hop, socket, () => clearTimeout(connectTimer));
    });
    request.setTimeout(options.idleTimeoutMs, () => fail(timedOut(authority, 'idle_timeout')));
    request.on('error', broken);
    request.on('close', () => {
      if (!answered) broken(); // an upgrade, for one, ends without error and without answer
    });
    request.on('response', (message) => {
      answered = true;
      const head = { status: message.statusCode ?? 0, headers: flatHeaders(message) };
      if (options.followRedirects && isRedirect(head)) {
        end(() => resolve({ ...head, body: new Uint8Array() }));
        return;
      }
      collectBody(message, options.maxResponseBytes, {
        // Read to its end, the connection goes back to those that are kept.
        done: (body) => resolve({ ...head, body }),
        tooLarge: () => fail(tooLarge(authority, options.maxResponseBytes)),
        broken,
      });
    });
    request.end(hop.body);
  });
}

function isStale(request: ClientRequest, cause: unknown): boolean {
  const code = errorCode(cause);
  return request.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE');
}

function openRequest(
  { destination, method, headers, body }: Hop,
  options: ExchangeOptions,
  agent: Agent | false,
): ClientRequest {
  const { url, host, port } = destination;
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const asked: PinnedOptions = {
    hostname: host,
    port,
    path: `${url.pathname}${url.search}`,
    method,
    headers: { ...headers, ...length },
    agent,
    lookup: pinned(options.addresses),
    pinnedTo: pinName(options.addresses),
    signal: options.signal,
  };
  return send(asked);
}

/** Answers every lookup of the socket with the checked addresses, so the name is not resolved a second time. */
function pinned(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_host, { all }, callback) => {
    const [first] = addresses;
    if (all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}

function whenConnected({ destination }: Hop, socket: Socket, connected: () => void): void {
  socket.setKeepAlive(true, 60_000); // a peer that vanished is noticed even when no timeout is set
  socket.once(destination.url.protocol === 'https:' ? 'secureConnect' : 'connect', connected);
}

interface BodyEnd {
  readonly done: (body: Uint8Array) => void;
  readonly tooLarge: () => void;
  readonly broken: (cause?: unknown) => void;
}

function collectBody(message: IncomingMessage, limit: number, { done, tooLarge, broken }: BodyEnd): void {
  const chunks: Buffer[] = [];
  let size = 0;
  message.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) tooLarge();
    else chunks.push(chunk);
  });
  message.on('end', () => done(Buffer.concat(chunks)));
  message.on('error', broken);
  message.on('close', () => {
    if (!message.complete) broken();
  });
}

function flatHeaders(message: IncomingMessage): Record<string, string> {
  const entries = Object.entries(message.headers).map(([name, value]): [string, string] => [
    name,
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ]);
  return Object.fromEntries(entries);
}

function timedOut(destination: string, reason: 'connect_timeout' | 'idle_timeout'): EgressError {
  const what = reason === 'connect_timeout' ? 'did not accept the connection' : 'stopped answering';
  return new EgressError('network', `${destination} ${what} in time.`, { reason, destination });
}

function tooLarge(destination: string, limit: number): EgressError {
  return new EgressError('too_large', `The answer of ${destination} is larger than ${limit} bytes.`, {
    reason: 'response_bytes',
    destination,
  });
}

function brokenExchange(destination: string, signal: AbortSignal, cause: unknown): EgressError {
  if (signal.aborted) return abortedExchange(destination, signal);
  const reason = errorCode(cause) ?? 'connection_closed';
  return new EgressError('network', `${destination} gave no complete answer (${reason}).`, {
    reason,
    destination,
    cause,
  });
}

export function abortedExchange(destination: string, signal: AbortSignal): EgressError {
  return new EgressError('aborted', `The request to ${destination} was aborted.`, {
    reason: 'aborted',
    destination,
    cause: signal.reason,
  });
}
