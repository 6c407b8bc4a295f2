import { createHmac, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../start-server.ts';
import { type Harness, openHarness } from '../../testing/harness.ts';

const IDENTITY = '/v1/host/weft/identity';
const NONCE = 'abcdefghijklmnop';
const secret = randomBytes(32);

let at: Harness;
beforeAll(async () => {
  at = await openHarness({ identity: secret });
});
afterAll(() => at.close());

const proof = (nonce: string, address = '', port = 0): string =>
  createHmac('sha256', secret).update(`weft identity v1\n${nonce}\n${address}\n${port}`).digest('base64url');

describe('GET /v1/host/weft/identity', () => {
  it('proves that the host knows the secret of its folder, without a key, for this nonce alone', async () => {
    const answer = await at.call('GET', `${IDENTITY}?nonce=${NONCE}`, { key: null });
    const other = await at.call('GET', `${IDENTITY}?nonce=${NONCE}x`, { key: null });

    expect([answer.status, answer.json['hmac']]).toEqual([200, proof(NONCE)]);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(other.json['hmac']).not.toBe(answer.json['hmac']);
  });

  it.each([
    '',
    '?nonce=',
    '?nonce=short',
    `?nonce=${'x'.repeat(129)}`,
    '?nonce=abcdefghijklmno%0A',
    `?nonce=${NONCE}&nonce=${NONCE}`,
  ])('refuses what is no nonce: %j', async (query) => {
    const answer = await at.call('GET', `${IDENTITY}${query}`, { key: null });

    expect([answer.status, answer.json['details']]).toEqual([400, { field: 'nonce' }]);
  });

  it('says so where the host has no folder', async () => {
    const bare = await openHarness();

    const answer = await bare.call('GET', `${IDENTITY}?nonce=${NONCE}`, { key: null });
    await bare.close();

    expect([answer.status, answer.json['error']]).toEqual([404, 'not_found']);
  });
});

describe('the proof', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1', '127.0.0.1'],
    ['::', '127.0.0.1', '127.0.0.1'],
    ['::', '[::1]', '::1'],
  ])('is for the address that was reached: bound to %s, reached at %s', async (bind, reached, address) => {
    const own = await openHarness({ identity: secret });
    const server = await startServer(own.app, { host: bind, port: 0, graceMs: 200 });

    const answer = await fetch(`http://${reached}:${server.port}${IDENTITY}?nonce=${NONCE}`, {
      headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-for': '10.0.0.1' },
    });

    expect(await answer.json()).toEqual({ hmac: proof(NONCE, address, server.port) });
    await server.shutdown();
    await own.close();
  });
});
