import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { canonicalJson, compileClientSchema, type DebugBundle, type Json, WorkBudget } from '@weft/protocol';
import { publishedShapes } from '@weft/protocol/published-shapes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await openHarness();
});

afterAll(() => harness.close());

async function ended(workflowId = 'noop', body: Record<string, Json> = {}): Promise<string> {
  const { runId } = await harness.start(workflowId, body);
  await harness.reaches(runId, workflowId === 'fail' ? 'failed' : 'completed');
  return runId;
}

const bundlePath = (runId: string, query = ''): string => `/v1/runs/${runId}/debug-bundle${query}`;

describe('GET /v1/runs/{runId}/debug-bundle', () => {
  it('takes only the first events when asked to, by either name of the parameter', async () => {
    const runId = await ended();

    for (const name of ['maxEvents', 'host.weft.maxEvents']) {
      const answer = await harness.call('GET', bundlePath(runId, `?${name}=2`));
      expect((JSON.parse(answer.text) as { events: unknown[] }).events, name).toHaveLength(2);
    }
  });

  it('answers with a bundle that must not be cached, whose digest holds', async () => {
    const runId = await ended();

    const answer = await harness.call('GET', bundlePath(runId));

    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
    });
    expect(answer.headers).not.toHaveProperty('content-encoding');
    const { weft, ...rest } = JSON.parse(answer.text) as DebugBundle;
    const digest = createHash('sha256')
      .update(canonicalJson(rest as unknown as Json))
      .digest('hex');
    expect(weft?.digest).toBe(digest);
  });

  it('has as many events as a poll shows, and the same ones', async () => {
    const runId = await ended();
    const polled = await harness.call('GET', `/v1/runs/${runId}/events/poll`);

    const bundle = await harness.call('GET', bundlePath(runId));

    const { events, metrics } = JSON.parse(bundle.text) as DebugBundle;
    const documents = (JSON.parse(polled.text) as { events: { payload: Json }[] }).events;
    expect(events).toEqual(documents.map((document) => ({ ...document, data: document.payload })));
    expect(metrics.eventCount).toBe(documents.length);
  });

  it('is compressed for those who ask for it, to the same bytes', async () => {
    const runId = await ended();

    const plain = await harness.call('GET', bundlePath(runId));
    const packed = await harness.app.inject({
      url: bundlePath(runId),
      headers: { authorization: `Bearer ${harness.key}`, 'accept-encoding': 'br, gzip' },
    });

    expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
    const withoutTime = (text: string): DebugBundle => {
      const { generatedAt: _at, weft: _weft, ...rest } = JSON.parse(text) as DebugBundle;
      return rest as DebugBundle;
    };
    expect(withoutTime(gunzipSync(packed.rawPayload).toString())).toEqual(withoutTime(plain.text));
  });

  it('cuts the log where it is asked to', async () => {
    const runId = await ended();

    const { json } = await harness.call('GET', bundlePath(runId, '?maxEvents=2'));

    expect(json['events']).toHaveLength(2);
    expect(json).toMatchObject({ truncated: true, truncatedReason: 'events_truncated_to_max_events' });
  });

  it.each(['-1', 'two', '1.5', ''])('refuses maxEvents=%s', async (value) => {
    const runId = await ended();

    const answer = await harness.call('GET', bundlePath(runId, `?maxEvents=${value}`));

    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ error: 'validation_error', details: { field: 'maxEvents' } });
  });

  it('answers for a run of another tenant as for an unknown one, whatever else is asked', async () => {
    const runId = await ended();

    const foreign = await harness.call('GET', bundlePath(runId), { key: harness.otherTenantKey });
    const wrong = await harness.call('GET', bundlePath(runId, '?maxEvents=x'), {
      key: harness.otherTenantKey,
    });
    const unknown = await harness.call('GET', bundlePath('nothing'));

    expect([foreign.status, wrong.status, unknown.status]).toEqual([404, 404, 404]);
    expect(foreign.json).toEqual(unknown.json);
  });

  it('needs a key with runs:read', async () => {
    const runId = await ended();

    const without = await harness.call('GET', bundlePath(runId), {
      key: await harness.keyWithout('runs:read'),
    });
    const keyless = await harness.call('GET', bundlePath(runId), { key: null });

    expect([without.status, keyless.status]).toEqual([403, 401]);
  });

  it('shows neither inputs nor sensitive values, nor where the host lives', async () => {
    const { runId } = await harness.start('secret', { inputs: { delayMs: 30_000, pin: 'blue-elephant' } });
    await harness.reaches(runId, 'running');

    const { text } = await harness.call('GET', bundlePath(runId));

    expect(text).not.toMatch(/blue-elephant|top-secret-value|127\.0\.0\.1|localhost/);
    expect(text).not.toContain(process.cwd());
  });
});

describe.each(publishedShapes('debug-bundle'))('against %s', (_, schema) => {
  it.each(['noop', 'fail'])('the bundle of %s is valid', async (workflowId) => {
    const validate = compileClientSchema(schema);
    const runId = await ended(workflowId, { inputs: { city: 'Braunschweig' } });

    const answer = await harness.call('GET', bundlePath(runId));

    expect(validate(JSON.parse(answer.text), new WorkBudget())).toEqual([]);
  });
});
