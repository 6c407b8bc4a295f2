import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SeenHold } from './started-history.ts';

/**
 * Scheduled runs call it when they begin and before they end, so that one clock tells whether two of them overlapped, whatever the
 * clocks of the hosts say. The answer to the first call is a token that the second one brings along.
 */
export interface HoldService {
  readonly port: number;
  readonly seen: readonly SeenHold[];
  close(): Promise<void>;
}

const PATH = /^\/([a-z-]+)\/(begin|finish)$/;

export async function openHoldService(): Promise<HoldService> {
  const seen: SeenHold[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const [, schedule = '', phase] = PATH.exec(request.url ?? '') ?? [];
      const isBegin = phase === 'begin';
      // A repeated call has the same key.
      const token = isBegin
        ? String(request.headers['idempotency-key'])
        : (JSON.parse(Buffer.concat(chunks).toString('utf8')) as { token: string }).token;
      seen.push({ schedule, token, phase: isBegin ? 'begin' : 'finish', at: Date.now() });
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ token }));
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
