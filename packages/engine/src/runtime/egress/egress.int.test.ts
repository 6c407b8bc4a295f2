import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server as TcpServer,
  type Socket,
} from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { EgressRequest } from '../../model/node-type.ts';
import { StopSource } from '../effects/stop-source.ts';
import { createEgress } from './egress.ts';
import type { Resolve } from './policy.ts';

const open: (Server | TcpServer)[] = [];
const connections = new Set<Socket>();

afterEach(async () => {
  // A kept connection would keep its server open until its idle time is over.
  for (const socket of connections) socket.destroy();
  const closing = open.splice(0).map(async (server) => {
    server.close();
    await once(server, 'close');
  });
  await Promise.all(closing);
});

async function listen(server: Server | TcpServer, host = '127.0.0.1', port = 0): Promise<number> {
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  server.listen(port, host);
  await once(server, 'listening');
  open.push(server);
  return (server.address() as AddressInfo).port;
}

const serve = (handler: RequestListener, host?: string, port?: number): Promise<number> =>
  listen(createServer(handler), host, port);

function get(url: string, changes: Partial<EgressRequest> = {}): EgressRequest {
  return {
    url,
    method: 'GET',
    headers: {},
    signal: new AbortController().signal,
    maxResponseBytes: 1000,
    followRedirects: true,
    ...changes,
  };
}

const text = (body: Uint8Array): string => Buffer.from(body).toString();

/** Answers with each list in turn and counts how often it was asked. */
function resolver(...answers: string[][]): { resolve: Resolve; asked: () => number } {
  let count = 0;
  return {
    asked: () => count,
    resolve: async () => {
      const answer = answers[Math.min(count++, answers.length - 1)] ?? [];
      return answer.map((address) => ({ address, family: 4 }));
    },
  };
}

const settings = { connectTimeoutMs: 5000 };

describe('egress to loopback', () => {
  it('is refused by default, before anything is sent, and logged without the URL', async () => {
    const seen: string[] = [];
    const logged: unknown[] = [];
    const port = await serve((request, response) => {
      seen.push(request.url ?? '');
      response.end();
    });
    const egress = createEgress({ ...settings, allow: [], log: (...entry) => logged.push(entry) });

    const refused = egress.fetch(get(`http://me:hunter2@127.0.0.1:${port}/?token=hunter2`));

    await expect(refused).rejects.toMatchObject({ problem: 'denied', reason: 'loopback' });
    expect(seen).toEqual([]);
    expect(logged).toEqual([
      ['info', { destination: `127.0.0.1:${port}`, reason: 'loopback' }, 'outbound request refused'],
    ]);
    expect(JSON.stringify(await refused.catch((error: Error) => error.message))).not.toContain('hunter2');
  });

  it('works for an admitted pair, with method, headers, body and Host as asked', async () => {
    let got: IncomingMessage | undefined;
    let body = '';
    const port = await serve((request, response) => {
      got = request;
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        response.writeHead(201, { 'Content-Type': 'application/json', ETag: '"1"' }).end('{"ok":true}');
      });
    });
    const egress = createEgress({ ...settings, allow: [`127.0.0.1:${port}`] });

    const response = await egress.fetch(
      get(`http://127.0.0.1:${port}/a?b=1`, { method: 'PUT', headers: { 'X-One': '1' }, body: 'hällo' }),
    );

    expect(response.status).toBe(201);
    expect(response.headers).toMatchObject({ 'content-type': 'application/json', etag: '"1"' });
    expect(text(response.body)).toBe('{"ok":true}');
    expect(got).toMatchObject({ method: 'PUT', url: '/a?b=1' });
    expect(got?.headers).toMatchObject({
      host: `127.0.0.1:${port}`,
      'x-one': '1',
      'content-length': '6',
      'accept-encoding': 'identity',
    });
    expect(got?.headers).not.toHaveProperty('transfer-encoding');
    expect(body).toBe('hällo');
  });
});

