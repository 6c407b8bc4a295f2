import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { type Dispatcher, errors } from 'undici';
import type { EgressResponse, EgressStream, StopSignal } from '../../model/node-type.ts';
import { type AnswerSink, StreamedAnswer, WholeAnswer } from './answers.ts';
import type { Connections } from './connections.ts';
import { EgressError } from './egress-error.ts';
import { type Hop, isRedirect } from './hop.ts';
import { type Addresses, errorCode } from './policy.ts';

export interface ExchangeOptions {
  /** Checked: the socket connects to one of these, whatever the name resolves to by now. */
  readonly addresses: Addresses;
  readonly connections: Connections;
  readonly signal: StopSignal;
  readonly maxResponseBytes: number;
  readonly idleTimeoutMs: number;
  /** A redirect that will be followed needs no body. */
  readonly followRedirects: boolean;
  readonly mayLeave?: (() => boolean) | undefined;
}

/**
 * A body up to this size is handed to the system with the headers in one write. What is beyond it may stay in the process until
 * the other side has read, however long that takes. At least what a socket holds before it makes its writer wait for `drain`.
 */
const WRITTEN_AT_ONCE = 64 * 1024;
const MOST_BYTES_OF_A_UNIT = 3;

/** What of a request depends on its size. */
interface Content {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | Readable | null;
}

/** Several kept connections may have been closed at once, by a restart for example. */
const MAX_ATTEMPTS = 4;

/**
 * One HTTP request and its answer, over a connection to a checked address. A kept connection that the other side closed in
 * the very moment it was used again is no failure: the request goes over another one.
 */
export function exchange(hop: Hop, options: ExchangeOptions): Promise<EgressResponse> {
  return new Promise((resolve, reject) => {
    new Exchange(hop, options, new WholeAnswer(resolve, reject)).begin();
  });
}

/** The same, answered as soon as the headers are here. The signal ends the body too. */
export function openExchange(hop: Hop, options: ExchangeOptions): Promise<EgressStream> {
  return new Promise((resolve, reject) => {
    new Exchange(hop, options, new StreamedAnswer(resolve, reject)).begin();
  });
}

/** Sends, and takes the answer as it comes in. What it hears after it has settled changes nothing any more. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #hop: Hop;
  readonly #options: ExchangeOptions;
  readonly #answer: AnswerSink;
  readonly #onAbort = (): void => this.#stop();
  #controller: Dispatcher.DispatchController | undefined;
  #attempts = 0;
  #status = 0;
  #size = 0;
  /** Why we ended it ourselves. */
  #error: EgressError | undefined;

  constructor(hop: Hop, options: ExchangeOptions, answer: AnswerSink) {
    this.#hop = hop;
    this.#options = options;
    this.#answer = answer;
  }

  begin(): void {
    const { signal } = this.#options;
    if (signal.aborted) return this.#answer.fail(abortedExchange(this.#authority, signal));
    // The name may have taken long to resolve: then not even a connection is opened.
    if (!this.#mayLeave()) return this.#answer.fail(mayNotLeave(this.#authority));
    signal.addEventListener('abort', this.#onAbort);
    this.#send();
  }

  /** Called by the pool right before it writes to the socket, in the same turn; a request that is aborted here is not written. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (!this.#mayLeave()) this.#error ??= mayNotLeave(this.#authority);
    if (this.#error !== undefined) controller.abort(this.#error);
  }

  onRequestUpgrade(controller: Dispatcher.DispatchController): void {
    this.#cut(brokenExchange(this.#authority, undefined));
    controller.abort(new Error('protocol switch'));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    this.#status = status;
    const head = { status, headers: flatHeaders(headers) };
    this.#answer.start(head, {
      pause: () => controller.pause(),
      resume: () => controller.resume(),
      cut: () => this.#stop(),
    });
    if (!this.#options.followRedirects || !isRedirect(head)) return;
    // The body of a redirect is not wanted; the connection is cheaper to give up than to read to its end.
    this.#succeed();
    this.#cut(brokenExchange(this.#authority, undefined));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size <= this.#options.maxResponseBytes) this.#answer.data(chunk);
    else this.#cut(tooLarge(this.#authority, this.#options.maxResponseBytes));
  }

  onResponseEnd(): void {
    if (this.#error === undefined) this.#succeed();
    else this.#fail(this.#error);
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: Error): void {
    if (this.#error !== undefined) this.#fail(this.#error);
    else if (this.#status === 0 && this.#attempts < MAX_ATTEMPTS && isStale(cause)) {
      // Not from within: the pool is still busy with the connection that has broken.
      queueMicrotask(() => this.#send());
    } else this.#fail(brokenExchange(this.#authority, cause));
  }

  get #authority(): string {
    return this.#hop.destination.authority;
  }

  #mayLeave(): boolean {
    return this.#options.mayLeave?.() !== false;
  }

  #send(): void {
    const { destination, method } = this.#hop;
    const { connections, addresses, idleTimeoutMs } = this.#options;
    const { headers, body } = this.#content();
    this.#attempts += 1;
    connections.to(destination, addresses).dispatch(
      {
        path: destination.path,
        method,
        headers,
        body,
        headersTimeout: idleTimeoutMs,
        bodyTimeout: idleTimeoutMs,
      },
      this,
    );
  }

  #content(): Content {
    const { headers, body = null } = this.#hop;
    const isSmall = body === null || body.length <= WRITTEN_AT_ONCE / MOST_BYTES_OF_A_UNIT;
    if (isSmall || this.#options.mayLeave === undefined) return { headers, body };
    const bytes = Buffer.from(body);
    if (bytes.length <= WRITTEN_AT_ONCE) return { headers, body: bytes };
    // The pool takes any iterable as a body; its types know streams only, and those read ahead.
    const pieces = this.#inTwo(bytes) as unknown as Readable;
    return { headers: { ...headers, 'content-length': String(bytes.length) }, body: pieces };
  }

  /** All but the last byte, and that one when the others have left: without it the other side has no request. */
  async *#inTwo(bytes: Buffer): AsyncGenerator<Buffer> {
    yield bytes.subarray(0, -1);
    if (!this.#mayLeave()) throw (this.#error ??= mayNotLeave(this.#authority));
    yield bytes.subarray(-1);
  }

  #stop(): void {
    const error = abortedExchange(this.#authority, this.#options.signal);
    this.#cut(error);
    this.#fail(error);
  }

  /** Ends the exchange from our side. */
  #cut(error: EgressError): void {
    this.#error ??= error;
    this.#controller?.abort(error);
  }

  #succeed(): void {
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    this.#answer.end();
  }

  #fail(error: EgressError): void {
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    this.#answer.fail(error);
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

function mayNotLeave(destination: string): EgressError {
  return new EgressError(
    'aborted',
    `The request to ${destination} was not sent: the claim under which it was made is lost.`,
    {
      reason: 'claim_lost',
      destination,
    },
  );
}

export function abortedExchange(destination: string, signal: StopSignal): EgressError {
  return new EgressError('aborted', `The request to ${destination} was aborted.`, {
    reason: 'aborted',
    destination,
    cause: signal.reason,
  });
}
