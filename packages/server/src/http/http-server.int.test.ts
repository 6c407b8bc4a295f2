import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Host } from '@weft/engine';
import type { RunSnapshot } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import type { ServerOptions } from '../options.ts';
import { type RunningServer, startServer } from '../start-server.ts';
import { type Harness, openHarness } from '../testing/harness.ts';

interface Place {
  readonly at: Harness;
  readonly server: RunningServer;
  readonly logged: { readonly level: string; readonly message: string; readonly fields: object }[];
  connections(): Promise<number>;
  /** Sends bytes, and leaves the connection as it is. */
  open(bytes?: string): Promise<Talk>;
}

interface Talk {
  readonly socket: Socket;
  readonly text: () => string;
  /** The host has closed its half. */
  readonly ended: Promise<unknown>;
}

const cleanUp: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

async function start(options: ServerOptions = {}, wrap?: (host: Host) => Host): Promise<Place> {
  const logged: Place['logged'] = [];
  const at = await openHarness(options, wrap, (level, fields, message) =>
    logged.push({ level, message, fields }),
  );
  const server = await startServer(at.app, { host: '127.0.0.1', port: 0, graceMs: 100 });
  const sockets: Socket[] = [];
  cleanUp.push(async () => {
    for (const socket of sockets) socket.destroy();
    await server.shutdown();
    await at.close();
  });
  return {
    at,
    server,
    logged,
    connections: () => countOf(at.app.server),
    async open(bytes = '') {
      // It may end its own half and still read, as clients of old do.
      const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
      sockets.push(socket);
      let text = '';
      socket.setEncoding('latin1').on('data', (piece: string) => {
        text += piece;
      });
      socket.on('error', () => undefined);
      const ended = new Promise((resolve) => socket.on('end', resolve).on('close', resolve));
      await once(socket, 'connect');
      socket.write(bytes);
      return { socket, text: () => text, ended };
    },
  };
}

function countOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );
}

function envelopeOf(text: string): unknown {
  return JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4));
}

const QUICK: ServerOptions = { headersTimeoutMs: 100, requestTimeoutMs: 400 };