describe('egress by name', () => {
  it('resolves once and connects to the checked address, whatever the name resolves to later', async () => {
    const hosts: (string | undefined)[] = [];
    let victimAsked = false;
    const port = await serve((request, response) => {
      hosts.push(request.headers.host);
      response.end('checked');
    });
    await serve(
      (_, response) => {
        victimAsked = true;
        response.end();
      },
      '127.0.0.2',
      port,
    );
    const names = resolver(['127.0.0.1'], ['127.0.0.2']);
    const egress = createEgress({ ...settings, allow: [`127.0.0.1:${port}`], resolve: names.resolve });

    const response = await egress.fetch(get(`http://rebind.test:${port}/`));

    expect(text(response.body)).toBe('checked');
    expect(names.asked()).toBe(1);
    expect(hosts).toEqual([`rebind.test:${port}`]);
    expect(victimAsked).toBe(false);
  });

  it('checks again when a redirect comes back to the same name', async () => {
    let asked = 0;
    const port = await serve((_, response) => {
      asked++;
      response.writeHead(302, { Location: '/again' }).end();
    });
    const names = resolver(['127.0.0.1'], ['127.0.0.2']);
    const egress = createEgress({ ...settings, allow: [`127.0.0.1:${port}`], resolve: names.resolve });

    await expect(egress.fetch(get(`http://rebind.test:${port}/`))).rejects.toMatchObject({
      problem: 'denied',
      reason: 'loopback',
    });
    expect(names.asked()).toBe(2);
    expect(asked).toBe(1);
  });

  it('checks again whether a URL that it has read before is admitted', async () => {
    const port = await serve((_, response) => response.end('checked'));
    const names = resolver(['127.0.0.1'], ['127.0.0.2']);
    const egress = createEgress({ ...settings, allow: [`127.0.0.1:${port}`], resolve: names.resolve });
    const url = `http://rebind.test:${port}/`;

    expect((await egress.fetch(get(url))).status).toBe(200);

    await expect(egress.fetch(get(url))).rejects.toMatchObject({ problem: 'denied', reason: 'loopback' });
    expect(names.asked()).toBe(2);
  });

  it('refuses when one of several addresses is bad', async () => {
    const { resolve } = resolver(['93.184.216.34', '127.0.0.1']);
    const egress = createEgress({ ...settings, allow: [], resolve });

    await expect(egress.fetch(get('https://mixed.test/'))).rejects.toMatchObject({ reason: 'loopback' });
  });

  it('gives up on a resolver that never answers', async () => {
    const egress = createEgress({ allow: [], connectTimeoutMs: 20, resolve: () => new Promise(() => {}) });

    await expect(egress.fetch(get('http://slow.test/'))).rejects.toMatchObject({
      problem: 'network',
      reason: 'resolve_timeout',
    });
  });

  it('can be aborted while it resolves', async () => {
    const controller = new AbortController();
    const egress = createEgress({ ...settings, allow: [], resolve: () => new Promise(() => {}) });

    const waiting = egress.fetch(get('http://slow.test/', { signal: controller.signal }));
    controller.abort();

    await expect(waiting).rejects.toMatchObject({ problem: 'aborted' });
  });
});

