import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../testing/harness.ts';
import { takesGzip } from './content-coding.ts';

describe('an answer', () => {
  let at: Harness;
  beforeAll(async () => {
    at = await openHarness();
  });
  afterAll(() => at.close());

  const get = (url: string, headers: Record<string, string>) =>
    at.app.inject({ url, headers: { authorization: `Bearer ${at.key}`, ...headers } });

  it('is packed for a reader who asks for it, and is the same unpacked', async () => {
    const { runId } = await at.start('noop');
    await at.reaches(runId, 'completed');

    const plain = await get(`/v1/runs/${runId}`, {});
    const packed = await get(`/v1/runs/${runId}`, { 'accept-encoding': 'gzip' });

    expect(plain.headers['content-encoding']).toBeUndefined();
    expect([plain.headers['vary'], packed.headers['vary']]).toEqual(['accept-encoding', 'accept-encoding']);
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(packed.rawPayload).toString()).toBe(plain.payload);
    expect(at.host.capabilities()).toMatchObject({ restTransport: { contentEncodings: ['gzip'] } });
  });

  it('that is short is sent as it is', async () => {
    const { headers } = await get('/v1/runs/unknown', { 'accept-encoding': 'gzip' });

    expect(headers['content-encoding']).toBeUndefined();
  });

  it('is in the one language there is', async () => {
    const { headers, payload } = await get('/v1/runs/unknown', { 'accept-language': 'de-DE, ja;q=0.5' });

    expect(headers['content-language']).toBe('en');
    expect(payload).toContain('not_found');
    expect(at.host.capabilities()).toMatchObject({
      i18n: { supported: true, defaultLocale: 'en', supportedLocales: ['en'] },
    });
  });
});

describe('a body', () => {
  let at: Harness;
  beforeAll(async () => {
    at = await openHarness({ maxRequestBodyBytes: 10_000 });
  });
  afterAll(() => at.close());

  const send = (raw: Buffer, coding: string) =>
    at.call('POST', '/v1/runs', {
      raw,
      headers: { 'content-type': 'application/json', 'content-encoding': coding },
    });

  it('may be packed with gzip', async () => {
    const { status } = await send(gzipSync(JSON.stringify({ workflowId: 'noop' })), 'gzip');

    expect(status).toBe(201);
  });

  it('may be packed in no other way', async () => {
    const { status, json, headers } = await send(Buffer.from('{}'), 'br');

    expect([status, json.error]).toEqual([415, 'unsupported_encoding']);
    expect(headers['accept-encoding']).toBe('gzip, identity');
  });

  it('is not larger unpacked than one that came as it is', async () => {
    const { status, json } = await send(gzipSync(`{"workflowId":"${'x'.repeat(20_000)}"}`), 'gzip');

    expect([status, json.error]).toEqual([413, 'payload_too_large']);
  });
});

describe('Accept-Encoding', () => {
  it.each([
    [undefined, false],
    ['', false],
    ['gzip', true],
    ['deflate, GZIP;q=0.5', true],
    ['gzip;q=0', false],
    ['*', true],
    ['*, gzip;q=0', false],
    ['br', false],
  ])('%s', (header, expected) => {
    expect(takesGzip(header)).toBe(expected);
  });
});
