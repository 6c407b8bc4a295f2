import type { Host } from '@weft/engine';
import { assertValid, canonicalJson, compileValidator, type Json } from '@weft/protocol';
import { publishedShapes } from '@weft/protocol/published-shapes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

let at: Harness;
beforeAll(async () => {
  at = await openHarness();
});
afterAll(() => at.close());

async function finished(workflowId: string, status: string): Promise<string> {
  const { runId } = await at.start(workflowId);
  await at.reaches(runId, status);
  return runId;
}

const diff = (a: string, b: string, key = at.key) =>
  at.call('GET', `/v1/runs/${a}:diff?against=${encodeURIComponent(b)}`, { key });

describe('the diff of two runs', () => {
  it('is canonical JSON, and empty for two equal runs', async () => {
    const [a, b] = [await finished('noop', 'completed'), await finished('noop', 'completed')];

    const answer = await diff(a, b);

    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(answer.text).toBe(`{"a":"${a}","b":"${b}","divergedAtSeq":null,"eventDiffs":[],"stateDiff":{}}`);
  });

  it('lists every sequence that differs, in order, with whole events', async () => {
    const [a, b] = [await finished('noop', 'completed'), await finished('fail', 'failed')];

    const answer = await diff(a, b);
    const document = JSON.parse(answer.text) as {
      divergedAtSeq: number;
      eventDiffs: { seq: number; op: string; aEvent: Json; bEvent: Json }[];
      stateDiff: Json;
    };

    const { json: log } = await at.call('GET', `/v1/runs/${a}/events/poll`);
    expect(document.divergedAtSeq).toBe(0);
    expect(document.eventDiffs.map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
    expect(document.eventDiffs[0]).toMatchObject({ op: 'changed', aEvent: log.events?.[0] });
    expect(document.stateDiff).toMatchObject({ status: { a: 'completed', b: 'failed' } });
    expect(answer.text).toBe(canonicalJson(document as unknown as Json));
  });

  it('is the same, byte for byte, each time', async () => {
    const [a, b] = [await finished('noop', 'completed'), await finished('fail', 'failed')];

    expect((await diff(a, b)).text).toBe((await diff(a, b)).text);
  });

  it('of an active run is marked as truncated', async () => {
    const [a, b] = [await finished('noop', 'completed'), (await at.start('wait')).runId];

    expect((await diff(a, b)).json.truncated).toBe(true);
    expect((await diff(b, b)).json.truncated).toBe(true);
  });

  it.each(['', '?against=', '?against=x&against=y', '?other=x'])(
    'without one other run is 400 that names the parameter: "%s"',
    async (query) => {
      const runId = await finished('noop', 'completed');

      for (const path of [runId, 'unknown']) {
        const answer = await at.call('GET', `/v1/runs/${path}:diff${query}`);

        expect([answer.status, answer.json.error]).toEqual([400, 'validation_error']);
        expect(answer.json.details).toEqual({ field: 'against' });
      }
    },
  );

  it('is 404 when either run is unknown, or another tenant’s', async () => {
    const runId = await finished('noop', 'completed');

    const answers = [
      await diff(runId, 'unknown'),
      await diff('unknown', runId),
      await diff(runId, runId, at.otherTenantKey),
      await diff(runId, 'a:b/c d'),
    ];

    expect(answers.map((answer) => answer.json.error)).toEqual(Array.from({ length: 4 }, () => 'not_found'));
  });

  it('needs the scope to read runs', async () => {
    const runId = await finished('noop', 'completed');

    const answer = await diff(runId, runId, await at.keyWithout('runs:read'));

    expect([answer.status, answer.json.details]).toEqual([403, { scopeRequired: 'runs:read' }]);
  });

  it('is asked for with GET only, and says so', async () => {
    const runId = await finished('noop', 'completed');

    const answer = await at.call('POST', `/v1/runs/${runId}:diff?against=${runId}`);
    const head = await at.app.inject({ method: 'HEAD', url: `/v1/runs/${runId}:diff?against=${runId}` });

    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD']);
    expect(head.statusCode).toBe(401);
  });
});

describe('a diff that fails', () => {
  it('before its first byte is an error as any other', async () => {
    const broken = await openHarness(
      {},
      (host): Host => ({ ...host, runs: { ...host.runs, diff: () => Promise.reject(new Error('x')) } }),
    );

    const answer = await broken.call('GET', '/v1/runs/a:diff?against=b');
    await broken.close();

    expect([answer.status, answer.json.error]).toEqual([500, 'internal_error']);
  });
});

describe.each(publishedShapes('run-diff-response'))('%s', (_, schema) => {
  it('takes what this host answers', async () => {
    const validate = compileValidator(schema);
    const [a, b] = [await finished('noop', 'completed'), await finished('fail', 'failed')];

    for (const against of [a, b, (await at.start('wait')).runId])
      assertValid(validate, JSON.parse((await diff(a, against)).text), 'The diff');
  });
});
