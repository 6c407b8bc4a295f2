import { openMemoryStore } from '@weft/engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

const BYTES = Buffer.from('SQLite format 3\u0000 and all that follows');
let opened = 0;
let closed = 0;

/** The memory store has no backup of its own, so it gets one here. */
const store = {
  ...openMemoryStore(),
  async openBackup() {
    opened += 1;
    return {
      size: BYTES.length,
      async *read() {
        yield BYTES.subarray(0, 9);
        yield BYTES.subarray(9);
      },
      async close() {
        closed += 1;
      },
    };
  },
};

let at: Harness;
beforeAll(async () => {
  at = await openHarness({}, undefined, undefined, { store });
});
afterAll(() => at.close());

const RUNS = '/v1/host/weft/runs';
const RETENTION = '/v1/host/weft/retention';

async function endedRun(): Promise<string> {
  const { runId } = await at.start('noop');
  await at.reaches(runId, 'completed');
  return runId;
}

describe('a run that is removed', () => {
  it('is gone, and everything that is asked of it is answered with 410', async () => {
    const runId = await endedRun();

    const removed = await at.call('DELETE', `${RUNS}/${runId}`);

    expect(removed.status).toBe(204);
    for (const path of ['', '/events/poll', '/debug-bundle', `:diff?against=${runId}`]) {
      const { status, json } = await at.call('GET', `/v1/runs/${runId}${path}`);
      expect([path, status, json.error, json.details?.runId]).toEqual([path, 410, 'run_expired', runId]);
    }
    for (const path of [`/v1/runs/${runId}/cancel`, `/v1/runs/${runId}:pause`])
      expect((await at.call('POST', path, { body: {} })).status).toBe(410);
    expect((await at.call('GET', `${RUNS}/${runId}/why`)).status).toBe(410);
    expect((await at.call('DELETE', `${RUNS}/${runId}`)).status).toBe(410);
    expect((await at.call('POST', `${RUNS}/${runId}:erase`)).status).toBe(410);
    expect((await at.call('GET', RUNS)).text).not.toContain(runId);
  });

  it('is answered with 410 whatever else is wrong with the request', async () => {
    const runId = await endedRun();
    await at.call('DELETE', `${RUNS}/${runId}`);

    const { status } = await at.call('POST', `/v1/runs/${runId}/cancel`, { body: { typo: true } });

    expect(status).toBe(410);
  });

  it('is not there for another tenant, before and after', async () => {
    const runId = await endedRun();
    const theirs = { key: at.otherTenantKey };

    expect((await at.call('DELETE', `${RUNS}/${runId}`, theirs)).status).toBe(404);
    await at.call('DELETE', `${RUNS}/${runId}`);

    expect((await at.call('GET', `/v1/runs/${runId}`, theirs)).status).toBe(404);
    expect((await at.call('DELETE', `${RUNS}/${runId}`, theirs)).status).toBe(404);
  });

  it('was removed once, however often the same key says so', async () => {
    const runId = await endedRun();
    const headers = { 'idempotency-key': `remove-${runId}` };

    const first = await at.call('DELETE', `${RUNS}/${runId}`, { headers });
    const again = await at.call('DELETE', `${RUNS}/${runId}`, { headers });

    expect([first.status, again.status]).toEqual([204, 204]);
    expect(again.headers['openwop-idempotent-replay']).toBe('true');
  });

  it('must have ended', async () => {
    const { runId } = await at.start('wait');

    const removed = await at.call('DELETE', `${RUNS}/${runId}`);
    const erased = await at.call('POST', `${RUNS}/${runId}:erase`);

    expect([removed.status, removed.json.error, erased.status]).toEqual([409, 'conflict', 409]);
    expect(removed.text).toContain('Cancel it');
    await at.call('POST', `/v1/runs/${runId}/cancel`, { body: {} });
  });
});

describe('erasing', () => {
  it('leaves the events as they were, and changes the snapshot’s validator', async () => {
    const runId = await endedRun();
    const [before, snapshot] = [
      await at.call('GET', `/v1/runs/${runId}/events/poll`),
      await at.call('GET', `/v1/runs/${runId}`),
    ];

    const erased = await at.call('POST', `${RUNS}/${runId}:erase`);

    const after = await at.call('GET', `/v1/runs/${runId}`);
    expect(erased.status).toBe(204);
    expect((await at.call('GET', `/v1/runs/${runId}/events/poll`)).text).toBe(before.text);
    expect(after.json.status).toBe('completed');
    expect(after.headers['etag']).not.toBe(snapshot.headers['etag']);
  });
});

describe('retention', () => {
  it('is for ever until it is set, and again when it is taken back', async () => {
    const unset = await at.call('GET', RETENTION);
    const set = await at.call('POST', RETENTION, { body: { keepForSeconds: 86_400 } });
    const shown = await at.call('GET', RETENTION);
    const reset = await at.call('DELETE', RETENTION);

    const forEver = { tenant: 'default', keepForSeconds: null, isDefault: true };
    const aDay = { tenant: 'default', keepForSeconds: 86_400, isDefault: false };
    expect([unset.json, set.json, shown.json, reset.json]).toEqual([forEver, aDay, aDay, forEver]);
  });

  it('is each tenant’s own', async () => {
    await at.call('POST', `${RETENTION}?tenant=other`, { body: { keepForSeconds: null } });

    const theirs = await at.call('GET', RETENTION, { key: at.otherTenantKey });
    const mine = await at.call('GET', RETENTION);

    expect(theirs.json).toEqual({ tenant: 'other', keepForSeconds: null, isDefault: false });
    expect(mine.json.isDefault).toBe(true);
  });

  it.each([{ keepForSeconds: 30 }, { keepForSeconds: 'week' }, {}, { keepForSeconds: 86_400, keep: 1 }])(
    'refuses %j',
    async (body) => {
      expect((await at.call('POST', RETENTION, { body: body as never })).status).toBe(400);
    },
  );
});

describe('a backup', () => {
  it('is the file as the store gives it, and is closed when it has been read', async () => {
    const answer = await at.call('POST', '/v1/host/weft/backup');

    expect([answer.status, answer.headers['content-length']]).toEqual([200, String(BYTES.length)]);
    expect(answer.text).toBe(BYTES.toString('utf8'));
    expect([opened, closed]).toEqual([1, 1]);
    expect((await at.call('POST', '/v1/host/weft/backup')).status).toBe(200);
  });
});

it.each([
  ['DELETE', `${RUNS}/0199e0a0-0000-7000-8000-000000000000`],
  ['POST', `${RUNS}/0199e0a0-0000-7000-8000-000000000000:erase`],
  ['GET', RETENTION],
  ['POST', RETENTION],
  ['DELETE', RETENTION],
  ['POST', '/v1/host/weft/backup'],
] as const)('%s %s is the administrator’s', async (method, path) => {
  const { status, json } = await at.call(method, path, { key: await at.keyWithout('host:admin') });

  expect([status, json.details?.scopeRequired]).toEqual([403, 'host:admin']);
});

it('without a store that can be copied there is no backup', async () => {
  const plain = await openHarness();

  const { status, json } = await plain.call('POST', '/v1/host/weft/backup');

  expect([status, json.error]).toEqual([501, 'capability_not_provided']);
  await plain.close();
});
