import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Client, createClient } from '../client.ts';
import { ConnectionError } from './errors.ts';
import { parseRetryAfter } from './retry.ts';
import type { ClientOptions, Fetch } from './transport.ts';

const WHOLE_PAUSE = 1;

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
  vi.spyOn(Math, 'random').mockReturnValue(WHOLE_PAUSE);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

interface Sent {
  /** Milliseconds after the first one. */
  readonly at: number;
  readonly key: string | null;
}

/** A client whose attempts are answered in this order, the last answer again and again. */
function clientWith(answers: readonly (() => Response)[], options: ClientOptions = {}) {
  const sent: Sent[] = [];
  const started = Date.now();
  const fetch: Fetch = async (_input, init) => {
    sent.push({ at: Date.now() - started, key: new Headers(init?.headers).get('idempotency-key') });
    const answer = answers[Math.min(sent.length, answers.length) - 1];
    if (answer === undefined) throw new Error('no answer is left');
    return answer();
  };
  return { client: createClient({ baseUrl: 'http://host.test', fetch, ...options }), sent };
}

const ok = () => Response.json({ runId: 'r', status: 'running' });
const answering =
  (status: number, headers: Record<string, string> = {}, error = 'some_code') =>
  () =>
    Response.json({ error, message: 'No.' }, { status, headers });
const refusing = (): Response => {
  throw new TypeError('fetch failed');
};

/** What became of the call, with every pause over. */
async function outcome(call: PromiseLike<unknown>): Promise<unknown> {
  const settled = Promise.resolve(call).catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  return settled;
}

describe('a request that is safe to repeat', () => {
  it.each([408, 429, 502, 503, 504])('is sent again after %i', async (status) => {
    const { client, sent } = clientWith([answering(status), ok]);

    expect(await outcome(client.runs.get('r'))).toMatchObject({ runId: 'r' });
    expect(sent).toHaveLength(2);
  });

  it.each<[string, () => Response]>([
    ['a connection that cannot be made', refusing],
    ['an answer that breaks off', () => new Response(brokenBody())],
    ['an error page of a proxy', () => new Response('<html>', { status: 502 })],
  ])('is sent again after %s', async (_, answer) => {
    const { client, sent } = clientWith([answer, ok]);

    expect(await outcome(client.runs.get('r'))).toMatchObject({ runId: 'r' });
    expect(sent).toHaveLength(2);
  });

  it.each<[string, () => Response]>([
    ['400', answering(400)],
    ['404', answering(404)],
    ['409', answering(409)],
    ['500', answering(500)],
    ['a page that is not a host’s', () => new Response('<html>')],
  ])('is not sent again after %s', async (_, answer) => {
    const { client, sent } = clientWith([answer]);

    expect(await outcome(client.runs.get('r'))).toBeInstanceOf(Error);
    expect(sent).toHaveLength(1);
  });

  it('is sent again after pauses that double', async () => {
    const { client, sent } = clientWith([answering(503)], { maxRetries: 6 });

    expect(await outcome(client.runs.get('r'))).toMatchObject({ status: 503 });
    expect(sent.map(({ at }) => at)).toEqual([0, 500, 1500, 3500, 7500, 15_500, 23_500]);
  });

  it.each([
    ['3', 3_000],
    [new Date(Date.UTC(2026, 0, 1, 0, 0, 7)).toUTCString(), 7_000],
    ['86400', 60_000],
  ])('is sent again after the pause that the host asked for: %s', async (retryAfter, pause) => {
    const { client, sent } = clientWith([answering(429, { 'retry-after': retryAfter }), ok]);

    await outcome(client.runs.get('r'));

    expect(sent.map(({ at }) => at)).toEqual([0, pause]);
  });

  it('is sent three times at most, and as often as the client says', async () => {
    const usual = clientWith([refusing]);
    const never = clientWith([refusing], { maxRetries: 0 });

    expect(await outcome(usual.client.discovery())).toBeInstanceOf(ConnectionError);
    expect(await outcome(never.client.discovery())).toBeInstanceOf(ConnectionError);
    expect(await outcome(usual.client.withOptions({ maxRetries: 0 }).discovery())).toBeInstanceOf(Error);

    expect([usual.sent.length, never.sent.length]).toEqual([3 + 1, 1]);
  });

  it('is not sent again once its signal is aborted', async () => {
    const leaving = new AbortController();
    const { client, sent } = clientWith([answering(503)], { signal: leaving.signal });

    const call = client.runs.get('r').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(100);
    leaving.abort(new Error('enough'));

    expect(await call).toMatchObject({ message: 'enough' });
    expect(sent).toHaveLength(1);
  });
});

