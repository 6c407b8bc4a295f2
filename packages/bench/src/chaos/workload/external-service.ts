import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SeenEffect } from '../checking/history.ts';
import type { Random } from '../random.ts';

/** What this path answers is to be kept as an artifact. */
export const KEPT_PATH = '/kept';

/** The service that effects call: notes every call before it answers, and is at times slow, busy or gone. */
export interface ExternalService {
  readonly port: number;
  readonly seen: readonly SeenEffect[];
  close(): Promise<void>;
}

export async function openExternalService(random: Random): Promise<ExternalService> {
  const seen: SeenEffect[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const call = Buffer.concat(chunks).toString('utf8');
      const reply = replyTo(request, call, seen.length);
      seen.push({
        call,
        invocationId: String(request.headers['idempotency-key']),
        at: Date.now(),
        ...reply.noted,
      });
      const isBusy = random.chance(0.08);
      if (random.chance(0.03)) return void request.socket.destroy();
      const waitMs = random.chance(0.1) ? random.int(200, 900) : random.int(0, 30);
      setTimeout(() => {
        response.writeHead(isBusy ? 503 : 200, { 'content-type': 'application/json' });
        response.end(reply.body);
      }, waitMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Reply {
  readonly body: string;
  readonly noted: Pick<SeenEffect, 'sent' | 'secret'>;
}

const PIECES = 400;

/** Never the same bytes twice where they are to be kept, and the secret echoed where one was sent. */
function replyTo({ url, headers }: IncomingMessage, call: string, count: number): Reply {
  const secret = headers['x-api-key'];
  if (typeof secret === 'string')
    return { body: JSON.stringify({ done: true, yourKey: secret }), noted: { secret } };
  if (url !== KEPT_PATH) return { body: '{"done":true}', noted: {} };
  const body = JSON.stringify({ call, count, pieces: Array.from({ length: PIECES }, (_, index) => index) });
  return { body, noted: { sent: createHash('sha256').update(body).digest('hex') } };
}
