import { createHash } from 'node:crypto';
import type { EffectNodeType } from '@weft/engine';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { node, workflow } from '../../testing/definitions.ts';
import { type Harness, openHarness } from '../../testing/harness.ts';

const BYTES = Buffer.alloc(600_000, 'some bytes ');

const produce: EffectNodeType = {
  kind: 'effect',
  typeId: 'test.produce',
  title: 'Produce',
  summary: 'Writes an artifact.',
  config: Type.Object({}, { additionalProperties: false }),
  perform: async (_input, { artifacts }) => {
    const { artifactId } = await artifacts.put({
      name: 'Bericht "ü".txt',
      mediaType: 'text/html; charset=UTF-8',
      bytes: BYTES,
    });
    return { outputs: { artifactId } };
  },
};

const WORKFLOW = workflow('produces', [node('make', 'test.produce')]);

let harness: Harness;
let url: string;
let runId: string;

beforeAll(async () => {
  harness = await openHarness({}, undefined, undefined, { nodes: [produce] });
  await harness.call('POST', '/v1/host/weft/workflows', { body: WORKFLOW });
  ({ runId } = await harness.start('produces'));
  await harness.reaches(runId, 'completed');
  url = `/v1/runs/${runId}/artifacts/${encodeURIComponent('make:0:Bericht~20~22~C3~BC~22.txt')}`;
});

afterAll(() => harness.close());

describe('an artifact over HTTP', () => {
  it('comes whole, with its type, length and digest, as a download', async () => {
    const response = await harness.app.inject({
      url,
      headers: { authorization: `Bearer ${harness.key}` },
    });

    expect(response.statusCode).toBe(200);
    expect(response.rawPayload.equals(BYTES)).toBe(true);
    expect(response.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-length': String(BYTES.length),
      'content-disposition':
        'attachment; filename="Bericht ___.txt"; filename*=UTF-8\'\'Bericht%20_%C3%BC_.txt',
      'x-content-type-options': 'nosniff',
      etag: `"${createHash('sha256').update(BYTES).digest('hex')}"`,
    });
  });

  it('is not sent again to a client that has it', async () => {
    const { headers } = await harness.call('GET', url);

    const again = await harness.call('GET', url, { headers: { 'if-none-match': String(headers['etag']) } });

    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('is listed with its name and size', async () => {
    const listed = await harness.call('GET', `/v1/host/weft/runs/${runId}/artifacts`);

    expect(listed.json).toMatchObject({
      artifacts: [{ name: 'Bericht "ü".txt', nodeKey: 'make', size: BYTES.length }],
    });
  });

  it.each([
    ['an unknown artifact', () => `/v1/runs/${runId}/artifacts/nope`],
    ['an unknown run', () => url.replace(runId, '0190a000-0000-7000-8000-00000000dead')],
    ['a list of an unknown run', () => '/v1/host/weft/runs/nope/artifacts'],
  ])('is not found for %s', async (_what, path) => {
    expect((await harness.call('GET', path())).status).toBe(404);
  });

  it('does not exist for another tenant', async () => {
    const key = harness.otherTenantKey;

    expect((await harness.call('GET', url, { key })).status).toBe(404);
    expect((await harness.call('GET', `/v1/host/weft/runs/${runId}/artifacts`, { key })).status).toBe(404);
  });

  it('needs the scope artifacts:read', async () => {
    const key = await harness.keyWithout('artifacts:read');

    expect((await harness.call('GET', url, { key })).status).toBe(403);
  });
});
