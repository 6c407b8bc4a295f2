import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

let at: Harness;
beforeAll(async () => {
  at = await openHarness();
});
afterAll(() => at.close());

const state = (runId: string, query: string, key = at.key) =>
  at.call('GET', `/v1/host/weft/runs/${runId}/state${query}`, { key });

async function finished(workflowId: string): Promise<string> {
  const { runId } = await at.start(workflowId, { inputs: { delayMs: 1 } });
  await at.reaches(runId, 'completed');
  return runId;
}

describe('a run as of one of its events', () => {
  it('has the status, nodes and variables of that moment', async () => {
    const runId = await finished('steps');
    const { json } = await at.call('GET', `/v1/runs/${runId}/events/poll`);
    const events = json.events as unknown as { type: string; nodeId?: string; sequence: number }[];
    const started = events.find(({ type, nodeId }) => type === 'node.started' && nodeId === 'b');

    const answer = await state(runId, `?at=${started?.sequence}`);

    expect(answer.json).toMatchObject({
      runId,
      status: 'running',
      nodeStates: { a: { status: 'completed' }, b: { status: 'running' } },
      variables: { delayMs: 1 },
      weft: { asOf: started?.sequence },
    });
    expect(answer.json.nodeStates).not.toHaveProperty('c');
  });

  it('is the snapshot of now, as of the newest event', async () => {
    const runId = await finished('steps');

    const { weft, ...then } = (await state(runId, '')).json;

    const { weft: _now, ...now } = (await at.call('GET', `/v1/runs/${runId}`)).json;
    expect(then).toEqual(now);
    expect(Number(weft?.asOf)).toBeGreaterThan(0);
  });

  it('at every sequence of a fork is that of its source', async () => {
    const runId = await finished('steps');
    const forked = await at.call('POST', `/v1/runs/${runId}:fork`, { body: { mode: 'replay', fromSeq: 4 } });
    const forkId = String(forked.json.runId);
    await at.reaches(forkId, 'completed');
    const { json } = await at.call('GET', `/v1/runs/${runId}/events/poll`);

    for (let seq = 0; seq <= Number(json.lastEventSeq); seq += 1) {
      const [source, fork] = [
        (await state(runId, `?at=${seq}`)).json,
        (await state(forkId, `?at=${seq}`)).json,
      ];
      expect(fork).toEqual({ ...source, runId: forkId, weft: fork.weft });
    }
  });

  it('shows no sensitive value', async () => {
    const { runId } = await at.start('secret', { inputs: { delayMs: 1 } });
    await at.reaches(runId, 'completed');
    const { json } = await at.call('GET', `/v1/runs/${runId}/events/poll`);

    for (let seq = 0; seq <= Number(json.lastEventSeq); seq += 1)
      expect((await state(runId, `?at=${seq}`)).text).not.toContain('top-secret-value');
  });

  it('is 422 beyond the log, and 400 for what is no sequence', async () => {
    const runId = await finished('noop');

    const [beyond, negative, fraction] = [
      await state(runId, '?at=99999'),
      await state(runId, '?at=-1'),
      await state(runId, '?at=1.5'),
    ];

    expect(beyond.status).toBe(422);
    expect(beyond.json).toMatchObject({
      error: 'sequence_out_of_range',
      details: { field: 'at', at: 99_999 },
    });
    expect([negative.status, fraction.status]).toEqual([400, 400]);
    expect(negative.json.details?.field).toBe('at');
  });

  it('is 404 for a run the key may not see, and needs runs:read', async () => {
    const runId = await finished('noop');

    const answers = [
      await state(runId, '?at=0', at.otherTenantKey),
      await state(runId, '?at=99999', at.otherTenantKey),
      await state(runId, '?at=x', at.otherTenantKey),
      await state(runId, '?at=0', await at.keyWithout('runs:read')),
    ];

    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 403]);
  });

  it('is 410 where the beginning of a fork went with its source', async () => {
    const runId = await finished('steps');
    const forked = await at.call('POST', `/v1/runs/${runId}:fork`, { body: { mode: 'replay', fromSeq: 4 } });
    const forkId = String(forked.json.runId);
    await at.reaches(forkId, 'completed');
    await at.call('DELETE', `/v1/host/weft/runs/${runId}`);

    const answer = await state(forkId, '?at=2');

    expect([answer.status, answer.json.error]).toEqual([410, 'run_expired']);
  });
});
