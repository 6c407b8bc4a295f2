import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

let at: Harness | undefined;

afterEach(async () => {
  await at?.close();
  at = undefined;
});

async function open(options: Parameters<typeof openHarness>[0] = {}): Promise<Harness> {
  at = await openHarness(options);
  return at;
}

async function registered(harness: Harness) {
  const body = { source: 'webhook', workflowId: 'noop' };
  const answer = await harness.call('POST', '/v1/trigger-subscriptions', { body });
  const url = new URL(String(answer.json['binding']?.['ingestUrl']));
  return { answer, path: url.pathname, secret: String(answer.headers['weft-trigger-secret']) };
}

/** Signed here, over the very bytes, and not by what is under test. */
function signed(secret: string, text: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac('sha256', secret).update(`${timestamp}.${text}`).digest('hex');
  return { 'openwop-timestamp': timestamp, 'openwop-signature': `sha256=${signature}` };
}

describe('POST /v1/trigger-subscriptions', () => {
  it('answers with where to deliver, and the secret once, in a header', async () => {
    const { answer, secret } = await registered(await open());

    expect(answer.status).toBe(201);
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(Object.keys(answer.json).sort()).toEqual(['binding', 'subscription']);
    expect(answer.text).not.toContain(secret);
    expect(answer.json['subscription']).toMatchObject({
      source: 'webhook',
      state: 'active',
      dedupEnabled: true,
    });
  });

  it.each([
    [{ source: 'email', workflowId: 'noop' }, 501],
    [{ source: 'webhook', workflowId: 'noop', verification: { mode: 'none' } }, 400],
    [{ source: 'webhook', workflowId: 'nowhere' }, 404],
    [{ source: 'webhook', workflowId: 'noop', extra: 1 }, 400],
    [{ source: 'webhook', workflowId: 'noop', inputMapping: { a: 'body.' } }, 400],
    [{ source: 'webhook', workflowId: 'noop', retryPolicy: { maxAttempts: 0 } }, 400],
  ])('refuses %j with %i', async (body, status) => {
    const harness = await open();

    expect((await harness.call('POST', '/v1/trigger-subscriptions', { body })).status).toBe(status);
  });
});

describe('POST /v1/host/weft/ingest/{triggerId}', () => {
  it('verifies the bytes as they came, blanks and all, and starts one run', async () => {
    const harness = await open();
    const { path, secret } = await registered(harness);
    const text = '{ "hello" :  "wörld" }\n';
    const headers = { 'content-type': 'application/json', ...signed(secret, text) };

    const first = await harness.call('POST', path, { raw: text, headers, key: null });
    const again = await harness.call('POST', path, { raw: text, headers, key: null });

    expect([first.status, again.status]).toEqual([202, 200]);
    expect(again.json).toEqual({ duplicate: true, runId: first.json['runId'] });
  });

  it('answers a wrong signature and an unknown trigger alike, whatever the body is', async () => {
    const harness = await open();
    const { path } = await registered(harness);
    const headers = { 'content-type': 'application/json', ...signed('wrong', '{') };

    const answers = [
      await harness.call('POST', path, { raw: '{', headers, key: null }),
      await harness.call('POST', '/v1/host/weft/ingest/tr_unknown', { raw: '{', headers, key: null }),
    ];

    const [one, other] = answers.map(({ status, json }) => [status, json['error'], json['message']]);
    expect(one).toEqual(other);
    expect(one?.[0]).toBe(401);
  });

  it('refuses what is larger than a delivery may be, before it looks at it', async () => {
    const harness = await open({ maxDeliveryBytes: 1_000 });
    const { path, secret } = await registered(harness);
    const text = JSON.stringify({ long: 'x'.repeat(1_000) });
    const headers = { 'content-type': 'application/json', ...signed(secret, text) };

    expect((await harness.call('POST', path, { raw: text, headers, key: null })).status).toBe(413);
  });
});
