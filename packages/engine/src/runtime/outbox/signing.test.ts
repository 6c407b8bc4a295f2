import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { newSigningSecret, secretFingerprint, signedHeaders } from './signing.ts';

const secret = newSigningSecret((size) => new Uint8Array(size).fill(0xab));
const headers = signedHeaders({
  webhookId: 'wh_1',
  eventType: 'run.completed',
  body: '{"ä":1}',
  secret,
  now: 1_700_000_000_999,
});

it('signs the time in whole seconds, a dot and the exact body, keyed with the text of the secret', () => {
  const expected = createHmac('sha256', secret).update('1700000000.{"ä":1}').digest('hex');

  expect(headers['x-openwop-timestamp']).toBe('1700000000');
  expect(headers['x-openwop-signature']).toBe(`sha256=${expected}`);
});

it('says everything under the first name and under its twin', () => {
  for (const name of ['webhook-id', 'event-type', 'timestamp', 'signature', 'signature-algorithm']) {
    expect(headers[`openwop-${name}`]).toBe(headers[`x-openwop-${name}`]);
    expect(headers[`openwop-${name}`]).not.toBe(undefined);
  }
  expect(headers['x-openwop-signature-algorithm']).toBe('v1');
});

it('makes secrets of 64 hex characters, and names them by eight others', () => {
  expect(secret).toBe('ab'.repeat(32));
  expect(secretFingerprint(secret)).toMatch(/^[0-9a-f]{8}$/);
});
