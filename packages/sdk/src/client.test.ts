import { describe, expect, it, vi } from 'vitest';
import { createClient } from './client.ts';
import { type OpenInterrupt, nodeNameOf, openInterruptsOf } from './documents.ts';
import { ApiError, ConnectionError } from './requests/errors.ts';
import type { Fetch } from './requests/transport.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

function clientAnswering(answer: () => Response | Promise<Response>): {
  client: ReturnType<typeof createClient>;
  seen: Seen[];
} {
  const seen: Seen[] = [];
  const fetch: Fetch = async (input, init) => {
    seen.push({
      method: init?.method ?? 'GET',
      url: String(input),
      headers: init?.headers as Record<string, string>,
      body: typeof init?.body === 'string' ? JSON.parse(init.body) : undefined,
    });
    return answer();
  };
  const options = { baseUrl: 'http://host.test/', apiKey: 'weft_test_k', fetch, maxRetries: 0 };
  return { client: createClient(options), seen };
}

describe('the client', () => {
  it('creates a run with the key, the idempotency key and the dedup header', async () => {
    const { client, seen } = clientAnswering(() =>
      Response.json(
        { runId: 'r1', status: 'pending', eventsUrl: 'http://host.test/v1/runs/r1/events' },
        { status: 201 },
      ),
    );

    const run = await client.runs.create(
      { workflowId: 'w', inputs: { a: 1 } },
      { idempotencyKey: 'once', exclusiveScope: true },
    );

    expect(run.runId).toBe('r1');
    expect(seen).toEqual([
      {
        method: 'POST',
        url: 'http://host.test/v1/runs',
        headers: {
          accept: 'application/json',
          authorization: 'Bearer weft_test_k',
          'content-type': 'application/json',
          'idempotency-key': 'once',
          'x-dedup': 'enforce',
        },
        body: { workflowId: 'w', inputs: { a: 1 } },
      },
    ]);
  });

  it('asks the host to wait for a run, and gives it the time', async () => {
    vi.useFakeTimers();
    const late = () => new Promise<Response>((resolve) => setTimeout(resolve, 59_000, Response.json({})));
    const { client, seen } = clientAnswering(late);

    const waiting = Promise.all([
      client.runs.create({ workflowId: 'w' }, { waitSeconds: 60 }),
      client.runs.get('r1', { waitSeconds: 60 }),
    ]);
    await vi.advanceTimersByTimeAsync(59_000);
    vi.useRealTimers();
    await waiting;

    expect(seen.map(({ headers }) => headers['prefer'])).toEqual(['wait=60', 'wait=60']);
  });

  it('puts colon verbs behind the encoded id and keeps the idempotency key out of the body', async () => {
    const { client, seen } = clientAnswering(() =>
      Response.json({ runId: 'a/b', status: 'paused' }, { status: 202 }),
    );

    await client.runs.pause('a/b', { drainPolicy: 'immediate', idempotencyKey: 'k' });

    expect(seen[0]?.url).toBe('http://host.test/v1/runs/a%2Fb:pause');
    expect(seen[0]?.body).toEqual({ drainPolicy: 'immediate' });
  });

  it('answers a question under the encoded name of its node', async () => {
    const { client, seen } = clientAnswering(() =>
      Response.json({ runId: 'r1', nodeId: 'gate[2]', status: 'running' }),
    );

    const answer = await client.runs.resolve(
      'r1',
      'gate[2]',
      { action: 'accept' },
      { idempotencyKey: 'once' },
    );

    expect(answer.status).toBe('running');
    expect(seen[0]).toMatchObject({
      method: 'POST',
      url: 'http://host.test/v1/runs/r1/interrupts/gate%5B2%5D',
      headers: { 'idempotency-key': 'once' },
      body: { resumeValue: { action: 'accept' } },
    });
  });

  it('lists open questions page after page, also past a page without any', async () => {
    const pages = [
      { interrupts: [{ nodeId: 'a' }], nextCursor: 'c1' },
      { interrupts: [], nextCursor: 'c2' },
      { interrupts: [{ nodeId: 'b' }, { nodeId: 'c' }] },
    ];
    const { client, seen } = clientAnswering(() => Response.json(pages[seen.length - 1]));

    const found: string[] = [];
    for await (const question of client.interrupts.list({ limit: 2 })) found.push(question.nodeId);

    expect(found).toEqual(['a', 'b', 'c']);
    expect(seen.map(({ url }) => new URL(url).search)).toEqual([
      '?limit=2',
      '?limit=2&cursor=c1',
      '?limit=2&cursor=c2',
    ]);
  });

  it('asks for no further page of questions once the loop is left', async () => {
    const { client, seen } = clientAnswering(() =>
      Response.json({ interrupts: [{ nodeId: 'a' }], nextCursor: 'more' }),
    );

    for await (const question of client.interrupts.list()) {
      expect(question.nodeId).toBe('a');
      break;
    }

    expect(seen).toHaveLength(1);
  });

  it('sends only the filters that are set', async () => {
    const { client, seen } = clientAnswering(() => Response.json({ runs: [] }));

    await client.runs.list({ status: ['failed', 'cancelled'], limit: 5 });

    const query = new URL(seen[0]?.url ?? '').searchParams;
    expect(Object.fromEntries(query)).toEqual({ status: 'failed,cancelled', limit: '5' });
  });

  it('throws what the host said as an ApiError', async () => {
    const { client } = clientAnswering(() =>
      Response.json(
        { error: 'rate_limited', message: 'Too many requests.', details: { scope: 'key' } },
        { status: 429, headers: { 'retry-after': '7', 'x-request-id': 'req-1' } },
      ),
    );

    const error = await client.runs.get('r').catch((cause: unknown) => cause);

    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 429,
      code: 'rate_limited',
      message: 'Too many requests.',
      details: { scope: 'key' },
      requestId: 'req-1',
      retryAfter: 7,
    });
  });

  it('distinguishes an answer that is not the protocol’s from an error of the host', async () => {
    const { client } = clientAnswering(() => new Response('<html>', { status: 502 }));

    const error = await client.discovery().catch((cause: unknown) => cause);

    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ url: 'http://host.test', message: expect.stringContaining('not JSON') });
  });

  it('names the URL when nothing answers', async () => {
    const { client } = clientAnswering(() => {
      throw new TypeError('fetch failed', {
        cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
      });
    });

    const error = await client.discovery().catch((cause: unknown) => cause);

    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ message: expect.stringMatching(/refused.*http:\/\/host\.test/i) });
  });

  it('finds the questions of a run, whether there is one or several', () => {
    const question = { runId: 'r', nodeId: 'gate', iteration: [2, 0] } as unknown as OpenInterrupt;
    const run = { runId: 'r', workflowId: 'w', status: 'waiting-approval' } as const;

    expect(openInterruptsOf(run)).toEqual([]);
    expect(openInterruptsOf({ ...run, interrupt: question })).toEqual([question]);
    expect(openInterruptsOf({ ...run, interrupt: question, interrupts: [question, question] })).toHaveLength(
      2,
    );
    expect(nodeNameOf(question)).toBe('gate[2][0]');
  });

  it('refuses a base URL that is not one', () => {
    expect(() => createClient({ baseUrl: 'localhost:7878' })).toThrow(/http:\/\//);
    expect(() => createClient({ baseUrl: 'nonsense' })).toThrow(/absolute URL/);
  });
});
