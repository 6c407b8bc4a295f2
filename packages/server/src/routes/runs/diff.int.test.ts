import { get, type IncomingMessage } from 'node:http';
import type { EventDifference, Host } from '@weft/engine';
import { afterEach, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../../start-server.ts';
import { type Harness, openHarness } from '../../testing/harness.ts';

let at: Harness;
let server: RunningServer;
const seen = { made: 0, isClosed: false };

/** More differences than any socket buffer takes, counted as they are made. */
async function* endless(): AsyncGenerator<EventDifference> {
  const aEvent = JSON.stringify({ payload: 'x'.repeat(20_000) });
  try {
    for (let seq = 0; ; seq += 1) {
      seen.made += 1;
      yield { seq, op: 'removed', aEvent };
    }
  } finally {
    seen.isClosed = true;
  }
}

async function open(diff: Host['runs']['diff']): Promise<void> {
  Object.assign(seen, { made: 0, isClosed: false });
  at = await openHarness({}, (host): Host => ({ ...host, runs: { ...host.runs, diff } }));
  server = await startServer(at.app, { host: '127.0.0.1', port: 0, graceMs: 200 });
}

afterEach(async () => {
  await server.shutdown();
  await at.close();
});

function ask(): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${at.key}` };
    get(`${server.url}/v1/runs/a:diff?against=b`, { headers }, resolve).on('error', reject);
  });
}

const LONG: Host['runs']['diff'] = async () => ({
  a: 'a',
  b: 'b',
  divergedAtSeq: 0,
  stateDiff: {},
  truncated: false,
  differences: endless(),
});

/** Resolves when the number of differences made has stopped growing. */
async function standstill(): Promise<number> {
  let last = -1;
  await expect
    .poll(
      () => {
        const isStill = seen.made > 0 && seen.made === last;
        last = seen.made;
        return isStill;
      },
      { interval: 200, timeout: 20_000 },
    )
    .toBe(true);
  return seen.made;
}

describe('a long diff', () => {
  it('is made no faster than its reader takes it, and not at all once the reader has left', async () => {
    await open(LONG);
    const response = await ask();

    const made = await standstill();
    response.destroy();
    await expect.poll(() => seen.isClosed, { timeout: 10_000 }).toBe(true);

    expect(made).toBeLessThan(5_000);
    expect(seen.made - made).toBeLessThan(5);
  });

  it('ends with the host', async () => {
    await open(LONG);
    const response = await ask();
    response.on('error', () => undefined);
    await standstill();

    await server.shutdown();

    await expect.poll(() => seen.isClosed, { timeout: 10_000 }).toBe(true);
  });

  it('whose first difference has no reader left is no longer looked for', async () => {
    let signal: AbortSignal | undefined;
    await open(
      (_caller, _a, _b, given) =>
        new Promise((_resolve, reject) => {
          signal = given;
          given.addEventListener('abort', () => reject(new Error('stopped')));
        }),
    );
    const request = get(`${server.url}/v1/runs/a:diff?against=b`, {
      headers: { authorization: `Bearer ${at.key}` },
    });
    request.on('error', () => undefined);
    await expect.poll(() => signal !== undefined, { timeout: 10_000 }).toBe(true);

    request.destroy();

    await expect.poll(() => signal?.aborted, { timeout: 10_000 }).toBe(true);
  });
});
