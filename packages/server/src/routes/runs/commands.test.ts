import type { JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

let at: Harness;
beforeAll(async () => {
  at = await openHarness();
});
afterAll(() => at.close());

describe('cancelling', () => {
  it('ends the run, with or without a body', async () => {
    const [plain, reasoned] = [await at.start('wait'), await at.start('wait')];

    const first = await at.call('POST', `/v1/runs/${plain.runId}/cancel`);
    const second = await at.call('POST', `/v1/runs/${reasoned.runId}/cancel`, {
      body: { reason: 'not needed' },
    });

    expect(first.json).toEqual({ runId: plain.runId, status: 'cancelled' });
    expect(second.json).toEqual({ runId: reasoned.runId, status: 'cancelled' });
  });

  it('takes an empty body that calls itself JSON', async () => {
    const { runId } = await at.start('wait');

    const answer = await at.call('POST', `/v1/runs/${runId}/cancel`, {
      raw: '',
      headers: { 'content-type': 'application/json' },
    });

    expect(answer.status).toBe(200);
  });

  it('of a run that has ended is 200 with the status it ended in', async () => {
    const [done, failed] = [await at.start('noop'), await at.start('fail')];
    await at.reaches(done.runId, 'completed');
    await at.reaches(failed.runId, 'failed');

    expect((await at.call('POST', `/v1/runs/${done.runId}/cancel`)).json.status).toBe('completed');
    expect((await at.call('POST', `/v1/runs/${failed.runId}/cancel`)).json.status).toBe('failed');
  });

  it('twice is once', async () => {
    const { runId } = await at.start('wait');
    await at.call('POST', `/v1/runs/${runId}/cancel`);

    expect((await at.call('POST', `/v1/runs/${runId}/cancel`)).json).toEqual({ runId, status: 'cancelled' });
  });

  it.each([{ reason: 1 }, { reasn: 'x' }, []])('with %j is 400', async (body) => {
    const { runId } = await at.start('wait');

    expect((await at.call('POST', `/v1/runs/${runId}/cancel`, { body })).json.error).toBe('validation_error');
  });
});

describe('pausing and resuming', () => {
  it('are accepted with 202 and the time', async () => {
    const { runId } = await at.start('wait');

    const paused = await at.call('POST', `/v1/runs/${runId}:pause`, { body: { drainPolicy: 'immediate' } });
    expect([paused.status, paused.json.status]).toEqual([202, 'paused']);
    expect((await at.call('GET', `/v1/runs/${runId}`)).json.status).toBe('paused');

    const resumed = await at.call('POST', `/v1/runs/${runId}:resume`);
    expect([resumed.status, resumed.json.status]).toEqual([202, 'running']);
  });

  it('a second time are 409 that says since when it is paused', async () => {
    const { runId } = await at.start('wait');
    const first = await at.call('POST', `/v1/runs/${runId}:pause`, { body: { drainPolicy: 'immediate' } });

    const second = await at.call('POST', `/v1/runs/${runId}:pause`);

    expect([second.status, second.json.error]).toEqual([409, 'conflict']);
    expect(second.json.details).toEqual({ runStatus: 'paused', pausedAt: first.json.pausedAt });
  });

  it('a second time with the same key get the first 202 again', async () => {
    const { runId } = await at.start('wait');
    const pause = () =>
      at.call('POST', `/v1/runs/${runId}:pause`, { headers: { 'idempotency-key': `pause-${runId}` } });
    const first = await pause();

    const again = await pause();

    expect([again.status, again.text]).toEqual([202, first.text]);
    expect(again.headers['openwop-idempotent-replay']).toBe('true');
  });

  it('when the run does not allow it are 409 with its status', async () => {
    const { runId } = await at.start('noop');
    await at.reaches(runId, 'completed');
    const running = await at.start('wait');
    await at.reaches(running.runId, 'running');

    const pause = await at.call('POST', `/v1/runs/${runId}:pause`);
    const resume = await at.call('POST', `/v1/runs/${runId}:resume`);
    const early = await at.call('POST', `/v1/runs/${running.runId}:resume`);

    expect([pause.json.error, pause.json.details?.runStatus]).toEqual(['conflict', 'completed']);
    expect([resume.json.error, resume.json.details?.runStatus]).toEqual(['conflict', 'completed']);
    expect([early.json.error, early.json.details?.runStatus]).toEqual(['conflict', 'running']);
  });

  it('with an unknown drain policy or member are 400', async () => {
    const { runId } = await at.start('wait');

    for (const body of [{ drainPolicy: 'later' }, { why: 'x' }]) {
      expect((await at.call('POST', `/v1/runs/${runId}:pause`, { body })).json.error).toBe(
        'validation_error',
      );
    }
  });
});

describe('bulk cancel', () => {
  const bulk = (body: unknown) =>
    at.call('POST', '/v1/runs:bulk-cancel', {
      raw: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });

  it('answers per run, in the order asked, with ids as they came', async () => {
    const [active, done, cancelled, foreign] = [
      await at.start('wait'),
      await at.start('noop'),
      await at.start('wait'),
      await at.call('POST', '/v1/runs', { key: at.otherTenantKey, body: { workflowId: 'wait' } }),
    ];
    await at.reaches(done.runId, 'completed');
    await at.call('POST', `/v1/runs/${cancelled.runId}/cancel`);
    const foreignId = String(foreign.json.runId);

    const answer = await bulk({
      runIds: [done.runId, 'no:such run', active.runId, cancelled.runId, foreignId, active.runId],
      reason: 'cleanup',
    });

    const missing = { code: 'not_found', message: 'No run with this id is visible to this key.' };
    expect(answer.json.results).toEqual([
      {
        runId: done.runId,
        ok: false,
        error: { code: 'run_terminal', message: 'The run has already ended as completed.' },
      },
      { runId: 'no:such run', ok: false, error: missing },
      { runId: active.runId, ok: true, status: 'cancelled' },
      { runId: cancelled.runId, ok: true, status: 'cancelled' },
      { runId: foreignId, ok: false, error: missing },
      { runId: active.runId, ok: true, status: 'cancelled' },
    ]);
  });

  it('with an Idempotency-Key is answered again as it was, and not with another body', async () => {
    const { runId } = await at.start('wait');
    const call = (body: JsonObject) =>
      at.call('POST', '/v1/runs:bulk-cancel', { body, headers: { 'idempotency-key': 'bulk-1' } });

    const first = await call({ runIds: [runId] });
    const again = await call({ runIds: [runId] });
    const other = await call({ runIds: [runId], reason: 'another request' });

    expect(first.headers['openwop-idempotent-replay']).toBeUndefined();
    expect([again.text, again.headers['openwop-idempotent-replay']]).toEqual([first.text, 'true']);
    expect(other.json.error).toBe('idempotency_key_mismatch');
  });

  it.each([
    [{}, undefined],
    [{ runIds: [] }, 100],
    [{ runIds: Array.from({ length: 101 }, (_, i) => `r${i}`) }, 100],
    [{ runIds: [1] }, undefined],
    [{ runIds: ['a'], reason: 'x'.repeat(513) }, undefined],
    [{ runIds: ['a'], more: 1 }, undefined],
  ])('from %j is 400', async (body, maxRunIds) => {
    const answer = await bulk(body);

    expect([answer.status, answer.json.error]).toEqual([400, 'validation_error']);
    expect(answer.json.details?.maxRunIds).toBe(maxRunIds);
  });
});
