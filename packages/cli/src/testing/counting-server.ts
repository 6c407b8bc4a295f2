import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as the outside world saw it. */
export interface Seen {
  readonly path: string;
  /** What the workflow asked for: run tag and node. */
  readonly call: string;
  readonly invocationId: string;
  readonly at: number;
}

export interface CountingServer {
  readonly port: number;
  readonly seen: readonly Seen[];
  /** From now on no request gets an answer, until `letGo`. */
  hold(): void;
  letGo(): void;
  close(): Promise<void>;
}

/** A loopback server that notes every call it gets before it answers, and answers after a moment. */
export async function openCountingServer(answerAfterMs: () => number): Promise<CountingServer> {
  const seen: Seen[] = [];
  const waiting = new Set<() => void>();
  let isHeld = false;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      seen.push({
        path: request.url ?? '',
        call: Buffer.concat(chunks).toString('utf8'),
        invocationId: String(request.headers['idempotency-key']),
        at: Date.now(),
      });
      const answer = (): void => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"done":true}');
      };
      if (isHeld) waiting.add(answer);
      else setTimeout(answer, answerAfterMs());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    hold() {
      isHeld = true;
    },
    letGo() {
      isHeld = false;
      for (const answer of waiting) answer();
      waiting.clear();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
