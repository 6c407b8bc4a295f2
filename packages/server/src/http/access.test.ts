import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../testing/harness.ts';

/** Every route that needs a key: its scope, and how it is asked. `{run}` stands for a run of the asking tenant. */
const GUARDED = [
  ['GET', '/v1/workflows/noop', 'manifest:read'],
  ['POST', '/v1/runs', 'runs:create'],
  ['GET', '/v1/runs/{run}', 'runs:read'],
  ['GET', '/v1/runs/{run}/events', 'runs:read'],
  ['GET', '/v1/runs/{run}/events/poll', 'runs:read'],
  ['POST', '/v1/runs/{run}/cancel', 'runs:cancel'],
  ['POST', '/v1/runs/{run}:cancel', 'runs:cancel'],
  ['POST', '/v1/runs/{run}:pause', 'runs:cancel'],
  ['POST', '/v1/runs/{run}:resume', 'runs:cancel'],
  ['POST', '/v1/runs:bulk-cancel', 'runs:cancel'],
  ['POST', '/v1/host/weft/workflows', 'workflows:write'],
  ['GET', '/v1/host/weft/workflows', 'manifest:read'],
  ['GET', '/v1/host/weft/workflows/noop', 'manifest:read'],
  ['POST', '/v1/host/weft/workflows:check', 'manifest:read'],
  ['GET', '/v1/host/weft/runs', 'runs:read'],
  ['GET', '/v1/host/weft/runs/{run}/why', 'runs:read'],
  ['GET', '/v1/runs/{run}/artifacts/some', 'artifacts:read'],
  ['GET', '/v1/host/weft/runs/{run}/artifacts', 'artifacts:read'],
  ['POST', '/v1/host/weft/secrets', 'secrets:manage'],
  ['GET', '/v1/host/weft/secrets', 'secrets:manage'],
  ['DELETE', '/v1/host/weft/secrets/some', 'secrets:manage'],
  ['POST', '/v1/host/weft/keys', 'keys:manage'],
  ['GET', '/v1/host/weft/keys', 'keys:manage'],
  ['DELETE', '/v1/host/weft/keys/some-key', 'keys:manage'],
  ['POST', '/v1/host/weft/link-keys:rotate', 'host:admin'],
] as const;

const OF_RUN = GUARDED.filter(([, path]) => path.includes('{run}'));