describe('redirects', () => {
  it('are followed to an admitted place, without credentials of another origin', async () => {
    let arrived: IncomingMessage | undefined;
    const second = await serve((request, response) => {
      arrived = request;
      response.end('there');
    });
    const first = await serve((_, response) => {
      response.writeHead(303, { Location: `http://127.0.0.1:${second}/there` }).end('x'.repeat(5000));
    });
    const egress = createEgress({ ...settings, allow: [`127.0.0.1:${first}`, `127.0.0.1:${second}`] });

    const response = await egress.fetch(
      get(`http://127.0.0.1:${first}/`, {
        method: 'POST',
        body: 'x',
        headers: { Authorization: 'Bearer s' },
      }),
    );

    expect(text(response.body)).toBe('there');
    expect(arrived).toMatchObject({ method: 'GET', url: '/there' });
    expect(arrived?.headers).not.toHaveProperty('authorization');
  });

  it('to a blocked host are refused before anything is sent there', async () => {
    let reached = false;
    const blocked = await serve((_, response) => {
      reached = true;
      response.end();
    });
    const first = await serve((_, response) => {
      response.writeHead(302, { Location: `http://127.0.0.1:${blocked}/?secret=1` }).end();
    });
    const egress = createEgress({ ...settings, allow: [`127.0.0.1:${first}`] });

    await expect(egress.fetch(get(`http://127.0.0.1:${first}/`))).rejects.toMatchObject({
      problem: 'denied',
      destination: `127.0.0.1:${blocked}`,
    });
    expect(reached).toBe(false);
  });

  it('end after five', async () => {
    let asked = 0;
    const port = await serve((_, response) => {
      asked++;
      response.writeHead(307, { Location: '/' }).end();
    });
    const egress = createEgress({ ...settings, allow: [`127.0.0.1:${port}`] });

    await expect(egress.fetch(get(`http://127.0.0.1:${port}/`))).rejects.toMatchObject({
      problem: 'too_many_redirects',
    });
    expect(asked).toBe(6);
  });

  it('are answers like any other when the caller does not follow', async () => {
    const port = await serve((_, response) => response.writeHead(302, { Location: '/next' }).end('moved'));
    const egress = createEgress({ ...settings, allow: [`127.0.0.1:${port}`] });

    const response = await egress.fetch(get(`http://127.0.0.1:${port}/`, { followRedirects: false }));

    expect(response).toMatchObject({ status: 302, headers: { location: '/next' } });
    expect(text(response.body)).toBe('moved');
  });
});

describe('an answer', () => {
  it('may be exactly as large as the limit', async () => {
    const port = await serve((_, response) => response.end('x'.repeat(1000)));
    const egress = createEgress({ ...settings, allow: [`127.0.0.1:${port}`] });

    expect((await egress.fetch(get(`http://127.0.0.1:${port}/`))).body).toHaveLength(1000);
  });

  it('larger than the limit is cut off while it streams', async () => {
    let wasClosed: Promise<unknown> = Promise.resolve();
    const port = await serve((_, response) => {
      wasClosed = once(response, 'close');
      response.write('x'.repeat(600));
      response.write('x'.repeat(600)); // and never ends
    });
    const egress = createEgress({ ...settings, allow: [`127.0.0.1:${port}`] });

    await expect(egress.fetch(get(`http://127.0.0.1:${port}/`))).rejects.toMatchObject({
      problem: 'too_large',
    });
    await wasClosed;
  });

  it('that breaks off is a network problem', async () => {
    const port = await serve((_, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('half', () => response.destroy());
    });
    const egress = createEgress({ ...settings, allow: [`127.0.0.1:${port}`] });

    await expect(egress.fetch(get(`http://127.0.0.1:${port}/`))).rejects.toMatchObject({
      problem: 'network',
    });
  });

  it('that switches protocols is a network problem', async () => {
    const port = await listen(
      createTcpServer((socket) => {
        socket.resume().end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
      }),
    );
    const egress = createEgress({ ...settings, allow: [`127.0.0.1:${port}`] });

    await expect(egress.fetch(get(`http://127.0.0.1:${port}/`))).rejects.toMatchObject({
      problem: 'network',
    });
  });

  it('that does not come at all is a network problem', async () => {
    const port = await serve(() => {});
    const egress = createEgress({ ...settings, allow: [`127.0.0.1:${port}`], idleTimeoutMs: 20 });

    await expect(egress.fetch(get(`http://127.0.0.1:${port}/`))).rejects.toMatchObject({
      problem: 'network',
      reason: 'idle_timeout',
    });
  });
});

