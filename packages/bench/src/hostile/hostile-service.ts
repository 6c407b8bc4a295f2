import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HOSTILE_PIECES } from '@weft/engine/hostile-texts';
import { repeated } from './definitions.ts';

/** What the host calls: one place that answers at once, places that answer with something hostile, one that never does. */
export interface HostileService {
  readonly url: string;
  close(): void;
}

export const HOSTILE_ANSWERS: readonly { readonly name: string; readonly body: string }[] = [
  ...HOSTILE_PIECES.map(({ name, piece }) => ({ name, body: repeated(piece, 500_000) })),
  { name: 'deep JSON', body: `${'['.repeat(100_000)}${']'.repeat(100_000)}` },
];

export async function startHostileService(): Promise<HostileService> {
  const server = createServer((request, response) => {
    const hostile = /^\/hostile\/(\d+)$/.exec(request.url ?? '');
    if (request.url === '/never') return;
    const body = hostile === null ? '{"ok":true}' : (HOSTILE_ANSWERS[Number(hostile[1])]?.body ?? '');
    response.writeHead(200, { 'content-type': hostile === null ? 'application/json' : 'text/plain' });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
