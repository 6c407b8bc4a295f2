import { createServer, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';

/** Hosts send small documents; whatever is larger is refused, so that a broken one cannot fill our memory. */
const MAX_BODY_BYTES = 4 * 1_024 * 1_024;

export interface PeerRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface PeerAnswer {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

export interface LoopbackServer {
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  stop(): Promise<void>;
}

/** A port that was asked for cannot be had. */
export class PeerNotStarted extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'PeerNotStarted';
  }
}

/** A server that only this machine reaches. It answers whatever it is sent: a peer never ends because of what a host does. */
export async function startLoopbackServer(
  port: number,
  answer: (request: PeerRequest) => PeerAnswer,
): Promise<LoopbackServer> {
  const server = createServer((incoming, outgoing) => {
    // A host that breaks off needs no answer.
    outgoing.on('error', () => undefined);
    void answered(incoming, answer).then(({ status, headers, body }) => {
      // The rest of a body that is too large is not read.
      if (status === 413) outgoing.setHeader('connection', 'close');
      outgoing.writeHead(status, { ...headers });
      outgoing.end(body);
    });
  });
  await new Promise<void>((done, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) => fail(notStarted(port, error)));
    server.listen(port, '127.0.0.1', done);
  });
  const bound = server.address();
  return {
    address: `127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function answered(
  incoming: IncomingMessage,
  answer: (request: PeerRequest) => PeerAnswer,
): Promise<PeerAnswer> {
  try {
    const body = await bodyOf(incoming);
    if (body === undefined) return { status: 413 };
    const { method = 'GET', url = '/' } = incoming;
    return answer({ method, path: url, headers: headersOf(incoming), body });
  } catch {
    return { status: 400 };
  }
}

/** Absent when it is too large. */
async function bodyOf(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function notStarted(port: number, error: NodeJS.ErrnoException): PeerNotStarted {
  const reason = error.code === 'EADDRINUSE' ? 'it is in use' : error.message;
  return new PeerNotStarted(`No peer can listen on port ${port} of 127.0.0.1: ${reason}.`, error);
}
