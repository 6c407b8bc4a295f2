import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { EgressRequest } from '../../model/node-type.ts';
import { createEgress } from './egress.ts';

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

async function serve(handler: RequestListener): Promise<number> {
  const server = createServer(handler);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function get(port: number, changes: Partial<EgressRequest> = {}): EgressRequest {
  return {
    url: `http://127.0.0.1:${port}/`,
    method: 'GET',
    headers: {},
    signal: new AbortController().signal,
    maxResponseBytes: 1_000_000,
    followRedirects: false,
    admits: `127.0.0.1:${port}`,
    ...changes,
  };
}

const nowhere = createEgress({ allow: [], connectTimeoutMs: 5_000 });

async function read(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const piece of body) text += Buffer.from(piece).toString();
  return text;
}

/** A server whose answer the test writes itself. */
async function held(): Promise<{ port: number; response: Promise<ServerResponse> }> {
  let answer: (response: ServerResponse) => void = () => undefined;
  const response = new Promise<ServerResponse>((resolve) => {
    answer = resolve;
  });
  const port = await serve((_request, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    answer(res);
  });
  return { port, response };
}

describe('an answer that is opened', () => {
  it('is there with its headers before its body is, and comes in pieces', async () => {
    const { port, response } = await held();

    const opened = await nowhere.open(get(port));
    const server = await response;
    server.write('one ');
    const pieces = opened.body[Symbol.asyncIterator]();
    const first = await pieces.next();
    server.end('two');

    expect(opened).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream' } });
    expect(Buffer.from(first.value as Uint8Array).toString()).toBe('one ');
    expect(Buffer.from((await pieces.next()).value as Uint8Array).toString()).toBe('two');
    expect((await pieces.next()).done).toBe(true);
  });

  it('is cut when it is larger than the request allows', async () => {
    const port = await serve((_request, response) => void response.end('x'.repeat(5_000)));

    const { body } = await nowhere.open(get(port, { maxResponseBytes: 1_000 }));

    await expect(read(body)).rejects.toMatchObject({ problem: 'too_large' });
  });

  it('fails where it breaks', async () => {
    const { port, response } = await held();

    const opened = await nowhere.open(get(port));
    const server = await response;
    server.write('half', () => server.destroy());

    await expect(read(opened.body)).rejects.toMatchObject({ problem: 'network' });
  });

  it('ends with its signal, in the middle of its body', async () => {
    const { port, response } = await held();
    const stop = new AbortController();

    const opened = await nowhere.open(get(port, { signal: stop.signal }));
    const gone = once(await response, 'close');
    stop.abort();

    await expect(read(opened.body)).rejects.toMatchObject({ problem: 'aborted' });
    await gone;
  });

  it('is given up when its reader stops reading', async () => {
    const { port, response } = await held();

    const opened = await nowhere.open(get(port));
    const server = await response;
    const gone = once(server, 'close');
    server.write('enough');
    for await (const piece of opened.body) if (piece.length > 0) break;

    await gone;
  });

  it('waits for a reader that is slow, and loses nothing', async () => {
    const port = await serve((_request, response) => void response.end(Buffer.alloc(32 * 1024 * 1024, 'x')));

    const { body } = await nowhere.open(get(port, { maxResponseBytes: 64 * 1024 * 1024 }));
    let bytes = 0;
    let largest = 0;
    for await (const piece of body) {
      bytes += piece.length;
      largest = Math.max(largest, piece.length);
      await new Promise(setImmediate);
    }

    expect(bytes).toBe(32 * 1024 * 1024);
    expect(largest).toBeLessThan(1024 * 1024);
  });

  it('does not begin where the request may not leave', async () => {
    let asked = 0;
    const port = await serve((_request, response) => {
      asked += 1;
      response.end();
    });

    await expect(nowhere.open(get(port, { mayLeave: () => false }))).rejects.toMatchObject({
      problem: 'aborted',
      reason: 'claim_lost',
    });
    expect(asked).toBe(0);
  });
});

describe('a destination that is named for a request', () => {
  it('is admitted for that request alone', async () => {
    const port = await serve((_request, response) => void response.end('hello'));

    const { body } = await nowhere.open(get(port));

    expect(await read(body)).toBe('hello');
    await expect(nowhere.open(get(port, { admits: undefined }))).rejects.toMatchObject({ problem: 'denied' });
  });

  it('admits no other port, and no redirect', async () => {
    const inner = await serve((_request, response) => void response.end('inner'));
    const port = await serve((_request, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${inner}/` }).end();
    });

    const other = nowhere.open(get(inner, { admits: `127.0.0.1:${port}` }));
    const redirected = nowhere.open(get(port, { followRedirects: true }));

    await expect(other).rejects.toMatchObject({ problem: 'denied' });
    await expect(redirected).rejects.toMatchObject({ problem: 'denied' });
  });
});
