import { operationOf, ROUTES } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../testing/harness.ts';

describe('paths', () => {
  let at: Harness;
  beforeAll(async () => {
    at = await openHarness();
  });
  afterAll(() => at.close());

  it('with a verb that runs do not have are 404, and the message names the verb', async () => {
    const { runId } = await at.start('noop');

    const answer = await at.call('POST', `/v1/runs/${runId}:frobnicate`, { body: {} });

    expect([answer.status, answer.json.error]).toEqual([404, 'not_found']);
    expect(String(answer.json.message)).toContain('":frobnicate"');
  });

  it.each(['/', '/runs', '/runs/abc', '/v2/runs', '/v1x', '/workflows/noop'])(
    'outside /v1 are 400, as %s',
    async (path) => {
      const answer = await at.call('GET', path, { key: null });

      expect([answer.status, answer.json.error]).toEqual([400, 'validation_error']);
    },
  );

  it.each(['/v1', '/v1/', '/v1/nothing', '/v1/runs/a/b/c/d', '/v1/interrupts', '/.well-known/other'])(
    'under /v1 that nothing serves are 404, as %s',
    async (path) => {
      const answer = await at.call('GET', path);

      expect([answer.status, answer.json.error]).toEqual([404, 'not_found']);
    },
  );

  it('under /v1/packs are 404 in plain text, so that no client takes them for a registry', async () => {
    for (const path of ['/v1/packs', '/v1/packs/-/search?q=a', '/v1/packs/core.x']) {
      const answer = await at.call('GET', path, { key: null });

      expect(answer.status).toBe(404);
      expect(answer.headers['content-type']).toContain('text/plain');
      expect(() => JSON.parse(answer.text)).toThrow();
    }
  });

  it.each(ROUTES.map((route) => [operationOf(route), route] as const))(
    'of the table are served: %s',
    (_name, route) => {
      const url = route.path.replace(/\{\w+\}/g, 'some-id');

      expect(at.app.findRoute({ method: route.method, url })).not.toBeNull();
    },
  );

  it.each([
    ['DELETE', '/v1/runs', 'POST'],
    ['PUT', '/v1/webhooks/x', 'DELETE'],
    ['POST', '/.well-known/openwop', 'GET, HEAD'],
  ] as const)(
    'asked with a method they do not have are 405 and name those they have: %s %s',
    async (...of) => {
      const [method, path, allow] = of;

      const answer = await at.call(method, path);

      expect([answer.status, answer.json.error]).toEqual([405, 'method_not_allowed']);
      expect(answer.headers['allow']).toBe(allow);
    },
  );

  it('answer HEAD as GET, without a body', async () => {
    const { runId } = await at.start('noop');
    await at.reaches(runId, 'completed');
    const headers = { authorization: `Bearer ${at.key}` };

    for (const url of ['/.well-known/openwop', `/v1/runs/${runId}`, '/v1/workflows/noop']) {
      const get = await at.app.inject({ method: 'GET', url, headers });
      const head = await at.app.inject({ method: 'HEAD', url, headers });
      expect([head.statusCode, head.payload], url).toEqual([get.statusCode, '']);
      for (const name of ['content-type', 'content-length', 'etag'])
        expect(head.headers[name], `${name} of ${url}`).toBe(get.headers[name]);
    }
    const stream = await at.app.inject({ method: 'HEAD', url: `/v1/runs/${runId}/events`, headers });
    expect([stream.statusCode, stream.headers['content-type']]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    const unknown = await at.app.inject({ method: 'HEAD', url: '/v1/runs/unknown', headers });
    expect(unknown.statusCode).toBe(404);
  });

  it.each([
    ['GET', '/v1/host/workspace/files/a/b', 'workspace'],
    ['GET', '/v1/content/pages/home', 'content'],
  ] as const)('of what hosts may leave out are 501: %s %s', async (method, path, capability) => {
    const answer = await at.call(method, path);

    expect([answer.status, answer.json.error]).toEqual([501, 'capability_not_provided']);
    expect(answer.json.details?.capability).toBe(capability);
  });

  it('take colon verbs inside the segment and know no others', async () => {
    const { runId } = await at.start('wait');

    expect((await at.call('POST', `/v1/runs/${runId}:pause`)).status).toBe(202);
    expect((await at.call('POST', `/v1/runs/${runId}:resume`)).status).toBe(202);
    expect((await at.call('POST', `/v1/runs/${runId}:explode`)).status).toBe(404);
    expect((await at.call('POST', `/v1/runs/${runId}:`)).status).toBe(404);
    expect((await at.call('POST', `/v1/runs/${runId}:pause/x`)).status).toBe(404);
    expect((await at.call('GET', `/v1/runs/${runId}:pause`)).status).toBe(404);

    const other = (await at.start('wait')).runId;
    expect((await at.call('POST', `/v1/runs/${other}:cancel`)).json).toEqual({
      runId: other,
      status: 'cancelled',
    });
  });

  it('take ids in percent-encoding', async () => {
    const { runId } = await at.start('wait');
    const encoded = [...runId].map((c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');

    expect((await at.call('GET', `/v1/runs/${encoded}`)).json.runId).toBe(runId);
    expect((await at.call('POST', `/v1/runs/${encoded}:pause`)).status).toBe(202);
    expect((await at.call('POST', `/v1/runs/${encoded}/cancel`)).status).toBe(200);
  });

  it('that cannot be decoded are 400, and ids without end are 404', async () => {
    expect((await at.call('GET', '/v1/runs/%zz')).json.error).toBe('validation_error');
    expect((await at.call('GET', `/v1/runs/${'x'.repeat(129)}`)).json.error).toBe('not_found');
    expect((await at.call('GET', `/v1/runs/${'x'.repeat(5000)}`)).json.error).toBe('not_found');
  });
});

describe('every answer', () => {
  let at: Harness;
  beforeAll(async () => {
    at = await openHarness();
  });
  afterAll(() => at.close());

  it('carries the client’s request id when it is harmless, and one of ours otherwise', async () => {
    const own = await at.call('GET', '/health', { headers: { 'x-request-id': 'order-17/a' } });
    const none = await at.call('GET', '/health');
    const bad = await at.call('GET', '/health', { headers: { 'x-request-id': 'a b"c' } });
    const long = await at.call('GET', '/health', { headers: { 'x-request-id': 'x'.repeat(129) } });

    expect(own.headers['x-request-id']).toBe('order-17/a');
    expect(none.headers['x-request-id']).toMatch(/^[\w-]{8,}$/);
    expect(bad.headers['x-request-id']).not.toContain(' ');
    expect(String(long.headers['x-request-id']).length).toBeLessThan(129);
  });

  it('echoes a well-formed traceparent and ignores a broken one', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

    expect((await at.call('GET', '/health', { headers: { traceparent } })).headers['traceparent']).toBe(
      traceparent,
    );
    expect(
      (await at.call('GET', '/health', { headers: { traceparent: '00-x' } })).headers['traceparent'],
    ).toBeUndefined();
  });

  it('is not sniffed, and not stored unless it says so', async () => {
    const { runId } = await at.start('noop');
    const poll = await at.call('GET', `/v1/runs/${runId}/events/poll`);
    const snapshot = await at.call('GET', `/v1/runs/${runId}`);

    expect(poll.headers['x-content-type-options']).toBe('nosniff');
    expect(poll.headers['cache-control']).toBe('no-store');
    expect(snapshot.headers['cache-control']).toBe('private, no-cache');
    expect((await at.call('GET', '/v1/nothing')).headers['cache-control']).toBe('no-store');
  });
});

describe('bodies', () => {
  let at: Harness;
  beforeAll(async () => {
    at = await openHarness({ maxRequestBodyBytes: 2_000 });
  });
  afterAll(() => at.close());

  const post = (payload: string | Buffer, type = 'application/json') =>
    at.call('POST', '/v1/runs', { raw: payload, headers: { 'content-type': type } });

  it('of another type than JSON are 400 that name the header', async () => {
    const answer = await post('workflowId=noop', 'application/x-www-form-urlencoded');

    expect([answer.status, answer.json.details?.field]).toEqual([400, 'Content-Type']);
  });

  it('are JSON with or without a charset', async () => {
    expect((await post('{"workflowId":"noop"}', 'application/json; charset=utf-8')).status).toBe(201);
  });

  it.each([
    '{"workflowId":"noop","workflowId":"noop"}',
    '{',
    '',
    '[]',
    'null',
    '"noop"',
    '{"workflowId":"\\ud800"}',
  ])('that are no I-JSON object are 400: %s', async (text) => {
    expect((await post(text)).json.error).toBe('validation_error');
  });

  it('that are not UTF-8 are 400', async () => {
    expect((await post(Buffer.from([0x7b, 0xff, 0x7d]))).json.error).toBe('validation_error');
  });

  it('above the limit are 413 with the limit and what came', async () => {
    const answer = await post(JSON.stringify({ workflowId: 'x'.repeat(3_000) }));

    expect([answer.status, answer.json.error]).toEqual([413, 'payload_too_large']);
    expect(answer.json.details).toMatchObject({ maxRequestBodyBytes: 2_000, limit: 2_000, observed: 3_017 });
  });

  it('keep __proto__ as an ordinary key', async () => {
    const answer = await post('{"workflowId":"noop","__proto__":{"tags":["x"]}}');

    expect(answer.json.error).toBe('validation_error');
  });
});
