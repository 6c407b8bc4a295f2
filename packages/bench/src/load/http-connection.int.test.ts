import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openConnection } from './http-connection.ts';

let server: Server | undefined;

afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  if (server?.listening) await once(server, 'close');
});

async function serve(listener: RequestListener): Promise<{ port: number; key: string }> {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, key: 'k' };
}

describe('a hand-written connection', () => {
  it('sends a body and its key, and reads the whole answer', async () => {
    const target = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += chunk));
      request.on('end', () => {
        const answer = JSON.stringify({ body, key: request.headers.authorization });
        response.writeHead(201, { 'content-length': Buffer.byteLength(answer) }).end(answer);
      });
    });
    const connection = await openConnection(target);

    const answer = await connection.post('/v1/runs', '{"a":1}');

    expect(answer).toMatchObject({ status: 201, body: JSON.stringify({ body: '{"a":1}', key: 'Bearer k' }) });
    connection.close();
  });

  it('sees the terminal event of a stream in chunks, whatever the pieces, and then uses the same socket again', async () => {
    const sockets = new Set<unknown>();
    const target = await serve((request, response) => {
      sockets.add(request.socket);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('id: 0\nevent: run.sta');
      setImmediate(() => {
        response.write('rted\ndata: {}\n\nid: 1\nevent: run.comp');
        setImmediate(() => response.end('leted\ndata: {}\n\n'));
      });
    });
    const connection = await openConnection(target);

    const first = await connection.follow('/v1/runs/r/events');
    const second = await connection.follow('/v1/runs/r/events');

    expect([first.terminal, second.terminal]).toEqual(['run.completed', 'run.completed']);
    expect(sockets.size).toBe(1);
    connection.close();
  });

  it('reads a stream that comes as one body with a length', async () => {
    const body = 'id: 0\nevent: run.failed\ndata: {}\n\n';
    const target = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': body.length }).end(body);
    });
    const connection = await openConnection(target);

    const { terminal } = await connection.follow('/v1/runs/r/events');

    expect(terminal).toBe('run.failed');
    connection.close();
  });

  it('dials again when the host has closed the connection after a stream', async () => {
    const target = await serve((_request, response) => {
      response.writeHead(200, { connection: 'close' }).end('id: 0\nevent: run.completed\ndata: {}\n\n');
    });
    const connection = await openConnection(target);

    await connection.follow('/v1/runs/r/events');
    const { terminal } = await connection.follow('/v1/runs/r/events');

    expect(terminal).toBe('run.completed');
    connection.close();
  });

  it('fails, rather than counts, when a stream ends without a terminal event', async () => {
    const target = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('id: 0\nevent: run.started\ndata: {}\n\n', () => response.destroy());
    });
    const connection = await openConnection(target);

    await expect(connection.follow('/v1/runs/r/events')).rejects.toThrow();
    connection.close();
  });
});
