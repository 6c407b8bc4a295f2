import { get, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { Host } from '@weft/engine';
import { afterEach, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../../start-server.ts';
import { type Harness, openHarness } from '../../testing/harness.ts';

let at: Harness;
let server: RunningServer;

afterEach(async () => {
  await server.shutdown();
  await at.close();
});

async function open(debugBundle: Host['bundles']['text'], stallMs = 60_000): Promise<void> {
  at = await openHarness({ stallMs }, (host) => ({ ...host, bundles: { text: debugBundle } }));
  server = await startServer(at.app, { host: '127.0.0.1', port: 0, graceMs: 200 });
}

function ask(headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = get(`${server.url}/v1/runs/any/debug-bundle`, {
      headers: { authorization: `Bearer ${at.key}`, ...headers },
    });
    request.on('response', resolve);
    request.on('error', reject);
  });
}

const PIECE = 'x'.repeat(64 * 1024);
const PIECES = 512;

/** 32 MiB, counted as they are made. */
function endless(made: { pieces: number; closed: boolean }): Host['bundles']['text'] {
  return async () =>
    (async function* () {
      try {
        for (; made.pieces < PIECES; made.pieces += 1) yield PIECE;
      } finally {
        made.closed = true;
      }
    })();
}

async function holds(condition: () => boolean): Promise<void> {
  for (const until = Date.now() + 10_000; !condition(); ) {
    if (Date.now() > until) throw new Error('waited in vain');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('a bundle on its way', () => {
  it.each([{}, { 'accept-encoding': 'gzip' }])('arrives whole (%o)', async (headers) => {
    const made = { pieces: 0, closed: false };
    await open(endless(made));

    const answer = await ask(headers);
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);

    const body = Buffer.concat(chunks);
    const text = answer.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    expect(text.length).toBe(PIECE.length * PIECES);
  });

  it('is made no faster than it is read, and is dropped when the reader is stuck', async () => {
    const made = { pieces: 0, closed: false };
    await open(endless(made), 300);

    const answer = await ask();
    answer.pause();
    await holds(() => made.closed);

    expect(made.pieces).toBeLessThan(PIECES);
    answer.destroy();
  });

  it.each([{}, { 'accept-encoding': 'gzip' }])(
    'is no longer made when the reader disconnects (%o)',
    async (headers) => {
      const made = { pieces: 0, closed: false };
      const wait = new Promise<void>(() => undefined);
      await open(async () =>
        (async function* () {
          try {
            for (; made.pieces < PIECES; made.pieces += 1) yield randomText();
            await wait;
          } finally {
            made.closed = true;
          }
        })(),
      );

      const answer = await ask(headers);
      answer.once('data', () => answer.destroy());
      await holds(() => made.closed);

      expect(made.pieces).toBeLessThan(PIECES);
    },
  );

  it('ends the connection when it cannot be finished, so that no reader takes a half for a whole', async () => {
    await open(async () =>
      (async function* () {
        yield '{"half":';
        throw new Error('the log became shorter');
      })(),
    );

    const answer = await ask();

    await expect(answer.toArray()).rejects.toThrow('aborted');
  });
});

/** Does not compress, so that the socket fills up with it. */
function randomText(): string {
  return Array.from({ length: 8_192 }, () => Math.random().toString(36).slice(2, 10)).join('');
}
