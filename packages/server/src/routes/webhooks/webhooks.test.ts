import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

let at: Harness;
beforeAll(async () => {
  at = await openHarness();
});
afterAll(() => at.close());

const BODY = { url: 'https://hooks.example.org/weft?k=1', events: ['run.completed'] };
const register = (body: Record<string, string | string[]> = BODY, headers: Record<string, string> = {}) =>
  at.call('POST', '/v1/webhooks', { body, headers });

describe('POST /v1/webhooks', () => {
  it('registers and shows the secret this once', async () => {
    const { status, json } = await register();

    expect(status).toBe(201);
    expect(json.secret).toMatch(/^[0-9a-f]{64}$/);
    expect(json).toMatchObject({ webhookId: expect.any(String), signatureAlgorithm: 'v1' });
    expect(json).not.toHaveProperty('replayed');
    const list = await at.call('GET', '/v1/host/weft/webhooks');
    expect(list.text).toContain(String(json.webhookId));
    expect(list.text).not.toContain(String(json.secret));
  });

  it('answers a repeat with everything but the secret', async () => {
    const first = await register(BODY, { 'idempotency-key': 'hook-1' });
    const again = await register(BODY, { 'idempotency-key': 'hook-1' });
    const other = await register({ ...BODY, events: ['*'] }, { 'idempotency-key': 'hook-1' });

    expect([again.status, again.headers['openwop-idempotent-replay']]).toEqual([201, 'true']);
    expect(again.json.webhookId).toEqual(first.json.webhookId);
    expect(again.json).not.toHaveProperty('secret');
    expect(other.json.error).toBe('idempotency_key_mismatch');
  });

  it.each<[Record<string, string | string[]>, string]>([
    [{ ...BODY, url: 'no url' }, 'url'],
    [{ ...BODY, events: [] }, 'events'],
    [{ ...BODY, events: ['run.exploded'] }, 'events[0]'],
    [{ ...BODY, secret: 'mine' }, 'secret'],
  ])('refuses %j with 400 and names the field', async (body, field) => {
    const { status, json } = await register(body);

    expect([status, json.error]).toEqual([400, 'validation_error']);
    expect(json.details?.field).toBe(field);
  });

  it.each(['http://hooks.example.org/', 'https://169.254.169.254/', 'https://localhost/'])(
    'refuses to deliver to %s',
    async (url) => {
      const { status, json } = await register({ ...BODY, url });

      expect([status, json.error, json.details?.field]).toEqual([400, 'webhook_url_rejected', 'url']);
    },
  );

  it('refuses another tenant with 403, and a key without the scope', async () => {
    const foreign = await register({ ...BODY, tenantId: 'other' });
    const own = await register({ ...BODY, tenantId: 'default' });
    const key = await at.keyWithout('webhooks:manage');
    const unscoped = await at.call('POST', '/v1/webhooks', { body: BODY, key });

    expect([foreign.status, own.status, unscoped.status]).toEqual([403, 201, 403]);
    expect(unscoped.json.details?.scopeRequired).toBe('webhooks:manage');
  });
});

describe('DELETE /v1/webhooks/{id}', () => {
  it('removes once, and knows nothing of other tenants’ webhooks', async () => {
    const { json } = await register();
    const path = `/v1/webhooks/${String(json.webhookId)}`;

    const byOther = await at.call('DELETE', path, { key: at.otherTenantKey });
    const foreign = await at.call('DELETE', `${path}?tenantId=other`);
    const removed = await at.call('DELETE', `${path}?tenantId=default`);
    const again = await at.call('DELETE', path);

    expect([byOther.status, foreign.status, removed.status, again.status]).toEqual([404, 403, 204, 404]);
  });

  it('of an unknown id is 404, also without tenantId', async () => {
    expect((await at.call('DELETE', '/v1/webhooks/no-such-webhook')).status).toBe(404);
  });
});

describe('the rest of it', () => {
  it('advertises webhooks with their signature', async () => {
    const { json } = await at.call('GET', '/.well-known/openwop');

    expect(json.webhooks).toMatchObject({ supported: true, signatureAlgorithms: ['v1'], durable: true });
    expect(json.capabilities?.webhooks).toEqual(json.webhooks);
  });

  it('shows the secret of callbacks, the same every time, another one for another tenant', async () => {
    const path = '/v1/host/weft/callback-secret';

    const [first, again] = [await at.call('GET', path), await at.call('GET', path)];
    const other = await at.call('GET', path, { key: at.otherTenantKey });

    expect(again.text).toBe(first.text);
    expect(other.json.secret).not.toEqual(first.json.secret);
  });

  it('refuses a run whose callbackUrl is not public', async () => {
    const { status, json } = await at.call('POST', '/v1/runs', {
      body: { workflowId: 'gate', callbackUrl: 'https://localhost/cb' },
    });

    expect([status, json.error, json.details?.field]).toEqual([400, 'validation_error', 'callbackUrl']);
  });
});
