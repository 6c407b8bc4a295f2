import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SeenEffect } from './history.ts';
import type { Random } from './random.ts';

/** The outside world: notes every call before it answers, and is at times slow, busy or gone. */
export interface World {
  readonly port: number;
  readonly seen: readonly SeenEffect[];
  close(): Promise<void>;
}

export async function openWorld(random: Random): Promise<World> {
  const seen: SeenEffect[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      seen.push({
        call: Buffer.concat(chunks).toString('utf8'),
        invocationId: String(request.headers['idempotency-key']),
        at: Date.now(),
      });
      const isBusy = random.chance(0.08);
      if (random.chance(0.03)) return void request.socket.destroy();
      const waitMs = random.chance(0.1) ? random.int(200, 900) : random.int(0, 30);
      setTimeout(() => {
        response.writeHead(isBusy ? 503 : 200, { 'content-type': 'application/json' });
        response.end('{"done":true}');
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
