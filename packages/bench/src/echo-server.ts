import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface EchoServer {
  readonly port: number;
  readonly url: string;
  /** A URL whose answer comes after some milliseconds and holds about so many bytes. */
  slowUrl(delayMs: number, bytes?: number): string;
  /** A URL whose answers wait until `open` is called. */
  newGate(): { readonly url: string; open(): void };
  close(): Promise<void>;
}

interface Gate {
  isOpen: boolean;
  readonly waiting: (() => void)[];
}

const SMALL = JSON.stringify({ ok: true });

/** What the effects of the workloads call: a small JSON answer, at once. Runs in the bench's own process, idle meanwhile. */
export async function startEchoServer(): Promise<EchoServer> {
  const gates = new Map<string, Gate>();
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    request.resume();
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://echo');
    const bytes = Number(searchParams.get('bytes') ?? 0);
    const body = bytes === 0 ? SMALL : JSON.stringify({ ok: true, filling: 'x'.repeat(bytes) });
    const answer = () =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
        .end(body);
    const delayMs = Number(searchParams.get('delay') ?? 0);
    const gate = gates.get(pathname);
    if (gate !== undefined && !gate.isOpen) gate.waiting.push(answer);
    else if (delayMs > 0) setTimeout(answer, delayMs);
    else answer();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/echo`,
    slowUrl: (delayMs, bytes = 0) => `http://127.0.0.1:${port}/echo?delay=${delayMs}&bytes=${bytes}`,
    newGate() {
      const gate: Gate = { isOpen: false, waiting: [] };
      const path = `/gate/${gates.size}`;
      gates.set(path, gate);
      return {
        url: `http://127.0.0.1:${port}${path}`,
        open() {
          gate.isOpen = true;
          for (const answer of gate.waiting.splice(0)) answer();
        },
      };
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
