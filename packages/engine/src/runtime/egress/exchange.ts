import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, errors } from 'undici';
import type { EgressResponse } from '../../node-type.ts';
import type { Connections } from './connections.ts';
import { EgressError } from './egress-error.ts';
import { type Hop, isRedirect } from './hop.ts';
import { errorCode, type ResolvedAddress } from './policy.ts';

export interface ExchangeOptions {
  /** Checked: the socket connects to one of these, whatever the name resolves to by now. */
  readonly addresses: readonly ResolvedAddress[];
  readonly connections: Connections;
  readonly signal: AbortSignal;
  readonly maxResponseBytes: number;
  readonly idleTimeoutMs: number;
  /** A redirect that will be followed needs no body. */
  readonly followRedirects: boolean;
}

/** Several kept connections may have been closed at once, by a restart for example. */
const MAX_ATTEMPTS = 4;

/**
 * One HTTP request and its answer, over a connection to a checked address. A kept connection that the other side closed in
 * the very moment it was used again is no failure: the request goes over another one.
 */
export async function exchange(hop: Hop, options: ExchangeOptions): Promise<EgressResponse> {
  const { authority } = hop.destination;
  if (options.signal.aborted) throw abortedExchange(authority, options.signal);
  let stale: unknown;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    try {
      return await exchangeOnce(hop, options);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      stale = error.cause;
    }
  }
  throw brokenExchange(authority, stale);
}

class StaleConnection extends Error {}

function exchangeOnce(hop: Hop, options: ExchangeOptions): Promise<EgressResponse> {
  const { url, authority } = hop.destination;
  const { signal } = options;
  return new Promise((resolve, reject) => {
    const answer = new Answer(authority, options);
    const settle = (error: Error | undefined): void => {
      signal.removeEventListener('abort', onAbort);
      if (error === undefined) resolve(answer.response());
      else reject(error);
    };
    const onAbort = (): void => {
      answer.cut(abortedExchange(authority, signal));
      settle(abortedExchange(authority, signal));
    };
    answer.onEnd = settle;
    signal.addEventListener('abort', onAbort, { once: true });
    options.connections.to(hop.destination, options.addresses).dispatch(
      {
        path: `${url.pathname}${url.search}`,
        method: hop.method,
        headers: { ...hop.headers },
        body: hop.body ?? null,
        headersTimeout: options.idleTimeoutMs,
        bodyTimeout: options.idleTimeoutMs,
      },
      answer,
    );
  });
}

/** Takes an answer as it comes in; `onEnd` is called once, with the reason when it did not come in whole. */
class Answer implements Dispatcher.DispatchHandler {
  onEnd: (error: Error | undefined) => void = () => undefined;
  readonly #authority: string;
  readonly #options: ExchangeOptions;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: Record<string, string> = {};
  #size = 0;
  #error: EgressError | undefined;

  constructor(authority: string, options: ExchangeOptions) {
    this.#authority = authority;
    this.#options = options;
  }

  response(): EgressResponse {
    return { status: this.#status, headers: this.#headers, body: Buffer.concat(this.#chunks) };
  }

  /** Ends the exchange from our side. */
  cut(error: EgressError): void {
    this.#error ??= error;
    this.#controller?.abort(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#error !== undefined) controller.abort(this.#error);
  }

  onRequestUpgrade(controller: Dispatcher.DispatchController): void {
    this.cut(brokenExchange(this.#authority, undefined));
    controller.abort(new Error('protocol switch'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = flatHeaders(headers);
    // The body of a redirect is not wanted; the connection is cheaper to give up than to read to its end.
    if (!this.#options.followRedirects || !isRedirect(this.response())) return;
    this.onEnd(undefined);
    this.cut(brokenExchange(this.#authority, undefined));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size <= this.#options.maxResponseBytes) this.#chunks.push(chunk);
    else this.cut(tooLarge(this.#authority, this.#options.maxResponseBytes));
  }

  onResponseEnd(): void {
    this.onEnd(this.#error);
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: Error): void {
    if (this.#error !== undefined) return this.onEnd(this.#error);
    if (this.#status === 0 && isStale(cause)) return this.onEnd(new StaleConnection('', { cause }));
    this.onEnd(brokenExchange(this.#authority, cause));
  }
}

/** A connection over which answers had come before, closed by the other side without a byte of this one. */
function isStale(cause: Error): boolean {
  return cause instanceof errors.SocketError && (cause.socket?.bytesRead ?? 0) > 0;
}

function flatHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

function tooLarge(destination: string, limit: number): EgressError {
  return new EgressError('too_large', `The answer of ${destination} is larger than ${limit} bytes.`, {
    reason: 'response_bytes',
    destination,
  });
}

const TIMEOUTS: Readonly<Record<string, { readonly reason: string; readonly what: string }>> = {
  UND_ERR_CONNECT_TIMEOUT: { reason: 'connect_timeout', what: 'did not accept the connection' },
  UND_ERR_HEADERS_TIMEOUT: { reason: 'idle_timeout', what: 'stopped answering' },
  UND_ERR_BODY_TIMEOUT: { reason: 'idle_timeout', what: 'stopped answering' },
};

function brokenExchange(destination: string, cause: unknown): EgressError {
  const code = errorCode(cause);
  const timeout = TIMEOUTS[code ?? ''];
  if (timeout !== undefined) {
    const message = `${destination} ${timeout.what} in time.`;
    return new EgressError('network', message, { reason: timeout.reason, destination });
  }
  const reason = code === undefined || code.startsWith('UND_ERR') ? 'connection_closed' : code;
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
