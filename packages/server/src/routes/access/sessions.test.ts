import { afterEach, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

let at: Harness;

afterEach(() => at.close());

const CODES = '/v1/host/weft/sessions/codes';
const SESSIONS = '/v1/host/weft/sessions';
const CURRENT = '/v1/host/weft/sessions/current';

async function codeOf(key?: string): Promise<string> {
  const answer = await at.call('POST', CODES, key === undefined ? {} : { key });
  expect(answer.status).toBe(201);
  return String(answer.json['code']);
}

async function signIn(key?: string): Promise<string> {
  const answer = await at.call('POST', SESSIONS, { key: null, body: { code: await codeOf(key) } });
  expect(answer.status).toBe(201);
  return String(answer.json['key']);
}

describe('sign-in by a link', () => {
  it('gives a session with the scopes of the key that asked for the code', async () => {
    at = await openHarness();
    const { key: few } = await at.createKey({ scopes: ['runs:read'] });

    const session = await signIn(few);

    const current = await at.call('GET', CURRENT, { key: session });
    expect(current).toMatchObject({
      status: 200,
      json: { tenant: 'default', principal: 'tester', kind: 'service', scopes: ['runs:read'] },
    });
    expect(Date.parse(String(current.json['expiresAt']))).toBeGreaterThan(Date.now());
    expect(await at.call('GET', '/v1/host/weft/runs', { key: session })).toMatchObject({ status: 200 });
    expect(await at.call('GET', '/v1/host/weft/keys', { key: session })).toMatchObject({
      status: 403,
      json: { details: { scopeRequired: 'keys:manage' } },
    });
  });

  it('says of an API key whose it is', async () => {
    at = await openHarness();

    const { json } = await at.call('GET', CURRENT);

    expect(json).toMatchObject({ tenant: 'default', principal: 'operator' });
    expect(json).not.toHaveProperty('expiresAt');
    expect(await at.call('GET', CURRENT, { key: null })).toMatchObject({ status: 401 });
  });

  it('ends when the person signs out; a key is not ended that way', async () => {
    at = await openHarness();
    const session = await signIn();

    expect(await at.call('DELETE', CURRENT, { key: session })).toMatchObject({ status: 204 });

    expect(await at.call('GET', CURRENT, { key: session })).toMatchObject({
      status: 401,
      json: { error: 'key_revoked' },
    });
    expect(await at.call('DELETE', CURRENT)).toMatchObject({ status: 409 });
    expect(await at.call('GET', CURRENT)).toMatchObject({ status: 200 });
  });

  it('ends with the key behind it', async () => {
    at = await openHarness();
    const { key, keyId } = await at.createKey({ scopes: ['runs:read'] });
    const session = await signIn(key);

    await at.call('DELETE', `/v1/host/weft/keys/${keyId}`);

    expect(await at.call('GET', CURRENT, { key: session })).toMatchObject({ status: 401 });
  });

  it('refuses a code that was used, and one that is none, in the same words (K-9)', async () => {
    at = await openHarness();
    const code = await codeOf();
    await at.call('POST', SESSIONS, { key: null, body: { code } });

    const used = await at.call('POST', SESSIONS, { key: null, body: { code } });
    const guessed = await at.call('POST', SESSIONS, { key: null, body: { code: 'A'.repeat(43) } });

    expect(used).toMatchObject({ status: 403, json: { error: 'sign_in_code_invalid' } });
    expect(guessed.json['message']).toEqual(used.json['message']);
  });

  it.each([
    ['another member', { code: 'x', scopes: ['host:admin'] }],
    ['no code', {}],
    ['a code that is no text', { code: 7 }],
    ['a code without end', { code: 'x'.repeat(129) }],
  ])('refuses a body with %s', async (_, body) => {
    at = await openHarness();

    expect(await at.call('POST', SESSIONS, { key: null, body })).toMatchObject({
      status: 400,
      json: { error: 'validation_error' },
    });
  });

  it('is closed to an address that guesses, with a right code too', async () => {
    at = await openHarness({ failedAttemptsPerMinute: 3 });
    const from = '203.0.113.7';
    const code = await codeOf();
    const guess = () => at.call('POST', SESSIONS, { key: null, from, body: { code: 'B'.repeat(43) } });

    const statuses = [(await guess()).status, (await guess()).status, (await guess()).status];

    expect(statuses).toEqual([403, 403, 429]);
    expect(await at.call('POST', SESSIONS, { key: null, from, body: { code } })).toMatchObject({
      status: 429,
    });
    expect(await at.call('POST', SESSIONS, { key: null, body: { code } })).toMatchObject({ status: 201 });
  });

  it('is refused under a name that is not the host’s own, before the code is looked at (K-12)', async () => {
    at = await openHarness({ allowedHosts: ['weft.example.org'] });
    const code = await codeOf();
    const under = (host: string) =>
      at.call('POST', SESSIONS, { key: null, headers: { host }, body: { code } });

    expect(await under('rebound.example.com')).toMatchObject({
      status: 403,
      json: { error: 'host_not_allowed' },
    });
    expect(await under('weft.example.org:8443')).toMatchObject({ status: 201 });
  });

  it.each([
    ['of another origin', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['of another port of this machine', { origin: 'http://localhost:3000' }],
    ['of an opaque origin', { origin: 'null' }],
    ['of the same site only', { origin: 'http://localhost', 'sec-fetch-site': 'same-site' }],
  ])('is refused to pages %s, which could sign a person in as another (K-13)', async (_, headers) => {
    at = await openHarness();
    const code = await codeOf();

    expect(await at.call('POST', SESSIONS, { key: null, headers, body: { code } })).toMatchObject({
      status: 403,
      json: { error: 'forbidden' },
    });

    const own = { host: 'localhost:80', origin: 'http://localhost', 'sec-fetch-site': 'same-origin' };
    expect(await at.call('POST', SESSIONS, { key: null, headers: own, body: { code } })).toMatchObject({
      status: 201,
    });
  });

  it('takes no form and no plain text, which other sites may send without asking', async () => {
    at = await openHarness();
    const raw = JSON.stringify({ code: await codeOf() });

    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      const answer = await at.call('POST', SESSIONS, { key: null, raw, headers: { 'content-type': type } });
      expect(answer.status).toBe(400);
    }
  });
});