describe('a write', () => {
  it('is repeated under the key of its first attempt, and a new call has a new one', async () => {
    const { client, sent } = clientWith([refusing, ok]);

    await outcome(client.runs.create({ workflowId: 'w' }));
    await outcome(client.runs.create({ workflowId: 'w' }));

    const [first, second, other] = sent.map(({ key }) => key);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(second).toBe(first);
    expect(other).not.toBe(first);
  });

  it('that is sent once has no key but the one it was given', async () => {
    const { client, sent } = clientWith([ok], { maxRetries: 0 });

    await outcome(client.runs.cancel('r'));
    await outcome(client.runs.cancel('r', { idempotencyKey: 'mine' }));

    expect(sent.map(({ key }) => key)).toEqual([null, 'mine']);
  });

  it('is repeated while its first attempt is still carried out', async () => {
    const inFlight = answering(409, { 'retry-after': '1' }, 'idempotency_in_flight');
    const { client, sent } = clientWith([refusing, inFlight, ok]);

    expect(await outcome(client.runs.cancel('r'))).toMatchObject({ runId: 'r' });
    expect(sent).toHaveLength(3);
  });

  it.each<[string, (client: Client) => PromiseLike<unknown>]>([
    ['takes no key', (client) => client.workflows.check({})],
    ['shows a key once', (client) => client.keys.create({ principal: 'p', scopes: [] })],
    ['shows a secret once', (client) => client.webhooks.register({ url: 'https://x.test', events: ['*'] })],
  ])('is sent once when it %s', async (_, call) => {
    const { client, sent } = clientWith([refusing]);

    expect(await outcome(call(client))).toBeInstanceOf(ConnectionError);
    expect(sent).toHaveLength(1);
  });
});

describe('a timeout', () => {
  /** Never answers; ends as fetch does when its signal is aborted. */
  const silent: Fetch = (_input, init) =>
    new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
    });

  it('ends each attempt', async () => {
    const client = createClient({
      baseUrl: 'http://host.test',
      fetch: silent,
      timeoutMs: 2_000,
      maxRetries: 1,
    });
    const started = Date.now();

    const error = await outcome(client.discovery());

    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ message: expect.stringContaining('within 2 s') });
    expect(Date.now() - started).toBe(2_000 + 500 + 2_000);
  });

  it('leaves room for an answer that the host keeps back', async () => {
    const client = createClient({ baseUrl: 'http://host.test', fetch: silent, maxRetries: 0 });
    const started = Date.now();

    await outcome(client.runs.poll('r', { timeoutSeconds: 30 }));

    expect(Date.now() - started).toBe(90_000);
  });

  it('is over for a stream that has begun', async () => {
    let signal: AbortSignal | null | undefined;
    const fetch: Fetch = async (_input, init) => {
      signal = init?.signal;
      return new Response('text');
    };

    await createClient({ baseUrl: 'http://host.test', fetch, timeoutMs: 1 }).artifacts.open('r', 'a');
    await vi.advanceTimersByTimeAsync(1_000);

    expect(signal?.aborted).toBe(false);
  });
});

describe('Retry-After', () => {
  it.each([
    [null, undefined],
    ['soon', undefined],
    ['12', 12],
    [new Date(Date.UTC(2025, 0, 1)).toUTCString(), 0],
  ])('%s is read as %s seconds', (header, seconds) => {
    expect(parseRetryAfter(header)).toBe(seconds);
  });
});

function brokenBody(): ReadableStream {
  return new ReadableStream({
    pull(controller) {
      controller.error(new TypeError('terminated'));
    },
  });
}
