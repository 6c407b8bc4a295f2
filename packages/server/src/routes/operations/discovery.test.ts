import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

describe('discovery', () => {
  let at: Harness;
  beforeAll(async () => {
    at = await openHarness();
  });
  afterAll(() => at.close());

  it('answers without a key, and just the same with a wrong one', async () => {
    const open = await at.call('GET', '/.well-known/openwop', { key: null });
    const wrong = await at.call('GET', '/.well-known/openwop', { key: 'weft_live_nonsense' });

    expect(open.status).toBe(200);
    expect(open.headers['cache-control']).toBe('public, max-age=300');
    expect(wrong.text).toBe(open.text);
  });

  it('has a strong validator under both names, and 304 for a client that has it', async () => {
    const first = await at.call('GET', '/.well-known/openwop');
    const etag = String(first.headers['etag']);

    const again = await at.call('GET', '/.well-known/openwop', {
      headers: { 'if-none-match': `"x", ${etag}` },
    });
    const weak = await at.call('GET', '/.well-known/openwop', { headers: { 'if-none-match': `W/${etag}` } });

    expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
    expect(first.headers['capabilities-etag']).toBe(etag);
    expect([again.status, again.text, again.headers['etag']]).toEqual([304, '', etag]);
    expect(weak.status).toBe(304);
  });

  it('serves an OpenAPI document of 3.1 or later whose servers have no version in them', async () => {
    const answer = await at.call('GET', '/v1/openapi.json', { key: null });

    expect(answer.json.openapi).toMatch(/^3\.[1-9]/);
    expect(JSON.stringify(answer.json.servers ?? [])).not.toContain('/v1');
  });

  it.each(['/v1/openapi.json', '/v1/asyncapi.json', '/v1/openwop.proto', '/v1/schemas/run-snapshot.json'])(
    'serves %s without a key, to be kept for a while and revalidated',
    async (path) => {
      const first = await at.call('GET', path, { key: null });
      const again = await at.call('GET', path, {
        key: null,
        headers: { 'if-none-match': String(first.headers['etag']) },
      });

      expect(first.status).toBe(200);
      expect(first.headers['cache-control']).toBe('public, max-age=300');
      expect([again.status, again.text]).toEqual([304, '']);
    },
  );

  it('has no schema under a name that there is not', async () => {
    for (const name of ['nonsense', 'toString', 'run-snapshot.json'])
      expect((await at.call('GET', `/v1/schemas/${name}.json`, { key: null })).status).toBe(404);
  });

  it('lives and is ready without a key', async () => {
    expect((await at.call('GET', '/health', { key: null })).json).toEqual({ status: 'ok' });
    expect((await at.call('GET', '/ready', { key: null })).json).toEqual({ status: 'ready' });
  });
});
