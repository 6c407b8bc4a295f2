import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect as dial } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Batch } from './batches.ts';
import { createSocketWriter, type SocketWriter } from './socket-writer.ts';

let close: () => void = () => undefined;
afterEach(() => close());

interface Connection {
  readonly response: ServerResponse;
  readonly reader: IncomingMessage;
  readonly writer: SocketWriter;
}

/** A response and its reader, over loopback; the reader has not taken anything yet. */
async function connect(stallMs: number): Promise<Connection> {
  const server = createServer();
  const arrived = new Promise<ServerResponse>((resolve) =>
    server.on('request', (_request, response) => resolve(response)),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const reading = new Promise<IncomingMessage>((resolve) => {
    get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' }, resolve).on(
      'error',
      () => undefined,
    );
  });
  const response = await arrived;
  response.flushHeaders();
  const reader = await reading;
  reader.on('error', () => undefined);
  close = () => {
    reader.destroy();
    server.closeAllConnections();
    server.close();
  };
  return { response, reader, writer: createSocketWriter(response, stallMs) };
}

const MEBIBYTE = 'x'.repeat(1024 * 1024);

/** Writes until the reader must take something first; says how many MiB went out until then. */
async function writeUntilStuck({ writer, response }: Connection): Promise<number> {
  for (let written = 0; ; written++) {
    if (written > 200) throw new Error('the writer never waited');
    const done = await Promise.race([
      writer.write(MEBIBYTE),
      new Promise<'stuck'>((resolve) => setTimeout(() => resolve('stuck'), 200)),
    ]);
    if (done === 'stuck') return written;
    if (response.destroyed) return written;
  }
}

describe('a reader that takes nothing', () => {
  it('makes the writer wait, with no more in memory than one slice and the socket’s buffer', async () => {
    const connection = await connect(60_000);

    await writeUntilStuck(connection);

    expect(connection.response.writableNeedDrain).toBe(true);
    expect(connection.response.writableLength).toBeLessThan(256 * 1024);
  });

  it('is disconnected after the stall time, and the writer learns it', async () => {
    const connection = await connect(300);
    await writeUntilStuck(connection);

    await expect.poll(() => connection.response.destroyed, { timeout: 10_000 }).toBe(true);

    expect(await connection.writer.ready()).toBe(false);
    expect(await connection.writer.write('more')).toBe(false);
  });

  it('lets the writer continue when it reads again, and misses nothing', async () => {
    const connection = await connect(60_000);
    const stuckAfter = await writeUntilStuck(connection);
    let received = 0;
    connection.reader.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });

    await connection.writer.write('end');
    connection.response.end();
    await new Promise((resolve) => connection.reader.on('end', resolve));

    expect(received).toBe((stuckAfter + 1) * MEBIBYTE.length + 3);
  });
});

describe('a batch for many readers', () => {
  const batchOf = (text: string): Batch => ({
    text,
    chunk: Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`),
  });
  const texts = ['head and é, ', 'a prepared chunk, ', 'x'.repeat(200_000), 'a chunk behind what waits'];

  it('reads like any other text, whichever way it takes to the socket', async () => {
    const { writer, response, reader } = await connect(60_000);
    let received = '';
    reader.setEncoding('utf8').on('data', (chunk: string) => {
      received += chunk;
    });

    const hadRoom = texts.map((text) => writer.send(batchOf(text)));
    expect(await writer.ready()).toBe(true);
    response.end();
    await new Promise((resolve) => reader.on('end', resolve));

    expect(hadRoom).toEqual([true, true, false, false]);
    expect(received).toBe(texts.join(''));
  });

  it('comes without chunks to a reader of HTTP/1.0', async () => {
    const server = createServer((_request, response) => {
      const writer = createSocketWriter(response, 60_000);
      for (const text of texts) writer.send(batchOf(text));
      void writer.ready().then(() => response.end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    close = () => server.close();
    const socket = dial((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8');
    socket.write('GET / HTTP/1.0\r\n\r\n');

    let received = '';
    for await (const chunk of socket) received += String(chunk);

    expect(received.slice(received.indexOf('\r\n\r\n') + 4)).toBe(texts.join(''));
  });

  it('waits for a reader that takes nothing, with no more in memory than it and the socket’s buffer', async () => {
    const { writer, response } = await connect(60_000);
    const batch = batchOf('x'.repeat(60_000));

    for (let sent = 0; writer.send(batch); sent += 1)
      if (sent > 10_000) throw new Error('the writer always had room');

    expect(writer.isFull()).toBe(true);
    expect(response.socket?.writableLength).toBeLessThan(256 * 1024);
  });
});

describe('the last batch', () => {
  const batchOf = (text: string): Batch => ({ text, chunk: Buffer.from(text) });

  it('ends the response with it when the socket takes it at once', async () => {
    const { writer, response } = await connect(60_000);

    writer.finish(batchOf('the end'));

    expect([response.writableEnded, writer.isFull()]).toEqual([true, false]);
  });

  it('leaves the response open while the socket holds some of it', async () => {
    const { writer, response } = await connect(60_000);

    writer.finish(batchOf('x'.repeat(60_000)));
    expect([response.writableEnded, writer.isFull()]).toEqual([false, true]);

    expect(await writer.ready()).toBe(true);
    expect(writer.isFull()).toBe(false);
  });
});

describe('two writers of one response', () => {
  it('never mix their bytes', async () => {
    const connection = await connect(60_000);
    const chunks: string[] = [];
    connection.reader.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));

    const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(300_000));
    await Promise.all(texts.map((text) => connection.writer.write(text)));
    connection.response.end();
    await new Promise((resolve) => connection.reader.on('end', resolve));

    expect(chunks.join('')).toBe(texts.join(''));
  });
});
