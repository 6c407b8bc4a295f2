import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openPostgresProxy, type PostgresProxy } from './postgres-proxy.ts';

/** A server that knows as much of the protocol as the proxy does: it answers each query with its first word. */
const START = Buffer.from([0, 0, 0, 8, 0, 3, 0, 0]);

function message(type: string, body: string): Buffer {
  const bytes = Buffer.alloc(5 + body.length);
  bytes.write(type, 0, 'latin1');
  bytes.writeUInt32BE(bytes.length - 1, 1);
  bytes.write(body, 5, 'latin1');
  return bytes;
}

const query = (text: string): Buffer => message('Q', `${text}\0`);
const tag = (text: string): Buffer => message('C', `${text}\0`);

let server: Server;
let proxy: PostgresProxy;
let client: Socket;
/** What the server got after the start. */
let asked: string[];
let answered: Buffer;
let isOver: boolean;

beforeEach(async () => {
  asked = [];
  answered = Buffer.alloc(0);
  isOver = false;
  server = createServer((socket) => {
    let rest = Buffer.alloc(0);
    let isStarted = false;
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      if (!isStarted) {
        if (rest.length < START.length) return;
        rest = rest.subarray(START.length);
        isStarted = true;
      }
      while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
        const length = 1 + rest.readUInt32BE(1);
        const text = rest.toString('latin1', 5, length - 1);
        rest = rest.subarray(length);
        asked.push(text);
        socket.write(tag(text.split(' ')[0] ?? ''));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await openPostgresProxy({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  client = connect(proxy.port, '127.0.0.1');
  client.on('data', (chunk) => (answered = Buffer.concat([answered, chunk])));
  client.on('error', () => client.destroy()).on('close', () => (isOver = true));
  client.write(START);
});

afterEach(async () => {
  client.destroy();
  await proxy.close();
  server.close();
  await once(server, 'close');
});

const eventually = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 5_000, interval: 5 });

describe('the proxy before PostgreSQL', () => {
  it('hands everything on as it came, however it is cut', async () => {
    for (const byte of Buffer.concat([query('BEGIN'), query('COMMIT')])) client.write(Buffer.from([byte]));

    await eventually(() => expect(answered).toEqual(Buffer.concat([tag('BEGIN'), tag('COMMIT')])));
    expect(asked).toEqual(['BEGIN', 'COMMIT']);
    expect(proxy.counts()).toMatchObject({ commits: 1, full: 0 });
  });

  it('cuts before COMMIT: the server never sees it', async () => {
    proxy.cutNext('before', 1);

    client.write(Buffer.concat([query('INSERT 1'), query('COMMIT')]));

    await eventually(() => expect(isOver).toBe(true));
    expect(asked).not.toContain('COMMIT');
  });

  it('cuts during COMMIT: the server gets it, the client no answer', async () => {
    proxy.cutNext('during', 1);

    client.write(query('COMMIT'));

    await eventually(() => expect(isOver).toBe(true));
    await eventually(() => expect(asked).toEqual(['COMMIT']));
    expect(answered).toHaveLength(0);
  });

  it('cuts after COMMIT: it is carried out, and the answer is lost', async () => {
    proxy.cutNext('after', 1);

    client.write(Buffer.concat([query('INSERT 1'), query('COMMIT')]));

    await eventually(() => expect(isOver).toBe(true));
    expect(asked).toEqual(['INSERT 1', 'COMMIT']);
    expect(answered).toEqual(tag('INSERT'));
  });

  it('cuts as many as requested', async () => {
    proxy.cutNext('before', 1);
    client.write(query('COMMIT'));
    await eventually(() => expect(isOver).toBe(true));

    client = connect(proxy.port, '127.0.0.1');
    client.on('data', (chunk) => (answered = Buffer.concat([answered, chunk])));
    client.write(Buffer.concat([START, query('COMMIT')]));

    await eventually(() => expect(answered).toEqual(tag('COMMIT')));
    expect(proxy.counts().cut).toEqual({ before: 1, during: 0, after: 0 });
  });

  it('answers 53100 while it is full, and rolls back', async () => {
    proxy.fill();
    client.write(Buffer.concat([query('INSERT 1'), query('COMMIT')]));
    await eventually(() => expect(answered.toString('latin1')).toContain('C53100'));
    proxy.empty();

    client.write(query('COMMIT'));

    await eventually(() => expect(answered.subarray(-tag('COMMIT').length)).toEqual(tag('COMMIT')));
    expect(asked).toEqual(['INSERT 1', 'ROLLBACK', 'COMMIT']);
  });

  it('ends every connection at once', async () => {
    client.write(query('BEGIN'));
    await eventually(() => expect(asked).toEqual(['BEGIN']));

    proxy.reset();

    await eventually(() => expect(isOver).toBe(true));
  });
});
