import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '@weft/protocol';

/** A receiver on a port of its own on this machine; the test decides what it answers. */
export interface LoopbackReceiver {
  readonly url: string;
  /** HOST:PORT, as `egressAllow` wants it. */
  readonly pair: string;
  readonly received: Received[];
  /** Called for every request; ends the response when it likes. */
  answer: (response: ServerResponse, request: Received) => void;
  close(): Promise<void>;
}

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly json: JsonObject;
}

export async function loopbackReceiver(): Promise<LoopbackReceiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const json = JSON.parse(body) as JsonObject;
      const each = { path: request.url ?? '', headers: request.headers, body, json };
      received.push(each);
      receiver.answer(response, each);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: LoopbackReceiver = {
    url: `http://127.0.0.1:${port}`,
    pair: `127.0.0.1:${port}`,
    received,
    answer: (response) => response.writeHead(204).end(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
