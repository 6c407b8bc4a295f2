import type { JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NOOP } from '../testing/definitions.ts';
import { type Harness, openHarness } from '../testing/harness.ts';

let at: Harness;
beforeAll(async () => {
  at = await openHarness();
});
afterAll(() => at.close());

describe('workflows', () => {
  it('are registered once: 201, the same again 200, other content under the same version 409', async () => {
    const fresh: JsonObject = { ...NOOP, id: 'fresh' };
    const register = (body: JsonObject) => at.call('POST', '/v1/host/weft/workflows', { body });

    const first = await register(fresh);
    const again = await register(fresh);
    const other = await register({ ...fresh, name: 'Other' });

    expect([first.status, first.json.created]).toEqual([201, true]);
    expect([again.status, again.json.created]).toEqual([200, false]);
    expect(other.json.error).toBe('workflow_version_exists');
  });

  it('registered with an Idempotency-Key get the first answer again', async () => {
    const body: JsonObject = { ...NOOP, id: 'keyed' };
    const register = () =>
      at.call('POST', '/v1/host/weft/workflows', { body, headers: { 'idempotency-key': 'register-1' } });

    const first = await register();
    const again = await register();

    expect([first.status, again.status]).toEqual([201, 201]);
    expect([again.text, again.headers['openwop-idempotent-replay']]).toEqual([first.text, 'true']);
  });

  it('are read as they were registered, by id and by version', async () => {
    const current = await at.call('GET', '/v1/workflows/noop');
    const version = await at.call('GET', '/v1/host/weft/workflows/noop?version=1.0');
    const none = await at.call('GET', '/v1/host/weft/workflows/noop?version=9');

    expect(JSON.parse(current.text)).toEqual(NOOP);
    expect(version.text).toBe(current.text);
    expect(none.json.error).toBe('not_found');
    expect((await at.call('GET', '/v1/workflows/canary-unknown')).text).not.toContain('canary');
  });

  it('are listed page by page', async () => {
    const seen: string[] = [];
    let cursor = '';
    do {
      const { json } = await at.call('GET', `/v1/host/weft/workflows?limit=2${cursor}`);
      seen.push(...(json.workflows as unknown as { id: string }[]).map((row) => row.id));
      cursor = json.nextCursor === undefined ? '' : `&cursor=${encodeURIComponent(String(json.nextCursor))}`;
    } while (cursor !== '');

    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(['noop', 'wait', 'fail', 'steps']));
  });

  it('are checked without being registered, every problem at once', async () => {
    const broken = { ...NOOP, id: 'broken', nodes: [{ id: 'x', typeId: 'no.such.type' }] };

    const report = await at.call('POST', '/v1/host/weft/workflows:check', { body: broken });
    const good = await at.call('POST', '/v1/host/weft/workflows:check', { body: NOOP });

    expect(report.json.ok).toBe(false);
    expect((report.json.errors as unknown as unknown[]).length).toBeGreaterThan(0);
    expect(good.json).toMatchObject({ ok: true, errors: [] });
    expect((await at.call('GET', '/v1/workflows/broken')).status).toBe(404);
  });

  it('with an unsupported trigger are taken with a warning, and refused when strict', async () => {
    const scheduled = {
      ...NOOP,
      id: 'scheduled',
      triggers: [{ id: 't', type: 'schedule', enabled: true, config: {} }],
    };

    const strict = await at.call('POST', '/v1/host/weft/workflows?strict=true', { body: scheduled });
    const lax = await at.call('POST', '/v1/host/weft/workflows', { body: scheduled });

    expect(strict.json.error).toBe('validation_error');
    expect(lax.status).toBe(201);
    expect((lax.json.warnings as unknown as unknown[]).length).toBe(1);
  });

  it('without a body are 400', async () => {
    expect((await at.call('POST', '/v1/host/weft/workflows')).json.error).toBe('validation_error');
    expect((await at.call('POST', '/v1/host/weft/workflows:check')).json.error).toBe('validation_error');
  });
});

