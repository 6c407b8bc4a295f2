import {
  connect as connectSession,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
} from 'node:http2';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { ServiceError } from '@grpc/grpc-js';
import { GRPC_STATUS, type JsonObject } from '@weft/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { struct } from '../testing/grpc-documents.ts';
import { type GrpcHarness, openGrpcHarness } from '../testing/grpc-harness.ts';

/** Callers that mean harm, or know no better. Whatever they send, others are served, and nothing is kept for them. */
let at: GrpcHarness;
const sessions: ClientHttp2Session[] = [];
const sockets: Socket[] = [];
const LIMIT = 64 * 1024;

beforeAll(async () => {
  at = await openGrpcHarness({
    maxRequestBodyBytes: LIMIT,
    maxGrpcMessageBytes: LIMIT,
    requestTimeoutMs: 700,
    stallMs: 500,
  });
});
afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy();
  for (const socket of sockets.splice(0)) socket.destroy();
  // Another caller is served as if nothing had happened.
  expect((await at.connect().call('GetCapabilities', {}, { key: null })).code).toBe(0);
});
afterAll(() => at.close());

interface Ended {
  readonly status: string | undefined;
  readonly http: number;
  readonly message: string;
  readonly rstCode: number;
}

function openSession(): ClientHttp2Session {
  const session = connectSession(`http://127.0.0.1:${at.grpcPort}`);
  session.on('error', () => undefined);
  sessions.push(session);
  return session;
}

