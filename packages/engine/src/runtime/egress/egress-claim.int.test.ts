import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Pool } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import type { EgressRequest, EgressResponse } from '../../model/node-type.ts';
import type { Connections } from './connections.ts';
import { createEgress } from './egress.ts';
import { exchange } from './exchange.ts';
import { firstHop } from './hop.ts';

/**
 * A sender that loses its claim on the way. Each test takes it away at another point between the wish to send and the bytes, as a
 * freeze of the process would, and looks at what the other side got.
 */

const LOST = { problem: 'aborted', reason: 'claim_lost' };
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const settings = { connectTimeoutMs: 5_000 };

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Keeps every byte that comes in, of all connections. */
interface Listener {
  readonly port: number;
  readonly url: string;
  readonly allow: string[];
  readonly connections: () => number;
  readonly received: () => string;
}

async function listen(
  onData: (socket: Socket, received: string) => void = (socket) => socket.write(OK),
  onConnection: (socket: Socket) => void = () => undefined,
  create: (listener: (socket: Socket) => void) => Server = createServer,
): Promise<Listener> {
  const sockets = new Set<Socket>();
  let received = '';
  const server = create((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
      onData(socket, received);
    });
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    allow: [`127.0.0.1:${port}`],
    connections: () => sockets.size,
    received: () => received,
  };
}

/** The claim, and whether it was looked at. */
function claim(): { held: boolean; looks: number; mayLeave: () => boolean } {
  const state = {
    held: true,
    looks: 0,
    mayLeave() {
      state.looks += 1;
      return state.held;
    },
  };
  return state;
}

function post(url: string, changes: Partial<EgressRequest> = {}): EgressRequest {
  return {
    url,
    method: 'POST',
    headers: {},
    body: 'pay 100',
    signal: new AbortController().signal,
    maxResponseBytes: 1_000,
    followRedirects: true,
    ...changes,
  };
}

/** Whatever was on its way has arrived before the answer to this one. */
async function probe(listener: Listener): Promise<void> {
  await createEgress({ ...settings, allow: listener.allow }).fetch(post(`${listener.url}/probe`));
}

const lines = (received: string): string[] => received.match(/POST \S+(?= HTTP)/g) ?? [];

