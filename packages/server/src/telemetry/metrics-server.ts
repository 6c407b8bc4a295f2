import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathOf } from '@weft/protocol';
import { PROMETHEUS_TYPE } from './prometheus.ts';
import type { Telemetry } from './telemetry.ts';

export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

const PATH = pathOf('readMetrics');

/** The metrics on a port of its own, without a key: for a scraper on the same machine. Nothing else is served there. */
export async function startMetricsServer(
  telemetry: Pick<Telemetry, 'metrics'>,
  bind: { readonly host: string; readonly port: number },
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?', 1)[0] !== PATH) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end(`Only GET ${PATH} is served here.\n`);
      return;
    }
    telemetry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': PROMETHEUS_TYPE }).end(text),
      () =>
        response.writeHead(500, { 'content-type': 'text/plain' }).end('The metrics cannot be read now.\n'),
    );
  });
  server.listen(bind.port, bind.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const name = bind.host.includes(':') ? `[${bind.host}]` : bind.host;
  return { url: `http://${name}:${port}${PATH}`, close: () => close(server) };
}

async function close(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}