/** A call written by hand: its head as given, its body as it comes. */
function open(method: string, head: Record<string, string> = {}, session = openSession()): ClientHttp2Stream {
  const stream = session.request(
    {
      ':method': 'POST',
      ':path': method.startsWith('/') ? method : `/openwop.v1.Engine/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      authorization: `Bearer ${at.key}`,
      ...head,
    },
    { endStream: false },
  );
  stream.on('error', () => undefined);
  return stream;
}

function endOf(stream: ClientHttp2Stream): Promise<Ended> {
  const seen: Record<string, string> = {};
  let http = 0;
  return new Promise((resolve) => {
    stream.on('response', (headers) => {
      http = Number(headers[':status']);
      Object.assign(seen, headers);
    });
    stream.on('trailers', (trailers) => Object.assign(seen, trailers));
    stream.on('close', () =>
      resolve({
        status: seen['grpc-status'],
        http,
        message: decodeURI(seen['grpc-message'] ?? ''),
        rstCode: stream.rstCode,
      }),
    );
    stream.resume();
  });
}

function framed(message: Uint8Array, flag = 0, length = message.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flag, 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

const { INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNIMPLEMENTED, UNAUTHENTICATED, DEADLINE_EXCEEDED } =
  GRPC_STATUS;

describe('frames that are none', () => {
  it.each<[string, Buffer, number]>([
    ['bytes that are no message', framed(Buffer.from([0xff, 0xff, 0xff])), INVALID_ARGUMENT],
    ['a field longer than its message', framed(Buffer.from([0x0a, 0x7f, 0x41])), INVALID_ARGUMENT],
    ['a varint without end', framed(Buffer.alloc(20, 0xff)), INVALID_ARGUMENT],
    ['groups in groups', framed(Buffer.alloc(5_000, 0x0b)), INVALID_ARGUMENT],
    ['no message at all', Buffer.alloc(0), INVALID_ARGUMENT],
    ['two messages', Buffer.concat([framed(Buffer.alloc(0)), framed(Buffer.alloc(0))]), INVALID_ARGUMENT],
    ['a length beyond the limit', framed(Buffer.alloc(10), 0, LIMIT + 1), RESOURCE_EXHAUSTED],
    ['the largest length there is', framed(Buffer.alloc(10), 0, 0xffffffff), RESOURCE_EXHAUSTED],
    ['what is said to be packed and is not', framed(Buffer.from('not gzip'), 1), INVALID_ARGUMENT],
  ])('%s get a clear status', async (_, bytes, status) => {
    const stream = open('CreateRun', { 'grpc-encoding': 'gzip' });
    const ended = endOf(stream);
    stream.end(bytes);

    const { status: seen, message } = await ended;

    expect(seen).toBe(String(status));
    expect(message).not.toBe('');
  });

  it('a head that is cut off is no message', async () => {
    const stream = open('CreateRun');
    const ended = endOf(stream);
    stream.end(Buffer.from([0, 0, 0]));

    expect((await ended).status).toBe(String(INVALID_ARGUMENT));
  });

  it('a packing that no one knows is named', async () => {
    const stream = open('CreateRun', { 'grpc-encoding': 'zstd' });
    const ended = endOf(stream);
    stream.end(framed(Buffer.from('x'), 1));

    const { status, message } = await ended;

    expect(status).toBe(String(INVALID_ARGUMENT));
    expect(message).toContain('gzip');
  });

  it('a small message that unpacks to a large one is refused', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    const stream = open('CreateRun', { 'grpc-encoding': 'gzip' });
    const ended = endOf(stream);
    stream.end(framed(bomb, 1));

    expect((await ended).status).toBe(String(RESOURCE_EXHAUSTED));
  });

  it('what is no gRPC at all is refused as such, and bytes that are no HTTP/2 are cut off', async () => {
    const plain = open('CreateRun', { 'content-type': 'application/json' });
    const ended = endOf(plain);
    plain.end('{}');
    const socket = connect(at.grpcPort, '127.0.0.1');
    sockets.push(socket);
    const closed = new Promise((resolve) => socket.on('close', resolve).on('error', () => undefined));
    socket.resume().write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');

    expect((await ended).http).toBe(415);
    await closed;
  });
});

describe('methods that there are not', () => {
  it.each(['/openwop.v1.Engine/DropTables', '/other.Service/CreateRun', '/', '/openwop.v1.Engine/createRun'])(
    '%s is UNIMPLEMENTED',
    async (path) => {
      const stream = open(path);
      const ended = endOf(stream);
      stream.end(framed(Buffer.alloc(0)));

      expect((await ended).status).toBe(String(UNIMPLEMENTED));
    },
  );
});

describe('messages that are too large', () => {
  it('on the way in are refused with the limit, and change nothing', async () => {
    const inputs = struct({ text: 'x'.repeat(LIMIT) });

    const { code, envelope } = await at.rpc('CreateRun', { workflow_id: 'noop', inputs });

    expect([code, envelope?.['error']]).toEqual([RESOURCE_EXHAUSTED, 'payload_too_large']);
    expect(envelope?.['details']).toMatchObject({ maxRequestBodyBytes: LIMIT });
  });

  it('on the way out are refused with the limit and the way out', async () => {
    const metadata = struct({ text: 'x'.repeat(40_000) });
    const { document } = await at.rpc('CreateRun', {
      workflow_id: 'wait',
      metadata,
      inputs: struct({ a: 'y'.repeat(20_000) }),
    });
    const runId = String(document['runId']);
    const small = await openGrpcHarness({ maxGrpcMessageBytes: 2_000 });
    const { runId: other } = await small.start('noop', { metadata: { text: 'x'.repeat(5_000) } });

    const fits = await at.rpc('GetRun', { run_id: runId });
    const refused = await small.rpc('GetRun', { run_id: other });
    const bundle = await small.rpc('GetDebugBundle', { run_id: other });
    await small.close();

    expect(fits.code).toBe(0);
    for (const { code, envelope } of [refused, bundle]) {
      expect([code, envelope?.['error']]).toEqual([RESOURCE_EXHAUSTED, 'answer_too_large']);
      expect(envelope?.['details']).toMatchObject({ limit: 2_000 });
    }
  });
});

describe('a caller that is slow', () => {
  it('with its message is not waited for', async () => {
    const stream = open('CreateRun');
    const ended = endOf(stream);
    stream.write(framed(Buffer.alloc(10), 0, 1_000));

    const { status, message } = await ended;

    expect(status).toBe(String(INVALID_ARGUMENT));
    expect(message).toContain('700 ms');
  });

  it('and has no key is refused before its message is read', async () => {
    const stream = open('CreateRun', { authorization: 'Bearer nonsense' });

    const { status } = await endOf(stream);

    expect(status).toBe(String(UNAUTHENTICATED));
  });

  it('gets what it asked for within its deadline, or nothing', async () => {
    const { runId } = await at.start('wait');
    await at.reaches(runId, 'running');
    const stream = open('StreamRunEvents', { 'grpc-timeout': '300m' });
    const ended = endOf(stream);
    stream.end(framed(Buffer.concat([Buffer.from([0x0a, runId.length]), Buffer.from(runId)])));

    expect((await ended).status).toBe(String(DEADLINE_EXCEEDED));
  });

  it('with an invalid deadline is refused as such', async () => {
    const stream = open('GetCapabilities', { 'grpc-timeout': 'soon' });

    const { status, message } = await endOf(stream);

    expect(status).toBe(String(INVALID_ARGUMENT));
    expect(message).toContain('grpc-timeout');
  });
});

describe('a reader that takes nothing', () => {
  it('of a long stream is disconnected, and takes no more memory than its window', async () => {
    const long = await openGrpcHarness({ stallMs: 400 });
    const runId = await longRun(long);
    const session = connectSession(`http://127.0.0.1:${long.grpcPort}`, {
      settings: { initialWindowSize: 1_000 },
    });
    sessions.push(session.on('error', () => undefined));
    const stream = session.request({
      ':method': 'POST',
      ':path': '/openwop.v1.Engine/StreamRunEvents',
      'content-type': 'application/grpc',
      te: 'trailers',
      authorization: `Bearer ${long.key}`,
    });
    stream.on('error', () => undefined);
    const closed = new Promise<number>((resolve) => void stream.on('close', () => resolve(stream.rstCode)));
    let received = 0;
    stream.on('data', (chunk: Buffer) => {
      received += chunk.length;
      // From here on nothing is taken.
      stream.pause();
    });
    stream.end(framed(Buffer.concat([Buffer.from([0x0a, runId.length]), Buffer.from(runId)])));

    const code = await closed;
    await long.close();

    expect(code).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    expect(received).toBeLessThan(64 * 1024);
  });

  it('and many of them leave room for others', async () => {
    const streams = Array.from({ length: 90 }, () => open('CreateRun', {}, sessions[0] ?? openSession()));
    for (const stream of streams) stream.write(framed(Buffer.alloc(100), 0, 60_000));

    const other = at.connect();
    const { code } = await other.call('GetRun', { run_id: 'x' }, { key: at.otherTenantKey });

    expect(code).toBe(GRPC_STATUS.NOT_FOUND);
    await Promise.all(streams.map(endOf));
  });

  it('in bursts of calls that are cancelled at once leaves nothing behind', async () => {
    const client = at.connect();
    for (let round = 0; round < 20; round += 1) {
      const calls = Array.from({ length: 50 }, () => client.stream('StreamRunEvents', { run_id: 'x' }));
      const ended = calls.map(
        (call) =>
          new Promise<number>(
            (resolve) => void call.on('error', (error: ServiceError) => resolve(error.code)),
          ),
      );
      for (const call of calls) call.cancel();
      await Promise.all(ended);
    }

    expect((await client.call('GetRun', { run_id: 'x' })).code).toBe(GRPC_STATUS.NOT_FOUND);
  });
});

/** A run whose log is longer than any window. */
async function longRun(host: GrpcHarness): Promise<string> {
  const text = 'x'.repeat(50_000);
  const nodes = Array.from({ length: 15 }, (_, index) => ({
    id: `n${index}`,
    typeId: 'core.setVariable',
    name: 'n',
    position: { x: 0, y: 0 },
    config: { name: 'text', value: text },
    inputs: {},
  }));
  const definition: JsonObject = {
    id: 'long',
    name: 'long',
    version: '1',
    nodes,
    edges: [],
    triggers: [{ id: 'manual', type: 'manual', enabled: true }],
    variables: [{ name: 'text', type: 'string' }],
    metadata: { tags: [] },
    settings: {},
  };
  const registered = await host.call('POST', '/v1/host/weft/workflows', { body: definition });
  if (registered.status !== 201) throw new Error(registered.text);
  const { runId } = await host.start('long');
  await host.reaches(runId, 'completed');
  return runId;
}
