import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface EchoServer {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

/** What the effects of workload E call: a small JSON answer, at once. Runs in the bench's own process, idle meanwhile. */
export async function startEchoServer(): Promise<EchoServer> {
  const body = JSON.stringify({ ok: true });
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/echo`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
