import { createHash } from 'node:crypto';
import { canonicalJson } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

describe('creating a run', () => {
  let at: Harness;
  beforeAll(async () => {
    at = await openHarness();
  });
  afterAll(() => at.close());

  const create = (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
    at.call('POST', '/v1/runs', {
      raw: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });

  it('answers 201 with absolute URLs', async () => {
    const answer = await create({ workflowId: 'noop' });

    const { runId } = answer.json;
    expect(answer.status).toBe(201);
    expect(answer.json.statusUrl).toBe(`http://127.0.0.1/v1/runs/${runId}`);
    expect(answer.json.eventsUrl).toBe(`http://127.0.0.1/v1/runs/${runId}/events`);
    expect(answer.headers['location']).toBe(answer.json.statusUrl);
  });

  it('is visible at once', async () => {
    const { runId } = await at.start('wait');

    expect((await at.call('GET', `/v1/runs/${runId}`)).json).toMatchObject({ runId, workflowId: 'wait' });
  });

  it('uses the public URL when there is one', async () => {
    const behindProxy = await openHarness({ publicUrl: 'https://api.example/' });
    const { statusUrl } = (await behindProxy.call('POST', '/v1/runs', { body: { workflowId: 'noop' } })).json;
    await behindProxy.close();

    expect(statusUrl).toMatch(/^https:\/\/api\.example\/v1\/runs\//);
  });

  it.each(['evil.example', 'evil.example:8443', 'evil.example/path?', 'a@evil.example', 'x y', ''])(
    'takes no URL from a Host header that is not allowed: %j',
    async (host) => {
      const answer = await create({ workflowId: 'noop' }, { host, 'x-forwarded-host': 'evil.example' });

      expect(answer.status).toBe(201);
      expect(answer.text + JSON.stringify(answer.headers)).not.toContain('evil');
      expect(answer.json.statusUrl).toMatch(/^http:\/\/127\.0\.0\.1\/v1\/runs\//);
    },
  );

  it('takes the URL from a Host header that was allowed, with the scheme that it was allowed with', async () => {
    const allowing = await openHarness({
      allowedHosts: ['Weft.example:8443', 'https://api.example', '[::1]:7878'],
    });
    const origins: string[] = [];
    for (const host of [
      'weft.EXAMPLE:8443',
      'api.example',
      '[::1]:7878',
      'weft.example',
      'evil.api.example',
    ]) {
      const { json } = await allowing.call('POST', '/v1/runs', {
        body: { workflowId: 'noop' },
        headers: { host },
      });
      origins.push(new URL(String(json.statusUrl)).origin);
    }
    await allowing.close();

    expect(origins).toEqual([
      'http://weft.example:8443',
      'https://api.example',
      'http://[::1]:7878',
      'http://127.0.0.1',
      'http://127.0.0.1',
    ]);
  });

  it('of an unknown workflow is 404 that names the field and not the id', async () => {
    const answer = await create({ workflowId: 'canary-eyJhbGciOi' });

    expect([answer.status, answer.json.error]).toEqual([404, 'not_found']);
    expect(answer.json.details?.field).toBe('workflowId');
    expect(answer.text).not.toContain('canary');
  });

  it.each([
    [{}, '', 'the field "workflowId" is missing'],
    [{ workflowId: '' }, 'workflowId'],
    [{ workflowId: 'noop', input: {} }, 'input', 'did you mean "inputs"?'],
    [{ workflowId: 'noop', inputs: [] }, 'inputs'],
    [{ workflowId: 'noop', tags: [''] }, 'tags.0'],
    [{ workflowId: 'noop', tags: Array.from({ length: 101 }, () => 'x') }, 'tags'],
    [{ workflowId: 'noop', configurable: { recursionLimit: 0 } }, 'configurable.recursionLimit'],
    [{ workflowId: 'noop', callbackUrl: 'not a url' }, 'callbackUrl'],
  ])('from %j is 400 that names %s', async (body, field, message = '') => {
    const answer = await create(body);

    expect([answer.status, answer.json.error]).toEqual([400, 'validation_error']);
    expect(answer.json.details?.field).toBe(field);
    expect(answer.json.message).toContain(message);
  });

  it('takes foreign metadata and unknown inputs as they are', async () => {
    const answer = await create({
      workflowId: 'noop',
      inputs: { delaySeconds: 1 },
      metadata: { 'acme.x': { y: 1 } },
    });

    expect(answer.status).toBe(201);
  });

  it('names the inputs that the workflow does not declare, also when it is repeated', async () => {
    const body = { workflowId: 'noop', inputs: { delaySeconds: 1, other: 2 } };

    const plain = await create({ workflowId: 'noop' });
    const first = await create(body, { 'idempotency-key': 'undeclared' });
    const again = await create(body, { 'idempotency-key': 'undeclared' });

    expect(plain.json).not.toHaveProperty('weft');
    expect(first.json.weft).toEqual({ ignoredInputs: ['delaySeconds', 'other'] });
    expect(again.json).toEqual(first.json);
  });

  it('for another tenant is 403, for the own tenant by name fine', async () => {
    const foreign = await create({ workflowId: 'noop', tenantId: 'other', unknown: 1 });
    const own = await create({ workflowId: 'noop', tenantId: 'default' });

    expect([foreign.status, foreign.json.error]).toEqual([403, 'forbidden']);
    expect(own.status).toBe(201);
  });

  it('in mode eval is 501 that names the capability', async () => {
    const answer = await create({ mode: 'eval', evalSuiteRef: 'x', agentId: 'a' });

    expect([answer.status, answer.json.error]).toEqual([501, 'capability_not_provided']);
    expect(answer.json.details?.capability).toBe('agents.evalSuite');
  });

  it('with X-Dedup takes only enforce, and needs a scopeId', async () => {
    const other = await create({ workflowId: 'noop', scopeId: 's' }, { 'x-dedup': 'maybe' });
    const without = await create({ workflowId: 'noop' }, { 'x-dedup': 'enforce' });

    expect([other.status, other.json.details?.field]).toEqual([400, 'X-Dedup']);
    expect([without.status, without.json.details?.field]).toEqual([400, 'scopeId']);
  });

  it('with X-Dedup is refused while a run of the scope is active', async () => {
    const first = await create({ workflowId: 'wait', scopeId: 'order-1' }, { 'x-dedup': 'enforce' });

    const second = await create({ workflowId: 'wait', scopeId: 'order-1' }, { 'x-dedup': 'enforce' });

    expect([second.status, second.json.error]).toEqual([409, 'run_already_active']);
    expect(second.json.details).toMatchObject({ activeRunId: first.json.runId, activeHost: 'cloud' });
    expect(second.headers['retry-after']).toBe(String(second.json.details?.retryAfter));
  });

  it.each(['x', '-1', '1.5', ''])('with X-Force-Engine-Version "%s" is 400', async (version) => {
    const answer = await create({ workflowId: 'noop' }, { 'x-force-engine-version': version });

    expect([answer.status, answer.json.details?.field]).toEqual([400, 'X-Force-Engine-Version']);
  });

  it('with X-Force-Engine-Version outside the range is 400 that names it', async () => {
    const answer = await create({ workflowId: 'noop' }, { 'x-force-engine-version': '999999' });

    expect(answer.json.error).toBe('unsupported_force_engine_version');
    expect(answer.json.details).toHaveProperty('max');
  });

  it('hands a well-formed traceparent on and echoes it', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

    const answer = await create({ workflowId: 'noop' }, { traceparent });

    expect([answer.status, answer.headers['traceparent']]).toEqual([201, traceparent]);
  });
});

describe('an Idempotency-Key', () => {
  let at: Harness;
  beforeAll(async () => {
    at = await openHarness();
  });
  afterAll(() => at.close());

  const create = (key: string, body: Record<string, string> = { workflowId: 'noop' }, as = at.key) =>
    at.call('POST', '/v1/runs', { key: as, body, headers: { 'idempotency-key': key } });

  it('gets the first answer again, marked as a replay, and the first is not marked', async () => {
    const first = await create('once');

    const again = await create('once');

    expect(first.headers['openwop-idempotent-replay']).toBeUndefined();
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers['openwop-idempotent-replay']).toBe('true');
    expect(again.headers['location']).toBe(first.headers['location']);
  });

  it('ten times in parallel makes one run', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => create('parallel')));

    expect(new Set(answers.map((answer) => answer.json.runId)).size).toBe(1);
    expect(
      answers.filter((answer) => answer.headers['openwop-idempotent-replay'] === undefined),
    ).toHaveLength(1);
  });

  it('does not care in which order the members of the body come', async () => {
    const first = await create('order', { workflowId: 'noop', scopeId: 'x' });

    expect((await create('order', { scopeId: 'x', workflowId: 'noop' })).json.runId).toBe(first.json.runId);
  });

  it('with another body is 409', async () => {
    await create('other-body');

    const answer = await create('other-body', { workflowId: 'wait' });

    expect([answer.status, answer.json.error]).toEqual([409, 'idempotency_key_mismatch']);
  });

  it('may be used again after a 400, with the body corrected', async () => {
    expect((await create('fixed', { workflowId: '' })).status).toBe(400);

    expect((await create('fixed')).status).toBe(201);
  });

  it('belongs to its tenant', async () => {
    const mine = await create('shared');

    const theirs = await create('shared', { workflowId: 'noop' }, at.otherTenantKey);

    expect(theirs.status).toBe(201);
    expect(theirs.json.runId).not.toBe(mine.json.runId);
  });

  it.each(['', 'with space', 'ü', 'x'.repeat(256)])('of the form "%s" is 400', async (key) => {
    const answer = await create(key);

    expect([answer.status, answer.json.details?.field]).toEqual([400, 'Idempotency-Key']);
  });

  it('leaves no digest by which what was sent could be guessed', async () => {
    const digests: (string | undefined)[] = [];
    const noted = await openHarness({}, (host) => ({
      ...host,
      runs: {
        ...host.runs,
        create(caller, request, claim) {
          digests.push(claim?.requestDigest);
          return host.runs.create(caller, request, claim);
        },
      },
    }));
    const body = { workflowId: 'noop', inputs: { pin: '471' } };

    for (const key of ['first', 'second'])
      await noted.call('POST', '/v1/runs', { body, headers: { 'idempotency-key': key } });
    await noted.close();

    const bare = createHash('sha256')
      .update(canonicalJson([body]))
      .digest('hex');
    expect(new Set([...digests, bare]).size).toBe(3);
  });

  it('on a read is ignored, whatever it looks like', async () => {
    const { runId } = await at.start('noop');

    const answer = await at.call('GET', `/v1/runs/${runId}`, { headers: { 'idempotency-key': 'a b' } });

    expect(answer.status).toBe(200);
  });

  it('of one run is no key for another: the path is part of the request', async () => {
    const [a, b] = [await at.start('wait'), await at.start('wait')];
    const cancel = (runId: string) =>
      at.call('POST', `/v1/runs/${runId}/cancel`, { headers: { 'idempotency-key': 'cancel-1' } });
    const first = await cancel(a.runId);

    const again = await cancel(a.runId);
    const other = await cancel(b.runId);

    expect([again.text, again.headers['openwop-idempotent-replay']]).toEqual([first.text, 'true']);
    expect(other.json.error).toBe('idempotency_key_mismatch');
  });
});
