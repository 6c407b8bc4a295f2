import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request as send,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** Stands between two hosts. It can keep what one has answered to the other, so that the one is known to have done its part. */
export interface HoldingProxy {
  readonly url: string;
  /** Of the next request whose body holds this text: resolves once it was answered, which the other never learns. */
  hold(text: string): Promise<void>;
  /** Breaks the connections of those who wait. */
  drop(): void;
  close(): Promise<void>;
}

export async function openHoldingProxy(target: () => string): Promise<HoldingProxy> {
  let held: { readonly text: string; answered(): void } | undefined;

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const isHeld = held !== undefined && body.includes(held.text);
    const passed = send(`${target()}${request.url}`, { method: request.method, headers: request.headers });
    passed.end(body);
    const [answer] = (await once(passed, 'response')) as [IncomingMessage];
    const text = await bodyOf(answer);
    if (!isHeld) return void response.writeHead(answer.statusCode ?? 500, answer.headers).end(text);
    held?.answered();
    held = undefined;
  }

  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold: (text) => new Promise((answered) => (held = { text, answered })),
    drop: () => server.closeAllConnections(),
    close: () => closed(server),
  };
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
