import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../../start-server.ts';
import { type Harness, openHarness } from '../../testing/harness.ts';

/** Over a socket, where a body arrives piece by piece and when it likes. */
const MIB = 1024 * 1024;
const LIMIT = 8 * MIB + 256 * 1024;

let at: Harness;
let server: RunningServer;
let bundle: string;

beforeAll(async () => {
  // Packing what is sent holds up this very process, which is not what is looked at.
  at = await openHarness({}, undefined, undefined, { limits: { maxLoopDelayMs: 60_000 } });
  server = await startServer(at.app, { host: '127.0.0.1', port: 0, graceMs: 200 });
  const { runId } = await at.start('noop');
  await at.reaches(runId, 'completed');
  bundle = (await at.call('GET', `/v1/runs/${runId}/debug-bundle`)).text;
});
afterAll(async () => {
  await server.shutdown();
  await at.close();
});

interface Sent {
  readonly coding?: string;
  /** Without a Content-Length. */
  readonly isChunked?: boolean;
  readonly pieceBytes?: number;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly json: {
    readonly [name: string]: unknown;
    readonly details?: { readonly [name: string]: unknown };
  };
}

function send(
  body: Buffer,
  { coding = 'gzip', isChunked = false, pieceBytes = 65_536 }: Sent = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${server.url}/v1/host/weft/imports`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${at.key}`,
        'content-type': 'application/json',
        'content-encoding': coding,
        ...(isChunked ? {} : { 'content-length': body.length }),
      },
    });
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          json: JSON.parse(text) as Answer['json'],
        }),
      );
    });
    void (async () => {
      for (let from = 0; from < body.length && !request.destroyed; from += pieceBytes) {
        if (!request.write(body.subarray(from, from + pieceBytes)))
          await new Promise((drained) => request.once('drain', drained));
      }
      request.end();
    })();
  });
}

describe('a packed bundle over HTTP', () => {
  it.each<[string, Sent]>([
    ['in one piece', {}],
    ['without a length', { isChunked: true }],
    ['byte by byte', { pieceBytes: 1 }],
    ['under another spelling', { coding: ' GZIP ' }],
  ])('is imported, as the same run as the plain one: %s', async (_, how) => {
    const packed = await send(gzipSync(bundle), how);
    const plain = await send(Buffer.from(bundle), { coding: 'identity' });

    expect([200, 201]).toContain(packed.status);
    expect(plain.status).toBe(200);
    expect(plain.json).toEqual(packed.json);
  });

  it('may be packed in several parts', async () => {
    const half = Math.floor(bundle.length / 2);
    const parts = [bundle.slice(0, half), bundle.slice(half)].map((part) => gzipSync(part));

    expect((await send(Buffer.concat(parts))).status).toBe(200);
  });

  it.each([false, true])(
    'is unpacked no further than the limit (without a length: %s)',
    async (isChunked) => {
      // 1 GiB of spaces in a megabyte: unpacking it all would be noticed.
      const member = gzipSync(Buffer.alloc(16 * MIB, ' '));
      const bomb = Buffer.concat(Array.from({ length: 64 }, () => member));
      const before = process.memoryUsage.rss();

      const answer = await send(bomb, { isChunked });

      expect([answer.status, answer.json['error']]).toEqual([413, 'payload_too_large']);
      expect(answer.json.details).toMatchObject({ limit: LIMIT });
      expect(Number(answer.json.details?.['observed'])).toBeGreaterThan(LIMIT);
      expect(Number(answer.json.details?.['observed'])).toBeLessThan(LIMIT + MIB);
      expect(process.memoryUsage.rss() - before).toBeLessThan(256 * MIB);
    },
  );

  it.each<[string, (packed: Buffer) => Buffer]>([
    ['is cut', (packed) => packed.subarray(0, -9)],
    ['is cut in its head', (packed) => packed.subarray(0, 5)],
    ['is empty', () => Buffer.alloc(0)],
    ['is not gzip', () => Buffer.from(bundle)],
    [
      'is changed',
      (packed) => Buffer.concat([packed.subarray(0, 40), Buffer.from('xxxx'), packed.subarray(44)]),
    ],
    ['is followed by something', (packed) => Buffer.concat([packed, Buffer.from('more')])],
    ['is followed by zeros', (packed) => Buffer.concat([packed, Buffer.alloc(600)])],
    ['unpacks to no JSON', () => gzipSync('{"bundleVersion":')],
    ['unpacks to what is no UTF-8', () => gzipSync(Buffer.from([0x7b, 0xff, 0x7d]))],
  ])('is refused when it %s', async (_, spoil) => {
    const answer = await send(spoil(gzipSync(bundle)));

    expect([answer.status, answer.json['error']]).toEqual([400, 'validation_error']);
  });

  it.each(['br', 'deflate', 'gzip, gzip', 'zstd'])(
    'is refused when it is packed as %s, which is not read',
    async (coding) => {
      const answer = await send(gzipSync(bundle), { coding });

      expect([answer.status, answer.json['error']]).toEqual([415, 'unsupported_encoding']);
      expect(answer.json.details).toMatchObject({
        field: 'Content-Encoding',
        supported: ['gzip', 'identity'],
      });
      expect(answer.headers['accept-encoding']).toBe('gzip, identity');
    },
  );

  it('leaves the connection and the host in order, whatever was sent', async () => {
    const bomb = gzipSync(Buffer.alloc(16 * MIB));

    await Promise.all(Array.from({ length: 20 }, () => send(bomb)));

    expect((await send(gzipSync(bundle))).status).toBe(200);
  });
});
