import { connect, type AddressInfo, type Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLargeBodies, readJsonOnly } from './read-json.ts';

const BODY = JSON.stringify({ list: Array.from({ length: 40_000 }, () => ({})) });
const REQUEST = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;

let app: FastifyInstance;
let received = 0;
let begun = 0;
let answer: () => void = () => undefined;
const sockets: Socket[] = [];

beforeEach(async () => {
  app = Fastify();
  received = 0;
  begun = 0;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  app.decorateRequest('caller', undefined);
  readJsonOnly(app, createLargeBodies(), 1024 * 1024);
  app.addHook('preParsing', (_request, _reply, payload, done) => {
    payload.once('end', () => {
      received += 1;
    });
    done(null, payload);
  });
  app.post('/', async () => {
    begun += 1;
    await answered;
    return {};
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await app.close();
});

function send(): Promise<Socket> {
  const { port } = app.server.address() as AddressInfo;
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(REQUEST, () => resolve(socket)));
    socket.on('error', () => undefined);
    socket.resume();
    sockets.push(socket);
  });
}

const open = (): Promise<number> =>
  new Promise((resolve) => app.server.getConnections((_error, count) => resolve(count)));

describe('large bodies', () => {
  it('are worked on a few at a time, and not at all once their clients have left', async () => {
    const first = await Promise.all(Array.from({ length: 2 }, send));
    await expect.poll(() => begun).toBe(2);
    const others = await Promise.all(Array.from({ length: 20 }, send));
    await expect.poll(() => received).toBe(22);

    for (const socket of others) socket.destroy();
    await expect.poll(open).toBe(first.length);
    answer();
    await send();

    // Those who left stood before it.
    await expect.poll(() => begun).toBe(3);
  });

  it('of a client that has got its answer make room for the next', async () => {
    answer();
    for (let sent = 0; sent < 10; sent += 1) await send();

    await expect.poll(() => begun).toBe(10);
  });

  it('hold at most 100,000 objects and arrays, because an empty one takes fifty times its bytes', async () => {
    const { port } = app.server.address() as AddressInfo;

    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ list: Array.from({ length: 100_000 }, () => ({})) }),
    });

    expect(response.ok).toBe(false);
    expect(await response.text()).toContain('more than 100000 objects and arrays');
    expect(begun).toBe(0);
  });

  it('may hold any number of brackets in texts, also behind escaped quotes', async () => {
    answer();
    const { port } = app.server.address() as AddressInfo;

    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ list: Array.from({ length: 20_000 }, (_, at) => `${at}\\"[[[{{{"\\`) }),
    });

    expect(response.status).toBe(200);
  });
});
