import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { Value } from 'typebox/value';
import type { Egress, EgressRequest, NodeFailure } from '../../model/node-type.ts';
import { createEgress } from '../../runtime/egress/egress.ts';
import { buildRequest, isExpected } from './http-request-config.ts';
import { httpRequestNode } from './http-request.ts';
import { sampleEffect } from '../testing/sample-effect-context.ts';
import { failureOf, sampleInput } from '../testing/sample-node-input.ts';
import { NO_STREAMS } from '../../runtime/testing/no-streams.ts';

const request = (config: JsonObject, inputs: JsonObject = {}) =>
  buildRequest(sampleInput(httpRequestNode, { config, inputs }), 'invocation-1');

const refusal = (config: JsonObject) => () => sampleInput(httpRequestNode, { config });

describe('the request of core.http.request', () => {
  it('is a GET that follows redirects and carries the invocation id, unless configured otherwise', () => {
    expect(request({ url: 'https://api.example/x' })).toEqual({
      url: 'https://api.example/x',
      method: 'GET',
      headers: { 'idempotency-key': 'invocation-1' },
      maxResponseBytes: 122_880,
      followRedirects: true,
    });
  });

  it('is overridden by the input ports url, method, headers and body', () => {
    const config = { url: 'https://a.example/', method: 'POST', headers: { A: '1', B: '1' }, body: 'config' };

    const built = request(config, {
      url: 'https://b.example/',
      method: 'put',
      headers: { b: '2' },
      body: { from: 'port' },
    });

    expect(built).toMatchObject({
      url: 'https://b.example/',
      method: 'PUT',
      headers: { a: '1', b: '2', 'content-type': 'application/json' },
      body: '{"from":"port"}',
    });
  });

  it('falls back to config for ports that are null', () => {
    const built = request(
      { url: 'https://a.example/', method: 'POST', body: 'x' },
      { url: null, body: null },
    );

    expect(built).toMatchObject({ url: 'https://a.example/', body: 'x' });
  });

  it('sends strings as text and other JSON as JSON, unless a content type is given', () => {
    const base = { url: 'https://a.example/', method: 'POST' };

    expect(request({ ...base, body: 'x' }).headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(request({ ...base, body: 0 })).toMatchObject({
      body: '0',
      headers: { 'content-type': 'application/json' },
    });
    expect(
      request({ ...base, body: '<a/>', headers: { 'Content-Type': 'text/xml' } }).headers['content-type'],
    ).toBe('text/xml');
    expect(request({ ...base, body: null })).not.toHaveProperty('body');
  });

  it('puts the invocation id where the provider wants it, or nowhere', () => {
    const url = 'https://a.example/';

    expect(request({ url, idempotencyHeader: 'X-Request-Id' }).headers).toEqual({
      'x-request-id': 'invocation-1',
    });
    expect(request({ url, idempotencyHeader: '' }).headers).toEqual({});
    expect(request({ url, headers: { 'Idempotency-Key': 'mine' } }).headers).toEqual({
      'idempotency-key': 'mine',
    });
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['url', {}, {}],
    ['url', { url: 'https://a.example/' }, { url: 7 }],
    ['method', { url: 'https://a.example/' }, { method: 'TRACE' }],
    ['headers', { url: 'https://a.example/' }, { headers: ['x'] }],
    ['headers', { url: 'https://a.example/' }, { headers: { a: 1 } }],
    ['body', { url: 'https://a.example/', body: 'x' }, {}],
  ])('fails with validation_error naming %s when it cannot be built', (field, config, inputs) => {
    const failure = failureOf(() => request(config, inputs));

    expect(failure).toMatchObject({ code: 'validation_error', retryable: false, details: { field } });
  });
});

describe('an attempt of core.http.request', () => {
  it('has a minute, where its settings say nothing', () => {
    expect(httpRequestNode).toMatchObject({ defaultTimeoutMs: 60_000 });
  });
});

describe('the config of core.http.request', () => {
  it('refuses URLs and headers that can never be sent, without repeating the URL', () => {
    expect(refusal({ url: 'ftp://a.example/' })).toThrow(/^\/url: /);
    expect(refusal({ url: 'nonsense secret' })).toThrow(/^\/url: /);
    expect(refusal({ url: 'nonsense secret' })).not.toThrow('secret');
    expect(refusal({ headers: { Host: 'x' } })).toThrow(/^\/headers\/Host: /);
    expect(refusal({ idempotencyHeader: 'Content-Length' })).toThrow(/^\/idempotencyHeader: /);
  });

  it.each<JsonObject>([
    { method: 'TRACE' },
    { headers: { a: 1 } },
    { maxResponseBytes: 1_048_577 },
    { maxResponseBytes: 0 },
    { expectStatus: '3xx' },
    { expectStatus: [99] },
    { expectStatus: [] },
    { idempotencyHeader: 'a b' },
    { timeoutMs: 1000 },
  ])('does not fit its schema: %j', (config) => {
    expect(Value.Check(httpRequestNode.config, { url: 'https://a.example/', ...config })).toBe(false);
  });

  it('expects 2xx, or exactly the listed statuses', () => {
    expect([199, 200, 299, 300].map((status) => isExpected({}, status))).toEqual([false, true, true, false]);
    expect(isExpected({ expectStatus: '2xx' }, 204)).toBe(true);
    expect(isExpected({ expectStatus: [404] }, 404)).toBe(true);
    expect(isExpected({ expectStatus: [404] }, 200)).toBe(false);
  });
});

describe('the trace of core.http.request', () => {
  /** The headers that reach the receiver. */
  async function headersSent(config: JsonObject, traceparent?: string): Promise<EgressRequest['headers']> {
    const sent: EgressRequest[] = [];
    const egress: Egress = {
      ...NO_STREAMS,
      async fetch(outgoing) {
        sent.push(outgoing);
        return { status: 200, headers: {}, body: new Uint8Array() };
      },
    };
    await httpRequestNode.perform(sampleInput(httpRequestNode, { config }), {
      ...sampleEffect({ egress }).context,
      traceparent,
    });
    return sent[0]?.headers ?? {};
  }

  const url = 'https://api.example/x';
  const ours = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;

  it('goes out as traceparent, unless there is none or the workflow sends its own', async () => {
    expect(await headersSent({ url }, ours)).toMatchObject({ traceparent: ours });
    expect(await headersSent({ url })).not.toHaveProperty('traceparent');
    expect(await headersSent({ url, headers: { Traceparent: 'theirs' } }, ours)).toMatchObject({
      traceparent: 'theirs',
    });
  });
});

describe('what core.http.request says of a sensitive request', () => {
  const lines: string[] = [];
  const egress = createEgress({
    allow: [],
    resolve: () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })),
    connectTimeoutMs: 1000,
    log: (...line) => lines.push(JSON.stringify(line)),
  });
  const hidden = { url: '[REDACTED]', headers: '[REDACTED]' };
  const saidOf = async (inputs: JsonObject, shownInputs?: JsonObject): Promise<string> => {
    const input = { ...sampleInput(httpRequestNode, { config: {}, inputs }), shownInputs };
    const failure = await httpRequestNode.perform(input, sampleEffect({ egress }).context).then(
      () => undefined,
      (error: unknown) => error as NodeFailure,
    );
    return JSON.stringify([failure?.code, failure?.message, failure?.details, ...lines.splice(0)]);
  };

  it.each<[string, JsonObject]>([
    ['a name', { url: 'http://Canary.invalid/' }],
    ['a name in another alphabet', { url: 'http://Canäry.invalid/' }],
    ['an address in another spelling', { url: 'http://0x7f000001:4711/' }],
    ['a header', { url: 'https://api.example/', headers: { 'Canary é': 'x' } }],
    ['a header without a text', { url: 'https://api.example/', headers: { Canary: 4711 } }],
  ])('does not hold %s, which is not spelled there as it was given', async (_, inputs) => {
    const spelling = /canary|xn--|127\.0\.0\.1|4711/i;

    expect(await saidOf(inputs, { ...inputs, ...hidden })).not.toMatch(spelling);
    expect(await saidOf(inputs)).toMatch(spelling);
  });

  it('names the receiver when only other parts are sensitive', async () => {
    const inputs = { url: 'http://127.0.0.1:4711/', method: 'POST', body: 'x' };

    expect(await saidOf(inputs, { ...inputs, body: '[REDACTED]' })).toContain('127.0.0.1:4711');
  });

  it('is that the receiver answered with an unexpected status, not who it is', async () => {
    const answering: Egress = {
      ...NO_STREAMS,
      fetch: async () => ({ status: 500, headers: {}, body: new Uint8Array() }),
    };
    const inputs = { url: 'http://Canary.invalid/' };
    const input = { ...sampleInput(httpRequestNode, { config: {}, inputs }), shownInputs: { url: 'x' } };

    await expect(
      httpRequestNode.perform(input, sampleEffect({ egress: answering }).context),
    ).rejects.toMatchObject({
      code: 'http_status',
      message: expect.stringContaining('[REDACTED] answered with status 500'),
      details: { status: 500, destination: '[REDACTED]' },
    });
  });
});
