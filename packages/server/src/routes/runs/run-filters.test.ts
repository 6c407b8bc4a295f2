import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

let at: Harness;

beforeEach(async () => {
  at = await openHarness();
});

afterEach(() => at.close());

const RUNS = '/v1/host/weft/runs';
const HOUR = 3_600_000;

async function listed(query: Record<string, string>): Promise<string[]> {
  const answer = await at.call('GET', `${RUNS}?${new URLSearchParams(query).toString()}`);
  expect(answer.status).toBe(200);
  return (JSON.parse(answer.text) as { runs: { runId: string }[] }).runs.map(({ runId }) => runId);
}

function count(query: Record<string, string>, options: Parameters<Harness['call']>[2] = {}) {
  return at.call('GET', `${RUNS}:counts?${new URLSearchParams(query).toString()}`, options);
}

describe('a list of runs', () => {
  it('has those that failed with a code', async () => {
    const { runId } = await at.start('fail');
    await at.reaches(runId, 'failed');
    await at.start('noop');
    const all = JSON.parse((await at.call('GET', RUNS)).text) as { runs: { errorCode?: string }[] };
    const errorCode = all.runs.find((run) => run.errorCode !== undefined)?.errorCode ?? '';

    expect(await listed({ errorCode })).toEqual([runId]);
    expect(await listed({ errorCode: 'none_such' })).toEqual([]);
  });

  it('has those whose id begins with a text, as an id is written or without hyphens', async () => {
    const { runId } = await at.start('noop');

    for (const q of [runId, runId.slice(0, 9), runId.toUpperCase(), runId.replaceAll('-', '').slice(0, 20)])
      expect(await listed({ q })).toEqual([runId]);
    expect(await listed({ q: 'ffff' })).toEqual([]);
  });

  it.each(['', 'xyz', '0-1', '-', '0198c0de--', '%', '0'.repeat(33)])(
    'refuses %j as the beginning of an id',
    async (q) => {
      const answer = await at.call('GET', `${RUNS}?${new URLSearchParams({ q }).toString()}`);

      expect(answer).toMatchObject({ status: 400, json: { details: { field: 'q' } } });
    },
  );
});

describe('counts of runs', () => {
  const since = new Date(Date.now() - HOUR).toISOString();

  it('have a run that was created a moment ago', async () => {
    for (let created = 1; created <= 20; created += 1) {
      await at.start('noop');
      const { text } = await count({ bucket: '1d', since });
      const { buckets } = JSON.parse(text) as { buckets: { counts: Record<string, number> }[] };
      const counted = buckets.flatMap(({ counts }) => Object.values(counts));
      expect(counted.reduce((sum, each) => sum + each, 0)).toBe(created);
    }
  });

  it('are by time and status, of one’s own tenant alone', async () => {
    for (const workflowId of ['noop', 'noop', 'fail']) {
      const { runId } = await at.start(workflowId);
      await at.reaches(runId, workflowId === 'noop' ? 'completed' : 'failed');
    }

    const { json, status } = await count({ bucket: '1d', since });
    const failed = await count({ bucket: '1d', since, status: 'failed' });
    const others = await count({ bucket: '1d', since }, { key: at.otherTenantKey });

    expect(status).toBe(200);
    const sums: Record<string, number> = {};
    const buckets = JSON.parse(JSON.stringify(json['buckets'])) as {
      at: string;
      counts: Record<string, number>;
    }[];
    // A test may run at midnight.
    for (const { counts } of buckets)
      for (const [name, each] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + each;
    expect(sums).toEqual({ completed: 2, failed: 1 });
    expect(buckets.every((bucket) => bucket.at.endsWith('T00:00:00.000Z'))).toBe(true);
    expect(json).not.toHaveProperty('countedSince');
    expect(failed.json['buckets']).toMatchObject([{ counts: { failed: 1 } }]);
    expect(others.json['buckets']).toEqual([]);
  });

  it.each([
    ['bucket', { since }],
    ['bucket', { since, bucket: '2h' }],
    ['bucket', { since: '2020-01-01T00:00:00Z', bucket: '1m' }],
    ['since', { bucket: '1h' }],
    ['since', { bucket: '1h', since: 'yesterday' }],
    ['status', { bucket: '1h', since, status: 'cancelling' }],
    ['status', { bucket: '1h', since, status: 'done' }],
  ])('name the parameter %s that is wrong in %j', async (field, query) => {
    expect(await count(query as Record<string, string>)).toMatchObject({
      status: 400,
      json: { error: 'validation_error', details: { field } },
    });
  });

  it('need runs:read, and a key of the whole tenant', async () => {
    const key = await at.keyWithout('runs:read');
    const bound = await at.createKey({ scopes: ['runs:read'], workspace: 'north' });

    expect(await count({ bucket: '1h', since }, { key })).toMatchObject({ status: 403 });
    expect(await count({ bucket: '1h', since }, { key: bound.key })).toMatchObject({ status: 403 });
  });
});
