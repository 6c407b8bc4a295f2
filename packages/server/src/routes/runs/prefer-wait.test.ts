import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

let at: Harness;
beforeAll(async () => {
  at = await openHarness({ maxPollsPerTenant: 1 });
});
afterAll(() => at.close());

const create = (workflowId: string, prefer: string, headers: Record<string, string> = {}, key = at.key) =>
  at.call('POST', '/v1/runs', { body: { workflowId }, headers: { prefer, ...headers }, key });

async function runs(): Promise<number> {
  const { json } = await at.call('GET', '/v1/host/weft/runs?limit=200');
  return (json['runs'] as unknown as unknown[]).length;
}

async function lastEventOf(runId: unknown): Promise<unknown> {
  const { json } = await at.call('GET', `/v1/runs/${String(runId)}/events/poll?timeout=1`);
  return (json['events'] as unknown as unknown[]).at(-1);
}

describe('a run that is created and waited for', () => {
  it.each([
    ['noop', 'completed', 'run.completed'],
    ['fail', 'failed', 'run.failed'],
  ])('answers when %s has ended, with the last event as the log has it', async (workflowId, status, type) => {
    const answer = await create(workflowId, 'wait=30');

    expect([answer.status, answer.headers['preference-applied']]).toEqual([201, 'wait=30']);
    expect(answer.json).toMatchObject({ status, weft: { lastEvent: { type } } });
    expect(answer.json['weft']?.['lastEvent']).toEqual(await lastEventOf(answer.json['runId']));
    expect(answer.headers['location']).toBe(answer.json['statusUrl']);
  });

  it('answers when it waits for a person', async () => {
    const { json } = await create('gate', 'wait=30');

    expect(json).toMatchObject({
      status: 'waiting-approval',
      weft: { lastEvent: { type: 'approval.requested', nodeId: 'gate' } },
    });
  });

  it('answers when the time is over, as if no one had waited', async () => {
    const { status, headers, json } = await create('wait', 'wait=1');

    expect([status, headers['preference-applied'], json['weft']]).toEqual([201, 'wait=1', undefined]);
    expect(['pending', 'running']).toContain(json['status']);
  });

  it.each([
    ['respond-async, wait=2', 'wait=2'],
    ['WAIT = "3"; strictly', 'wait=3'],
    ['wait=86400', 'wait=60'],
  ])('reads %j as %s', async (prefer, applied) => {
    expect((await create('noop', prefer)).headers['preference-applied']).toBe(applied);
  });

  it('is as usual for other preferences, and for a key that may not read runs', async () => {
    const minimal = await create('noop', 'return=minimal');
    const blind = await create('noop', 'wait=30', {}, await at.keyWithout('runs:read'));

    for (const { status, headers, json } of [minimal, blind])
      expect([status, headers['preference-applied'], json['weft']]).toEqual([201, undefined, undefined]);
  });

  it.each(['wait=soon', 'wait=0', 'wait=-1', 'wait=1.5', 'wait', 'wait=1e1', 'wait="9'])(
    'is refused with the name of the header, and not created, for %j',
    async (prefer) => {
      const before = await runs();

      const { status, json } = await create('noop', prefer);

      expect([status, json['error'], json['details']?.['field']]).toEqual([
        400,
        'validation_error',
        'Prefer',
      ]);
      expect(await runs()).toBe(before);
    },
  );

  it('is the same run when the request is repeated', async () => {
    const headers = { 'idempotency-key': 'waited' };
    const first = await create('noop', 'wait=30', headers);
    const again = await create('noop', 'wait=30', headers);
    const plain = await at.call('POST', '/v1/runs', { body: { workflowId: 'noop' }, headers });

    expect(again.json).toEqual(first.json);
    expect(again.headers['openwop-idempotent-replay']).toBe('true');
    expect([plain.json['runId'], plain.json['weft']]).toEqual([first.json['runId'], undefined]);
  });

  it('is refused, and not created, where the tenant has as many waiting as it may', async () => {
    const { runId } = await at.start('wait');
    const waiting = at.call('GET', `/v1/runs/${runId}`, { headers: { prefer: 'wait=60' } });
    const status = async () => (await create('noop', 'wait=30')).status;
    await expect.poll(status, { timeout: 10_000 }).toBe(429);
    const before = await runs();

    const refused = await create('noop', 'wait=30');

    expect([refused.status, refused.json['details']?.['scope']]).toEqual([429, 'tenant']);
    expect(await runs()).toBe(before);
    expect((await create('noop', 'wait=30', {}, at.otherTenantKey)).status).toBe(201);
    await at.call('POST', `/v1/runs/${runId}/cancel`, { body: {} });
    expect((await waiting).json['status']).toBe('cancelled');
    expect(await status()).toBe(201);
  });
});

describe('a run that is waited for', () => {
  it('is shown as it stands when someone is asked, and has the validator of that', async () => {
    const { runId } = await at.start('gate');

    const waited = await at.call('GET', `/v1/runs/${runId}`, { headers: { prefer: 'wait=30' } });
    const now = await at.call('GET', `/v1/runs/${runId}`);

    expect([waited.headers['preference-applied'], waited.json['status']]).toEqual([
      'wait=30',
      'waiting-approval',
    ]);
    expect(waited.headers['etag']).toBe(now.headers['etag']);
  });

  it('is not found for another tenant, however long it waits', async () => {
    const { runId } = await at.start('gate');

    const { status } = await at.call('GET', `/v1/runs/${runId}`, {
      headers: { prefer: 'wait=60' },
      key: at.otherTenantKey,
    });

    expect(status).toBe(404);
  });
});
