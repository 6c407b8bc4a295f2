import { describe, expect, expectTypeOf, it } from 'vitest';
import type { ApiPromise } from './api-promise.ts';
import { createClient } from '../client.ts';
import type { RunSummary } from '@weft/protocol/plain';
import type { KeySummary, Listing } from '../documents.ts';
import type { Fetch } from './transport.ts';

function clientAnswering(...answers: readonly object[]) {
  const urls: string[] = [];
  const fetch: Fetch = async (input) => {
    urls.push(String(input));
    return Response.json(answers[Math.min(urls.length, answers.length) - 1], {
      headers: { 'openwop-idempotent-replay': 'true' },
    });
  };
  return { client: createClient({ baseUrl: 'http://host.test', fetch }), urls };
}

describe('a call', () => {
  it('is a promise of its result, and of the response when asked for it', async () => {
    const { client, urls } = clientAnswering({ runId: 'r', status: 'pending' });

    const call = client.runs.create({ workflowId: 'w' });
    const { data, response } = await call.withResponse();

    expect(data).toEqual(await call);
    expect(response.headers.get('openwop-idempotent-replay')).toBe('true');
    expect(urls).toHaveLength(1);
    expectTypeOf(call).toExtend<Promise<{ runId: string }>>();
    expectTypeOf(client.keys.revoke('k')).toEqualTypeOf<ApiPromise<void>>();
  });

  it('has what promises have', async () => {
    const failing = createClient({
      baseUrl: 'http://host.test',
      fetch: () => Promise.reject(new TypeError('fetch failed')),
      maxRetries: 0,
    });
    const ends: string[] = [];

    const name = await failing.discovery().catch((error: unknown) => (error as Error).name);
    await failing
      .discovery()
      .finally(() => ends.push('finally'))
      .catch(() => ends.push('catch'));

    expect(name).toBe('ConnectionError');
    expect(ends).toEqual(['finally', 'catch']);
    expect(await Promise.allSettled([failing.discovery()])).toMatchObject([{ status: 'rejected' }]);
  });
});

describe('a list', () => {
  const PAGES = [
    { runs: [{ runId: 'a' }, { runId: 'b' }], nextCursor: 'c1' },
    { runs: [], nextCursor: 'c2' },
    { runs: [{ runId: 'c' }] },
  ];

  it('is a promise of its first page', async () => {
    const { client, urls } = clientAnswering(...PAGES);

    const page = await client.runs.list({ limit: 2 });

    expect(page).toEqual({ items: [{ runId: 'a' }, { runId: 'b' }], nextCursor: 'c1' });
    expect(urls).toEqual(['http://host.test/v1/host/weft/runs?limit=2']);
    expectTypeOf(page).toEqualTypeOf<Listing<RunSummary>>();
  });

  it('is a loop over the rows of all pages, or over the pages', async () => {
    const { client, urls } = clientAnswering(...PAGES);
    const again = clientAnswering(...PAGES);
    const runs: string[] = [];
    const sizes: number[] = [];

    for await (const { runId } of client.runs.list({ workflowId: 'w' })) runs.push(runId);
    for await (const { items } of again.client.runs.list().pages()) sizes.push(items.length);

    expect([runs, sizes]).toEqual([
      ['a', 'b', 'c'],
      [2, 0, 1],
    ]);
    expect(urls.map((url) => new URL(url).search)).toEqual([
      '?workflowId=w',
      '?workflowId=w&cursor=c1',
      '?workflowId=w&cursor=c2',
    ]);
  });

  it('asks for no further page once the loop is left', async () => {
    const { client, urls } = clientAnswering(...PAGES);

    for await (const { runId } of client.runs.list()) {
      expect(runId).toBe('a');
      break;
    }

    expect(urls).toHaveLength(1);
  });

  it('asks for nothing until it is awaited or looped over', async () => {
    const { client, urls } = clientAnswering(...PAGES);

    const list = client.runs.list();
    expect(urls).toEqual([]);
    await list;
    for await (const _page of list.pages()) break;

    expect(urls).toHaveLength(1);
  });

  it('ends when the host leads back to the same page', async () => {
    const { client, urls } = clientAnswering({ workflows: [{ id: 'w' }], nextCursor: 'c1' });

    for await (const _workflow of client.workflows.list());

    expect(urls).toHaveLength(2);
  });

  it('that comes whole is a promise of all rows, and a loop over them', async () => {
    const { client } = clientAnswering({ keys: [{ keyId: 'k1' }, { keyId: 'k2' }] });
    const ids: string[] = [];

    const keys = await client.keys.list();
    for await (const { keyId } of client.keys.list()) ids.push(keyId);

    expect(keys.map(({ keyId }) => keyId)).toEqual(ids);
    expectTypeOf(keys).toEqualTypeOf<readonly KeySummary[]>();
  });

  it('of an audit log is one of lines', async () => {
    const { client } = clientAnswering(
      { lines: [{ kind: 'entry' }], nextCursor: 'c' },
      { lines: [{ kind: 'seal' }] },
    );
    const kinds: unknown[] = [];

    for await (const { kind } of client.audit.export()) kinds.push(kind);

    expect(kinds).toEqual(['entry', 'seal']);
  });
});