describe('the list of runs', () => {
  const ids = async (query: string) => {
    const { json } = await at.call('GET', `/v1/host/weft/runs?${query}`);
    return (json.runs as unknown as { runId: string }[]).map((row) => row.runId);
  };

  it('is filtered by status, workflow, tag and time, newest first', async () => {
    const done = await at.start('noop', { tags: ['red'] });
    await at.reaches(done.runId, 'completed');
    const waiting = await at.start('wait', { tags: ['red', 'blue'] });
    const soon = encodeURIComponent(new Date(Date.now() + 60_000).toISOString());

    expect(await ids('tag=red')).toEqual([waiting.runId, done.runId]);
    expect(await ids('tag=red&status=completed')).toEqual([done.runId]);
    expect(await ids('tag=red&status=completed&status=running')).toHaveLength(2);
    expect(await ids('tag=red&status=completed,running&workflowId=wait')).toEqual([waiting.runId]);
    expect(await ids(`tag=red&since=${soon}`)).toEqual([]);
    expect(await ids(`tag=red&until=${soon}`)).toHaveLength(2);
    expect(await ids('tag=red&limit=1')).toEqual([waiting.runId]);
  });

  it('never shows another tenant’s runs', async () => {
    await at.call('POST', '/v1/runs', {
      key: at.otherTenantKey,
      body: { workflowId: 'wait', tags: ['secret'] },
    });

    expect(await ids('tag=secret')).toEqual([]);
  });

  it.each(['status=done', 'since=yesterday', 'limit=0', 'limit=501', 'cursor=nonsense'])(
    'with %s is 400',
    async (query) => {
      expect((await at.call('GET', `/v1/host/weft/runs?${query}`)).json.error).toBe('validation_error');
    },
  );

  it('takes cancelling, which no ended run and no untouched run is', async () => {
    await at.start('wait');

    expect((await at.call('GET', '/v1/host/weft/runs?status=cancelling')).json.runs).toEqual([]);
  });

  it('explains what a run waits for', async () => {
    const { runId } = await at.start('wait');
    await at.reaches(runId, 'running');

    const { json } = await at.call('GET', `/v1/host/weft/runs/${runId}/why`);

    expect(json).toMatchObject({ runId, waitingFor: 'timer', nodeId: 'wait' });
  });
});

describe('keys', () => {
  it('are shown when created and never again, nor is their hash', async () => {
    const created = await at.call('POST', '/v1/host/weft/keys', {
      body: { principal: 'ci', kind: 'service', scopes: ['runs:read'], label: 'ci' },
    });

    const list = await at.call('GET', '/v1/host/weft/keys');

    expect(created.status).toBe(201);
    expect(list.text).toContain(String(created.json.keyId));
    expect(list.text).not.toContain(String(created.json.key));
    expect(list.text).not.toContain('hash');
  });

  it('are made once per Idempotency-Key, and the repeat does not show the key again', async () => {
    const create = () =>
      at.app.inject({
        method: 'POST',
        url: '/v1/host/weft/keys',
        headers: { authorization: `Bearer ${at.key}`, 'idempotency-key': 'key-1' },
        payload: { principal: 'once', kind: 'service', scopes: ['runs:read'] },
      });
    const first = await create();

    const again = await create();

    expect([first.statusCode, again.statusCode]).toEqual([201, 201]);
    expect(again.headers['openwop-idempotent-replay']).toBe('true');
    expect(again.json()).toEqual({ ...first.json(), key: undefined });
    expect(again.payload).not.toContain(first.json().key);
  });

  it('grant only what their maker has', async () => {
    const weak = await at.createKey({ scopes: ['keys:manage', 'runs:read'] });

    const answer = await at.call('POST', '/v1/host/weft/keys', {
      key: weak.key,
      body: { principal: 'x', kind: 'service', scopes: ['runs:create'] },
    });

    expect([answer.status, answer.json.details]).toEqual([403, { scopeRequired: 'runs:create' }]);
  });

  it.each([
    {},
    { principal: 'x', kind: 'robot', scopes: ['runs:read'] },
    { principal: 'x', kind: 'user', scopes: [] },
  ])('from %j are 400', async (body) => {
    expect((await at.call('POST', '/v1/host/weft/keys', { body })).json.error).toBe('validation_error');
  });

  it('are revoked once with 204; an unknown one is 404', async () => {
    const { keyId } = await at.createKey({ scopes: ['runs:read'] });

    expect((await at.call('DELETE', `/v1/host/weft/keys/${keyId}`)).status).toBe(204);
    expect((await at.call('DELETE', '/v1/host/weft/keys/unknown')).json.error).toBe('not_found');
  });

  it('of another tenant can be neither seen nor revoked', async () => {
    const { keyId } = await at.createKey({ scopes: ['runs:read'] });

    const list = await at.call('GET', '/v1/host/weft/keys', { key: at.otherTenantKey });
    const revoked = await at.call('DELETE', `/v1/host/weft/keys/${keyId}`, { key: at.otherTenantKey });

    expect(list.text).not.toContain(keyId);
    expect(revoked.status).toBe(404);
  });
});

describe('counters', () => {
  it('are for administrators of the host', async () => {
    const limited = await at.keyWithout('host:admin');

    const shown = await at.call('GET', '/v1/host/weft/stats');
    const hidden = await at.call('GET', '/v1/host/weft/stats', { key: limited });

    expect(Number(shown.json.commits)).toBeGreaterThan(0);
    expect(hidden.json.error).toBe('forbidden');
  });
});
