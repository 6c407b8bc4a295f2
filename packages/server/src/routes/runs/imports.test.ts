import { gzipSync } from 'node:zlib';
import type { Json, JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Harness, openHarness } from '../../testing/harness.ts';

const IMPORTS = '/v1/host/weft/imports';
const JSON_TYPE = { 'content-type': 'application/json' };

let harness: Harness;

beforeAll(async () => {
  harness = await openHarness();
});

afterAll(() => harness.close());

async function bundleText(workflowId = 'noop', query = '', status = 'completed'): Promise<string> {
  const { runId } = await harness.start(workflowId);
  await harness.reaches(runId, status);
  return (await harness.call('GET', `/v1/runs/${runId}/debug-bundle${query}`)).text;
}

const send = (raw: string | Buffer, headers: Record<string, string> = {}): Promise<Answer> =>
  harness.call('POST', IMPORTS, { raw, headers: { ...JSON_TYPE, ...headers } });

/** As another host writes it, nothing in it being ours. */
const FOREIGN: JsonObject = {
  bundleVersion: '1',
  generatedAt: '2026-05-01T12:34:56.000Z',
  host: { name: 'acme-flow', version: '4.2' },
  run: { runId: 'far-1', workflowId: 'letters', status: 'failed', inputs: {}, variables: {} },
  events: [
    { seq: 0, type: 'run.started', timestamp: '2026-05-01T12:00:00Z', nodeId: null, data: null },
    {
      seq: 1,
      type: 'run.failed',
      timestamp: '2026-05-01T12:00:01Z',
      nodeId: null,
      data: { error: { code: 'boom', message: 'It broke.' } },
    },
  ],
  spans: [],
  metrics: { nodeCount: 0, eventCount: 2 },
  redactionApplied: true,
  redactionMode: 'omit',
};

describe('POST /v1/host/weft/imports', () => {
  it('makes a run of a bundle, and gives the same run for the same bundle', async () => {
    const text = await bundleText();

    const first = await send(text);
    const again = await send(JSON.stringify(JSON.parse(text), null, 2));

    expect(first.status).toBe(201);
    expect(first.json).toMatchObject({ status: 'completed', verified: true, truncated: false });
    expect(again.status).toBe(200);
    expect(again.json).toEqual(first.json);
    const shown = await harness.call('GET', `/v1/runs/${String(first.json['runId'])}`);
    expect(shown.json).toMatchObject({ status: 'completed', weft: { imported: { verified: true } } });
  });

  it('takes bundles as other hosts write them, and says that they are unverified', async () => {
    const answer = await harness.call('POST', IMPORTS, { body: FOREIGN });

    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({
      status: 'failed',
      verified: false,
      events: 2,
      definition: 'missing',
    });
  });

  it('takes gzip, to the same run', async () => {
    const text = await bundleText();

    const packed = await send(gzipSync(text), { 'content-encoding': 'gzip' });
    const plain = await send(text);

    expect([packed.status, plain.status]).toEqual([201, 200]);
    expect(plain.json).toEqual(packed.json);
  });

  it('marks what was cut', async () => {
    const answer = await send(await bundleText('noop', '?maxEvents=2'));

    expect(answer.json).toMatchObject({ status: 'running', truncated: true, events: 2 });
  });

  it.each<[string, () => string | Buffer, Record<string, string>, number, string]>([
    ['is not JSON', () => '{"bundleVersion":', {}, 400, 'validation_error'],
    ['is empty', () => '', {}, 400, 'validation_error'],
    ['is not gzip', () => 'plain', { 'content-encoding': 'gzip' }, 400, 'validation_error'],
    [
      'is packed in a way that is not read',
      () => 'plain',
      { 'content-encoding': 'br' },
      415,
      'unsupported_encoding',
    ],
    ['is no bundle', () => '{}', {}, 422, 'bundle_invalid'],
    ['is too large', () => `{"a":"${'x'.repeat(9 * 1024 * 1024)}"}`, {}, 413, 'payload_too_large'],
    [
      'becomes too large',
      () => gzipSync(`{"a":"${'x'.repeat(9 * 1024 * 1024)}"}`),
      { 'content-encoding': 'gzip' },
      413,
      'payload_too_large',
    ],
  ])('refuses a body that %s', async (_, body, headers, status, error) => {
    const answer = await send(body(), headers);

    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ error });
  });

  it('refuses a bundle that was changed, with the reason, and keeps nothing of it', async () => {
    const bundle = JSON.parse(await bundleText()) as Record<string, Json>;
    const before = await harness.call('GET', '/v1/host/weft/runs?limit=500');

    const answer = await harness.call('POST', IMPORTS, {
      body: { ...bundle, generatedAt: '2020-01-01T00:00:00.000Z' },
    });

    expect(answer.status).toBe(422);
    expect(answer.json).toMatchObject({ error: 'bundle_invalid', details: { field: '/weft/digest' } });
    expect((await harness.call('GET', '/v1/host/weft/runs?limit=500')).text).toBe(before.text);
  });

  it('needs runs:create', async () => {
    const answer = await harness.call('POST', IMPORTS, {
      body: FOREIGN,
      key: await harness.keyWithout('runs:create'),
    });

    expect(answer.status).toBe(403);
  });
});

describe('an imported run', () => {
  it('cannot be cancelled, paused or answered', async () => {
    const { json } = await send(await bundleText('gate', '', 'waiting-approval'));
    const path = `/v1/runs/${String(json['runId'])}`;

    const answers = await Promise.all([
      harness.call('POST', `${path}/cancel`),
      harness.call('POST', `${path}:pause`),
      harness.call('POST', `${path}/interrupts/gate`, { body: { resumeValue: { action: 'accept' } } }),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([409, 409, 409]);
    expect(answers[0]?.json).toMatchObject({ error: 'conflict', details: { imported: true } });
    expect((await harness.call('GET', '/v1/host/weft/interrupts')).text).not.toContain(String(json['runId']));
  });

  it('of another tenant is not there', async () => {
    const { json } = await harness.call('POST', IMPORTS, { body: FOREIGN });

    const answer = await harness.call('GET', `/v1/runs/${String(json['runId'])}`, {
      key: harness.otherTenantKey,
    });

    expect(answer.status).toBe(404);
  });

  it('is reported to the protocol’s fork by the names of what is missing', async () => {
    const { runId } = await harness.start('steps', { inputs: { delayMs: 1 } });
    await harness.reaches(runId, 'completed');
    const { json } = await send((await harness.call('GET', `/v1/runs/${runId}/debug-bundle`)).text);

    const answer = await harness.call('POST', `/v1/runs/${String(json['runId'])}:fork`, {
      body: { mode: 'branch', fromSeq: 1 },
    });

    expect(answer.status).toBe(422);
    expect(answer.json).toMatchObject({ error: 'values_missing', details: { missing: ['delayMs'] } });
  });
});