describe('access', () => {
  let at: Harness;
  let run: string;
  beforeAll(async () => {
    at = await openHarness();
    run = (await at.start('wait')).runId;
  });
  afterAll(() => at.close());

  const fill = (path: string, runId = run) => path.replace('{run}', runId);

  it.each(GUARDED)('%s %s without a key is 401', async (method, path) => {
    const answer = await at.call(method, fill(path), { key: null, body: {} });

    expect([answer.status, answer.json.error]).toEqual([401, 'unauthenticated']);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  it.each(GUARDED)('%s %s with an unknown key is 401 and does not repeat the key', async (method, path) => {
    const answer = await at.call(method, fill(path), { key: 'weft_live_canary123', body: {} });

    expect([answer.status, answer.json.error]).toEqual([401, 'unauthenticated']);
    expect(answer.text).not.toContain('canary');
  });

  it.each(GUARDED)('%s %s with every scope but the one is 403 that names it', async (method, path, scope) => {
    const key = await at.keyWithout(scope);

    const answer = await at.call(method, fill(path), { key, body: {} });

    expect([answer.status, answer.json.error]).toEqual([403, 'forbidden']);
    expect(answer.json.details).toEqual({ scopeRequired: scope });
  });

  it.each(OF_RUN)('%s %s of an unknown run is 404, also with a body that is wrong', async (method, path) => {
    const plain = await at.call(method, fill(path, 'no-such-run'), {
      body: method === 'GET' ? undefined : {},
    });
    const wrong = await at.call(method, `${fill(path, 'no-such-run')}?bufferMs=x&timeout=x&streamMode=x`, {
      ...(method === 'GET' ? {} : { raw: '{', headers: { 'content-type': 'application/json' } }),
    });

    expect([plain.status, plain.json.error]).toEqual([404, 'not_found']);
    expect([wrong.status, wrong.json.error]).toEqual([404, 'not_found']);
    expect(plain.text).not.toContain('no-such-run');
  });

  it.each(OF_RUN)('%s %s of another tenant’s run looks exactly like an unknown one', async (method, path) => {
    const body = method === 'GET' ? undefined : {};

    const foreign = await at.call(method, fill(path), { key: at.otherTenantKey, body });
    const unknown = await at.call(method, fill(path, 'no-such-run'), { key: at.otherTenantKey, body });

    expect(foreign.status).toBe(404);
    expect(foreign.text).toBe(unknown.text);
  });

  it.each(['Basic abc', 'Bearer', 'Bearer ', 'Bearer a b', 'bearer\tx', 'token'])(
    'with "Authorization: %s" is 401',
    async (authorization) => {
      const answer = await at.call('GET', `/v1/runs/${run}`, { key: null, headers: { authorization } });

      expect([answer.status, answer.json.error]).toEqual([401, 'unauthenticated']);
    },
  );

  it('takes the scheme in any case', async () => {
    const answer = await at.call('GET', `/v1/runs/${run}`, {
      key: null,
      headers: { authorization: `bearer ${at.key}` },
    });

    expect(answer.status).toBe(200);
  });

  it('says of a revoked and of an expired key what it is', async () => {
    const revoked = await at.createKey({ scopes: ['runs:read'] });
    await at.call('DELETE', `/v1/host/weft/keys/${revoked.keyId}`);
    const expired = await at.createKey({
      scopes: ['runs:read'],
      expiresAt: new Date(Date.now() + 50).toISOString(),
    });

    await expect
      .poll(async () => (await at.call('GET', `/v1/runs/${run}`, { key: revoked.key })).json.error, {
        timeout: 5000,
      })
      .toBe('key_revoked');
    await expect
      .poll(async () => (await at.call('GET', `/v1/runs/${run}`, { key: expired.key })).json.error, {
        timeout: 5000,
      })
      .toBe('key_expired');
  });

  it('is refused for speed before it is refused for scope', async () => {
    const limited = await openHarness({ rateLimit: { burst: 1, perSecond: 0.001 } });
    const key = await limited.keyWithout('runs:read');
    const first = await limited.call('GET', '/v1/runs/x', { key });

    const second = await limited.call('GET', '/v1/runs/x', { key });

    expect(first.status).toBe(403);
    expect([second.status, second.json.error]).toEqual([429, 'rate_limited']);
    expect(Number(second.headers['retry-after'])).toBeGreaterThan(0);
    expect(second.json.details).toMatchObject({
      scope: 'key',
      retryAfterSeconds: Number(second.headers['retry-after']),
    });
    expect((await limited.call('GET', '/.well-known/openwop', { key })).status).toBe(200);
    await limited.close();
  });
});

describe('a host at capacity', () => {
  it('refuses new runs with a time to come back, and serves reads and cancels', async () => {
    let overloaded = false;
    const at = await openHarness({}, (host) => ({
      ...host,
      operations: {
        ...host.operations,
        overload: () => (overloaded ? { retryAfter: 2.2, cause: 'too many waiting writes' } : undefined),
      },
    }));
    const { runId } = await at.start('wait');
    overloaded = true;

    const refused = await at.call('POST', '/v1/runs', { body: { workflowId: 'noop' } });

    expect([refused.status, refused.json.error]).toEqual([503, 'service_unavailable']);
    expect(refused.headers['retry-after']).toBe('3');
    expect(refused.json.details).toMatchObject({
      retryAfter: 3,
      correlationId: refused.headers['x-request-id'],
    });
    expect((await at.call('GET', `/v1/runs/${runId}`)).status).toBe(200);
    expect((await at.call('POST', `/v1/runs/${runId}/cancel`)).status).toBe(200);
    await at.close();
  });
});

describe('an unexpected failure', () => {
  it('is 500 with a correlation id, and its text stays in the host', async () => {
    const logged: { level: string; fields: object }[] = [];
    const at = await openHarness(
      {},
      (host) => ({
        ...host,
        runs: { ...host.runs, snapshot: () => Promise.reject(new Error('canary: password=1')) },
      }),
      (level, fields) => logged.push({ level, fields }),
    );

    const answer = await at.call('GET', '/v1/runs/x', { headers: { 'x-request-id': 'abc' } });

    expect([answer.status, answer.json.error, answer.json.details]).toEqual([
      500,
      'internal_error',
      { correlationId: 'abc' },
    ]);
    expect(answer.text).not.toContain('canary');
    expect(logged).toMatchObject([{ level: 'error', fields: { requestId: 'abc', errorName: 'Error' } }]);
    await at.close();
  });

  it('is not written to the log where a client asked for what the host does not offer', async () => {
    const logged: object[] = [];
    const at = await openHarness({}, undefined, (_, fields) => logged.push(fields));

    const answer = await at.call('POST', '/v1/runs', { body: { mode: 'eval' } });

    expect([answer.status, answer.json.error]).toEqual([501, 'capability_not_provided']);
    expect(logged).toEqual([]);
    await at.close();
  });
});