describe('a request', () => {
  it('to a closed port is a network problem that names the socket error', async () => {
    const port = await serve(() => {});
    const [server] = open.splice(0);
    server?.close();
    const egress = createEgress({ ...settings, allow: [`127.0.0.1:${port}`] });

    await expect(egress.fetch(get(`http://127.0.0.1:${port}/`))).rejects.toMatchObject({
      problem: 'network',
      reason: 'ECONNREFUSED',
    });
  });

  it('gives up when the TLS handshake does not finish in time', async () => {
    const port = await listen(createTcpServer((socket) => void socket.resume()));
    const egress = createEgress({ allow: [`127.0.0.1:${port}`], connectTimeoutMs: 50 });

    await expect(egress.fetch(get(`https://127.0.0.1:${port}/`))).rejects.toMatchObject({
      problem: 'network',
      reason: 'connect_timeout',
    });
  });

  it('over TLS asks for the certificate of the name, not of the address', async () => {
    let hello = '';
    const port = await listen(
      createTcpServer((socket) => {
        socket.once('data', (bytes) => {
          hello = bytes.toString('latin1');
          socket.destroy();
        });
      }),
    );
    const { resolve } = resolver(['127.0.0.1']);
    const egress = createEgress({ ...settings, allow: [`127.0.0.1:${port}`], resolve });

    await expect(egress.fetch(get(`https://named.test:${port}/`))).rejects.toMatchObject({
      problem: 'network',
    });
    expect(hello).toContain('named.test');
  });

  it('is aborted by its signal while it waits for an answer', async () => {
    const controller = new AbortController();
    let wasClosed: Promise<unknown> = Promise.resolve();
    const port = await serve((_, response) => {
      wasClosed = once(response, 'close');
      controller.abort(new Error('cancelled'));
    });
    const egress = createEgress({ ...settings, allow: [`127.0.0.1:${port}`] });

    await expect(
      egress.fetch(get(`http://127.0.0.1:${port}/`, { signal: controller.signal })),
    ).rejects.toMatchObject({ problem: 'aborted', cause: new Error('cancelled') });
    await wasClosed;
  });

  it('is aborted by its signal in the middle of an answer', async () => {
    const controller = new AbortController();
    const port = await serve((_, response) => {
      response.write('half', () => controller.abort());
    });
    const egress = createEgress({ ...settings, allow: [`127.0.0.1:${port}`] });

    await expect(
      egress.fetch(get(`http://127.0.0.1:${port}/`, { signal: controller.signal })),
    ).rejects.toMatchObject({ problem: 'aborted' });
  });

  it('is aborted when its effect is stopped', async () => {
    const stop = new StopSource();
    const port = await serve(() => stop.stop());
    const egress = createEgress({ ...settings, allow: [`127.0.0.1:${port}`] });

    await expect(egress.fetch(get(`http://127.0.0.1:${port}/`, { signal: stop }))).rejects.toMatchObject({
      problem: 'aborted',
    });
  });

  it('is not sent when its signal has already ended', async () => {
    const egress = createEgress({ ...settings, allow: ['127.0.0.1:9'] });

    await expect(
      egress.fetch(get('http://127.0.0.1:9/', { signal: AbortSignal.abort() })),
    ).rejects.toMatchObject({ problem: 'aborted' });
  });
});

describe('kept connections', () => {
  it('serve the next request to the same place', async () => {
    const sockets = new Set<unknown>();
    const port = await serve((request, response) => {
      sockets.add(request.socket);
      response.end('ok');
    });
    const egress = createEgress({ allow: [`127.0.0.1:${port}`], ...settings });

    for (let count = 0; count < 20; count += 1) await egress.fetch(get(`http://127.0.0.1:${port}/`));

    expect(sockets.size).toBeLessThan(5);
  });

  it('that the other side has closed meanwhile cause no error', async () => {
    let closed = 0;
    const port = await listen(
      createTcpServer((socket) => {
        let answered = 0;
        socket.on('error', () => undefined);
        socket.on('data', () => {
          // The second request on a connection finds it closed.
          if (answered > 0) {
            closed += 1;
            return socket.destroy();
          }
          answered += 1;
          return socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        });
      }),
    );
    const egress = createEgress({ allow: [`127.0.0.1:${port}`], ...settings });

    const bodies: string[] = [];
    for (let count = 0; count < 6; count += 1) {
      bodies.push(text((await egress.fetch(get(`http://127.0.0.1:${port}/`))).body));
    }

    expect(bodies).toEqual(Array(6).fill('ok'));
    expect(closed).toBeGreaterThan(0);
  });
});
