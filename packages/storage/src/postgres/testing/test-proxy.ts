import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { TestServer } from './postgres-test-server.ts';

/** One connection through a proxy. Each end is closed with the other. */
export interface Passage {
  readonly client: Socket;
  readonly upstream: Socket;
}

/** An address on this machine that leads to a server, chosen again for each connection; `carry` moves the data. */
export async function openProxy(
  serverNow: () => TestServer,
  carry: (passage: Passage) => void,
): Promise<string> {
  const listening = createServer((client) => {
    const upstream = connect(Number(new URL(serverNow().url).port), '127.0.0.1');
    carry({ client, upstream });
    client.on('close', () => upstream.destroy()).on('error', () => {});
    upstream.on('close', () => client.destroy()).on('error', () => {});
  }).listen(0, '127.0.0.1');
  listening.unref(); // its users end with the tests
  await once(listening, 'listening');
  const url = new URL(serverNow().url);
  const own = listening.address();
  url.port = String(typeof own === 'object' ? own?.port : 0);
  return url.href;
}
