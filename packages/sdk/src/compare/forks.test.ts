import { describe, expect, it } from 'vitest';
import { createClient } from '../client.ts';
import type { Fetch } from '../requests/transport.ts';

interface Seen {
  readonly url: string;
  readonly key: string | undefined;
  readonly body: unknown;
}

function clientAnswering(answer: unknown) {
  const seen: Seen[] = [];
  const fetch: Fetch = async (input, init) => {
    seen.push({
      url: String(input),
      key: new Headers(init?.headers).get('idempotency-key') ?? undefined,
      body: typeof init?.body === 'string' ? JSON.parse(init.body) : undefined,
    });
    return Response.json(answer);
  };
  return { client: createClient({ baseUrl: 'http://host.test', fetch }), seen };
}

interface Fact {
  readonly type: string;
  readonly nodeId?: string;
  readonly payload?: object;
}

function clientWithLog(facts: readonly Fact[]) {
  const events = facts.map((fact, sequence) => ({ sequence, payload: {}, ...fact }));
  return clientAnswering({ events, isComplete: true }).client;
}

const started = (nodeId: string, attempt = 0): Fact => ({
  type: 'node.started',
  nodeId,
  payload: { attempt },
});
const completed = (nodeId: string): Fact => ({ type: 'node.completed', nodeId });
const failed = (nodeId: string, code = 'broken', more: object = {}): Fact => ({
  type: 'node.failed',
  nodeId,
  payload: { error: { code, message: 'It broke.' }, ...more },
});
const runFailed = (code: string, failedNodeId?: string): Fact => ({
  type: 'run.failed',
  payload: { error: { code, message: 'It broke.' }, ...(failedNodeId !== undefined && { failedNodeId }) },
});

describe('forking a run', () => {
  it('uses the protocol’s own operation where it suffices, and the host’s for the rest', async () => {
    const { client, seen } = clientAnswering({ runId: 'f' });

    await client.runs.fork('a/1', { mode: 'branch', fromSeq: 3 }, { idempotencyKey: 'once' });
    await client.runs.fork('a/1', { mode: 'branch', fromSeq: 3, values: { x: 1 } });

    expect(seen).toEqual([
      { url: 'http://host.test/v1/runs/a%2F1:fork', key: 'once', body: { mode: 'branch', fromSeq: 3 } },
      {
        url: 'http://host.test/v1/host/weft/runs/a%2F1:fork',
        key: expect.stringMatching(/^[0-9a-f]{32}$/),
        body: { mode: 'branch', fromSeq: 3, values: { x: 1 } },
      },
    ]);
  });

  it('asks for ancestry and for earlier states', async () => {
    const { client, seen } = clientAnswering({});

    await client.runs.ancestry('r');
    await client.runs.stateAt('r', 7);
    await client.runs.stateAt('r');

    expect(seen.map(({ url }) => url)).toEqual([
      'http://host.test/v1/runs/r/ancestry',
      'http://host.test/v1/host/weft/runs/r/state?at=7',
      'http://host.test/v1/host/weft/runs/r/state',
    ]);
  });
});

describe('the failed visit of a run', () => {
  it('begins at its first attempt', async () => {
    const client = clientWithLog([
      { type: 'run.started' },
      started('call'),
      { type: 'node.retried', nodeId: 'call' },
      started('call', 1),
      failed('call'),
      runFailed('broken', 'call'),
    ]);

    expect(await client.runs.failedVisit('r')).toEqual({
      node: 'call',
      code: 'broken',
      message: 'It broke.',
      failedSeq: 4,
      startedSeq: 1,
    });
  });

  it('is the last round of a cycle, not the first', async () => {
    const client = clientWithLog([
      started('call'),
      completed('call'),
      started('call'),
      failed('call'),
      runFailed('broken', 'call'),
    ]);

    expect(await client.runs.failedVisit('r')).toMatchObject({ startedSeq: 2, failedSeq: 3 });
  });

  it('is that of the node the run names, although another failed later', async () => {
    const client = clientWithLog([
      started('a'),
      started('b'),
      failed('a'),
      failed('b', 'other'),
      runFailed('broken', 'a'),
    ]);

    expect(await client.runs.failedVisit('r')).toMatchObject({ node: 'a', startedSeq: 0 });
  });

  it('is named with its place in a loop', async () => {
    const iteration = [2];
    const client = clientWithLog([
      { type: 'node.started', nodeId: 'work', payload: { iteration: [1] } },
      { type: 'node.started', nodeId: 'work', payload: { iteration } },
      failed('work', 'broken', { iteration }),
      runFailed('broken'),
    ]);

    expect(await client.runs.failedVisit('r')).toMatchObject({ node: 'work[2]', startedSeq: 1 });
  });

  it('is undefined when the run failed for another reason than a node', async () => {
    const tolerated = clientWithLog([started('a'), failed('a'), runFailed('run_timeout')]);
    const capped = clientWithLog([started('a'), failed('a'), runFailed('recursion_limit', 'b')]);

    expect(await tolerated.runs.failedVisit('r')).toBeUndefined();
    expect(await capped.runs.failedVisit('r')).toBeUndefined();
  });
});