describe('a request whose sender loses its claim', () => {
  it('before it begins opens no connection', async () => {
    const held = claim();
    held.held = false;
    const listener = await listen();
    const egress = createEgress({ ...settings, allow: listener.allow });

    await expect(egress.fetch(post(listener.url, held))).rejects.toMatchObject(LOST);

    expect(listener.connections()).toBe(0);
  });

  it('while its name is resolved opens no connection', async () => {
    const held = claim();
    const listener = await listen();
    const egress = createEgress({
      ...settings,
      allow: listener.allow,
      async resolve() {
        held.held = false;
        return [{ address: '127.0.0.1', family: 4 }];
      },
    });

    await expect(egress.fetch(post(`http://named.test:${listener.port}/`, held))).rejects.toMatchObject(LOST);

    expect(listener.connections()).toBe(0);
  });

  it('while it connects sends no byte', async () => {
    const held = claim();
    const listener = await listen();
    const egress = createEgress({ ...settings, allow: listener.allow });

    const sent = egress.fetch(post(listener.url, held));
    expect(held.looks).toBe(1);
    held.held = false;

    await expect(sent).rejects.toMatchObject(LOST);
    await probe(listener);
    expect(lines(listener.received())).toEqual(['POST /probe']);
  });

  it('during the TLS handshake sends no byte of the request', async () => {
    const held = claim();
    const psk = Buffer.from('0123456789abcdef');
    const shared = { ciphers: 'PSK', maxVersion: 'TLSv1.2' } as const;
    let isSecure: Promise<unknown> = Promise.resolve();
    const listener = await listen(
      () => undefined,
      () => undefined,
      (onSecure) => {
        const server = createTlsServer({ ...shared, pskCallback: () => psk }, onSecure);
        isSecure = once(server, 'secureConnection');
        server.once('connection', () => (held.held = false));
        return server;
      },
    );
    const origin = `https://127.0.0.1:${listener.port}`;
    const pool = new Pool(origin, {
      connect: {
        ...shared,
        pskCallback: () => ({ psk, identity: 'weft' }),
        checkServerIdentity: () => undefined,
      },
    });
    closing.push(() => pool.destroy());

    await expect(exchangeOver(pool, origin, held)).rejects.toMatchObject(LOST);

    await isSecure;
    expect(listener.received()).toBe('');
  });

  it('while it waits in the pool behind another sends no byte', async () => {
    const held = claim();
    const listener = await listen((socket, received) => {
      if (!received.includes('/first')) return;
      held.held = false;
      socket.write(OK);
    });
    const pool = new Pool(listener.url, { connections: 1, pipelining: 1 });
    closing.push(() => pool.destroy());

    const [first, second] = await Promise.allSettled([
      exchangeOver(pool, `${listener.url}/first`, claim()),
      exchangeOver(pool, `${listener.url}/second`, held),
    ]);

    expect(first.status).toBe('fulfilled');
    expect(second).toMatchObject({ status: 'rejected', reason: LOST });
    expect(lines(listener.received())).toEqual(['POST /first']);
  });

  it('sends nothing over a kept connection', async () => {
    const held = claim();
    const listener = await listen((socket) => socket.write(OK));
    const egress = createEgress({ ...settings, allow: listener.allow });
    await egress.fetch(post(`${listener.url}/first`, held));

    const sent = egress.fetch(post(`${listener.url}/second`, held));
    held.held = false;

    // With a kept connection it may have left at once; then it had the right to.
    const [{ status }] = await Promise.allSettled([sent]);
    const third = egress.fetch(post(`${listener.url}/third`, held));
    await expect(third).rejects.toMatchObject(LOST);
    const expected = status === 'fulfilled' ? ['POST /first', 'POST /second'] : ['POST /first'];
    expect(lines(listener.received())).toEqual(expected);
  });

  it.each([
    ['to the same place', ''],
    ['to another one', 'http://other.test:PORT'],
  ])('follows no redirect %s', async (_, origin) => {
    const held = claim();
    const listener = await listen((socket) => {
      held.held = false;
      const location = `${origin.replace('PORT', String(listener.port))}/second`;
      socket.write(`HTTP/1.1 307 Elsewhere\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
    });
    const resolve = async () => [{ address: '127.0.0.1', family: 4 as const }];
    const egress = createEgress({ ...settings, allow: listener.allow, resolve });

    await expect(egress.fetch(post(`${listener.url}/first`, held))).rejects.toMatchObject(LOST);

    expect(lines(listener.received())).toEqual(['POST /first']);
    expect(listener.connections()).toBe(1);
  });

  it('is not sent again when a kept connection turns out to be closed', async () => {
    const held = claim();
    const listener = await listen((socket, received) => {
      const [last] = lines(received).slice(-1);
      if (last !== 'POST /second') return socket.write(OK);
      held.held = false;
      return socket.destroy();
    });
    const pool = new Pool(listener.url, { connections: 1, pipelining: 1 });
    closing.push(() => pool.destroy());
    await exchangeOver(pool, `${listener.url}/first`, held);

    await expect(exchangeOver(pool, `${listener.url}/second`, held)).rejects.toMatchObject(LOST);
    await probe(listener);

    expect(lines(listener.received())).toEqual(['POST /first', 'POST /second', 'POST /probe']);
  });

  it('in the middle of a large body leaves the other side without a whole request', async () => {
    const held = claim();
    const body = 'x'.repeat(24 * 1024 * 1024);
    let paused: Socket | undefined;
    const listener = await listen(
      () => undefined,
      (socket) => {
        // Headers and what fits on the way are taken; the rest waits in the process that sends it.
        socket.once('data', () => {
          paused = socket.pause();
          held.held = false;
        });
      },
    );
    const egress = createEgress({ ...settings, allow: listener.allow });

    const sent = egress.fetch(post(listener.url, { ...held, mayLeave: held.mayLeave, body }));
    const refused = expect(sent).rejects.toMatchObject(LOST);
    while (paused === undefined) await new Promise((resolve) => setImmediate(resolve));
    paused.resume();

    await refused;
    await once(paused, 'close');
    const [head = '', content = ''] = listener.received().split('\r\n\r\n');
    expect(head).toContain(`content-length: ${body.length}`);
    expect(content.length).toBe(body.length - 1);
  });
});

describe('a request whose sender keeps its claim', () => {
  it.each([
    ['', 0],
    ['a small body', 'pay 100'.length],
    ['one that is written at once', 64 * 1024],
    ['one that is not', 64 * 1024 + 1],
    ['a large one', 5 * 1024 * 1024],
  ])('arrives whole: %s', async (_, length) => {
    const held = claim();
    const listener = await listen((socket, received) => {
      if (received.length - received.indexOf('\r\n\r\n') - 4 === length) socket.write(OK);
    });
    const egress = createEgress({ ...settings, allow: listener.allow });
    const body = 'x'.repeat(length);

    const { status } = await egress.fetch(post(listener.url, { mayLeave: held.mayLeave, body }));

    const [head = '', content = ''] = listener.received().split('\r\n\r\n');
    expect([status, content === body]).toEqual([200, true]);
    expect(head.match(/content-length: \d+/g)).toEqual([`content-length: ${length}`]);
    expect(head).not.toContain('transfer-encoding');
  });

  it('is counted in bytes, not in characters', async () => {
    const body = 'ü'.repeat(50_000);
    const listener = await listen((socket, received) => {
      if (received.length - received.indexOf('\r\n\r\n') - 4 === 100_000) socket.write(OK);
    });
    const egress = createEgress({ ...settings, allow: listener.allow });

    const { status } = await egress.fetch(post(listener.url, { ...claim(), body }));

    expect(status).toBe(200);
  });

  it('leaves its connection to the next one, also when its body is large', async () => {
    const body = 'x'.repeat(100_000);
    const listener = await listen((socket, received) => {
      if (received.length - received.lastIndexOf('\r\n\r\n') - 4 === body.length) socket.write(OK);
    });
    const pool = new Pool(listener.url, { connections: 1, pipelining: 1 });
    closing.push(() => pool.destroy());

    for (let count = 0; count < 4; count += 1)
      expect((await exchangeOver(pool, listener.url, claim(), body)).status).toBe(200);

    expect(listener.connections()).toBe(1);
  });
});

function exchangeOver(
  pool: Pool,
  url: string,
  { mayLeave }: Pick<EgressRequest, 'mayLeave'>,
  body = 'pay 100',
): Promise<EgressResponse> {
  const connections: Connections = { to: () => pool };
  return exchange(firstHop(post(url, { body })), {
    connections,
    mayLeave,
    addresses: [{ address: '127.0.0.1', family: 4 }],
    signal: new AbortController().signal,
    maxResponseBytes: 1_000,
    idleTimeoutMs: 5_000,
    followRedirects: true,
  });
}
