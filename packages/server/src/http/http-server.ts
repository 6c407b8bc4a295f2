import type { Server, ServerOptions as HttpOptions } from 'node:http';
import type { Server as NetServer, Socket } from 'node:net';
import type { Log } from '@weft/engine';
import type { Settings } from '../options.ts';

/**
 * What sockets may cost. Nothing on them lasts longer than its limits: a head or a body that does not come, a peer that does not
 * close, one connection more than there may be.
 */
export function httpOptions(
  settings: Pick<Settings, 'headersTimeoutMs' | 'requestTimeoutMs'>,
): Pick<
  HttpOptions,
  'headersTimeout' | 'requestTimeout' | 'connectionsCheckingInterval' | 'requireHostHeader'
> {
  const { requestTimeoutMs: requestTimeout } = settings;
  const headersTimeout = Math.min(settings.headersTimeoutMs, requestTimeout);
  return {
    headersTimeout,
    requestTimeout,
    // Looked at by a timer; Node's own comes every 30 s, whatever the time-outs are.
    connectionsCheckingInterval: Math.max(Math.min(headersTimeout / 2, MOST_CHECK_MS), LEAST_CHECK_MS),
    // Asked for by the app, which answers with our envelope.
    requireHostHeader: false,
  };
}

export function boundConnections(
  server: Server,
  { maxConnections }: Pick<Settings, 'maxConnections'>,
  log: Log,
): void {
  boundSockets(server, maxConnections, log);
  // An unknown expectation is ignored; Node would answer with a bare 417.
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
}

export function boundSockets(server: NetServer, maxConnections: number, log: Log): void {
  server.maxConnections = maxConnections;
  noteDrops(server, maxConnections, log);
}

const MOST_CHECK_MS = 5_000;
const LEAST_CHECK_MS = 10;
const DROPS_NOTED_MS = 60_000;

/** The first one is logged at once, those of the next minute as one entry. */
function noteDrops(server: NetServer, limit: number, log: Log): void {
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  const note = (): void => {
    timer = undefined;
    if (dropped === 0) return;
    log('warn', { dropped, limit }, 'connections were refused: there are as many as maxConnections allows');
    dropped = 0;
    timer = setTimeout(note, DROPS_NOTED_MS);
    timer.unref();
  };
  server.on('drop', () => {
    dropped += 1;
    if (timer === undefined) note();
  });
  server.on('close', () => clearTimeout(timer));
}

const CLIENT_ERRORS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The request headers are too large.',
  HPE_INVALID_EOF_STATE: 'The request ended before it was complete.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request was not complete in time.',
};

/** For the peer to read the answer and close; one that does neither is not waited for. */
const LINGER_MS = 1_000;

/** Bytes that are no HTTP request at all still get an answer that a client can read; then their connection ends. */
export function answerClientError(error: { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const message = CLIENT_ERRORS[error.code ?? ''] ?? 'This is not a valid HTTP request.';
  const body = JSON.stringify({ error: 'validation_error', message });
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`,
  );
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  linger.unref();
  socket.once('close', () => clearTimeout(linger));
}