describe('a connection whose request does not come', () => {
  it('is destroyed after the time for its head, five hundred of them too, whether their peers close or not', async () => {
    const { open, connections } = await start(QUICK);
    const half = 'GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ';

    const talks = await Promise.all(Array.from({ length: 500 }, () => open(half)));
    await expect.poll(connections, { timeout: 10_000 }).toBe(0);

    const [talk] = talks;
    expect(talk?.text()).toContain('400 Bad Request');
    expect(envelopeOf(talk?.text() ?? '')).toEqual({
      error: 'validation_error',
      message: 'The request was not complete in time.',
    });
  });

  it('is destroyed when not a single byte comes', async () => {
    const { open, connections } = await start(QUICK);
    await Promise.all([open(), open(), open()]);

    await expect.poll(connections, { timeout: 10_000 }).toBe(0);
  });

  it('is destroyed after the time for all of it, when its body does not come', async () => {
    const { at, open, connections, logged } = await start(QUICK);
    const head = `POST /v1/runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${at.key}\r\n`;
    await open(`${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"workflow`);
    // The answer is out, the body is not: that needs no key.
    await open('POST /v1/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');

    await expect.poll(connections, { timeout: 10_000 }).toBe(0);
    expect(logged.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('is destroyed when what comes is no request, and its peer continues to send', async () => {
    const { open, connections } = await start();
    const { socket, text, ended } = await open('this is not HTTP\r\n\r\n');
    await expect.poll(text).toContain('This is not a valid HTTP request.');

    socket.write('nor is this\r\n\r\n');

    await ended;
    await expect.poll(connections).toBe(0);
  });
});

describe('connections', () => {
  it('above the limit are refused, and the log says so once', async () => {
    const { at, server, open, connections, logged } = await start({ maxConnections: 3 });
    const kept = await Promise.all([open(), open(), open()]);
    await expect.poll(connections).toBe(3);

    await Promise.all(Array.from({ length: 10 }, async () => (await open()).ended));

    expect(await connections()).toBe(3);
    expect(logged.filter(({ message }) => message.includes('maxConnections'))).toEqual([
      {
        level: 'warn',
        message: 'connections were refused: there are as many as maxConnections allows',
        fields: { dropped: 1, limit: 3 },
      },
    ]);
    kept[0]?.socket.destroy();
    await expect.poll(connections).toBe(2);
    const answer = await fetch(`${server.url}/health`);
    expect(answer.status).toBe(200);
    expect(at.app.server.maxConnections).toBe(3);
  });
});

describe('a request without a Host header', () => {
  it('gets our envelope', async () => {
    const { open } = await start();
    const { text } = await open('GET /health HTTP/1.1\r\nConnection: close\r\n\r\n');

    await expect.poll(text).toContain('\r\n\r\n{');

    expect(text()).toContain('400 Bad Request');
    expect(envelopeOf(text())).toEqual({
      error: 'validation_error',
      message: 'Send a Host header: HTTP/1.1 requires one.',
      details: { field: 'Host' },
    });
  });

  it('is served when it is of HTTP/1.0, which has none', async () => {
    const { open } = await start();
    const { text, socket } = await open('GET /health HTTP/1.0\r\n\r\n');
    await once(socket, 'end');

    expect(text()).toContain('200 OK');
  });
});

describe('a request with an expectation that we do not know', () => {
  it('is served like any other', async () => {
    const { open } = await start();
    const { text } = await open('GET /health HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\n\r\n');

    await expect.poll(text).toContain('200 OK');
  });
});

describe('a body that is cut off', () => {
  const CUTS = [
    ['Content-Length: 100\r\n\r\n{"workflow', 'with a length'],
    ['Transfer-Encoding: chunked\r\n\r\n5\r\n{"wor', 'in chunks'],
  ] as const;

  it.each(CUTS)('gets a 400 that a peer can read: %j (%s)', async (rest) => {
    const { at, open, connections, logged } = await start();
    const head = `POST /v1/runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${at.key}\r\nContent-Type: application/json\r\n`;
    const { socket, text } = await open(head + rest);

    socket.end();

    await expect.poll(text).toContain('\r\n\r\n{');
    expect(envelopeOf(text())).toEqual({
      error: 'validation_error',
      message: 'The request ended before it was complete.',
    });
    await expect.poll(connections).toBe(0);
    expect(logged.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it.each(CUTS)('is no failure of the host when its peer is gone: %j (%s)', async (rest) => {
    const { at, open, connections, logged } = await start({ accessLog: true });
    const head = `POST /v1/runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${at.key}\r\nContent-Type: application/json\r\n`;
    const { socket } = await open(head + rest);
    await expect.poll(connections).toBe(1);

    socket.resetAndDestroy();

    await expect.poll(connections).toBe(0);
    expect(logged.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('bytes of requests and answers in flight', () => {
  const LARGE = 'x'.repeat(100_000);

  /** Announces a body, and sends all of it but the last byte. */
  const announce = ({ open }: Place, key: string, bytes: number): Promise<Talk> =>
    open(
      `POST /v1/runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes - 1)}`,
    );

  it('are bounded: a tenant with too many is turned away, and another is not', async () => {
    const place = await start({ maxBytesInFlight: 300_000 });
    const { at } = place;
    const slow = await Promise.all([1, 2, 3, 4].map(() => announce(place, at.key, 100_000)));
    await expect.poll(() => slow.filter(({ text }) => text().includes('503')).length).toBe(1);
    const create = (key: string): Promise<Response> =>
      fetch(`${place.server.url}/v1/runs`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ workflowId: 'noop', inputs: { text: LARGE } }),
      });

    const [refused, served] = [await create(at.key), await create(at.otherTenantKey)];

    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toMatchObject({
      error: 'service_unavailable',
      details: { limit: 300_000, observed: expect.any(Number) as number },
    });
    expect(served.status).toBe(201);
    for (const { socket } of slow) socket.destroy();
    await expect.poll(async () => (await create(at.key)).status).toBe(201);
  });

  it('count answers that are not read, until their reader is cut off', async () => {
    const large = { runId: 'r', status: 'running', text: 'y'.repeat(8_000_000) };
    const view = { snapshot: large as unknown as RunSnapshot, seq: 0, etag: 'e' };
    const place = await start({ maxBytesInFlight: 20_000_000, stallMs: 200 }, (host) => ({
      ...host,
      runs: { ...host.runs, snapshot: () => Promise.resolve(view) },
    }));
    const ask = async (key: string): Promise<Talk> => {
      const talk = await place.open(
        `GET /v1/runs/r HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`,
      );
      await once(talk.socket, 'readable');
      return talk;
    };
    const readNothing = async (): Promise<Talk> => {
      const talk = await ask(place.at.key);
      talk.socket.pause();
      return talk;
    };
    const stuck = [await readNothing(), await readNothing(), await readNothing()];
    const refused = await ask(place.at.key);
    await expect.poll(refused.text).toContain('503 Service Unavailable');
    const served = await ask(place.at.otherTenantKey);
    await expect.poll(() => served.text().length).toBeGreaterThan(8_000_000);
    served.socket.destroy();
    refused.socket.destroy();

    await expect.poll(place.connections, { timeout: 10_000 }).toBe(0);

    expect(stuck.every(({ text }) => text().length < 8_000_000)).toBe(true);
    await expect.poll(async () => (await ask(place.at.key)).text()).toContain('200 OK');
  });
});
