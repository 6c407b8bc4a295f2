import type { Json, JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { edge, node } from '../core/testing/definitions.ts';
import type { ModelRequest, Models } from '../ports/models.ts';
import { alice, startHost, type TestHost, until } from '../runtime/testing/test-host.ts';

const opened: TestHost[] = [];

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

const DECIDE = {
  instructions: 'Lead the team.',
  prompt: 'Have a text written.',
  workers: [{ workflowId: 'writer', description: 'writes' }],
};
const NEXT = { kind: 'next-worker', nextWorkerIds: ['writer'], confidence: 0.9 };

/** A team whose supervisor gives these answers, one after the other. */
async function team(...answers: readonly Json[]): Promise<{ test: TestHost; requests: ModelRequest[] }> {
  const requests: ModelRequest[] = [];
  const models: Models = {
    providerFor: () => ({
      id: 'script',
      call(request) {
        requests.push(request);
        const answer = answers[requests.length - 1] ?? null;
        return Promise.resolve({
          text: typeof answer === 'string' ? answer : JSON.stringify(answer),
          model: 'script-1',
          finishReason: 'stop',
          usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 },
        });
      },
    }),
  };
  const test = await startHost({ models });
  opened.push(test);
  await test.register({ nodes: [node('write')] }, 'writer');
  await test.register(
    {
      nodes: [
        node('lead', 'core.orchestrator.supervisor', { decideByModel: DECIDE }),
        node('dispatch', 'core.dispatch', {}),
      ],
      edges: [edge('lead', 'dispatch'), edge('dispatch', 'lead')],
    },
    'team',
  );
  return { test, requests };
}

async function ended(test: TestHost, runId: string) {
  return until(async () => {
    const snapshot = (await test.host.runs.snapshot(alice, runId))?.snapshot;
    return snapshot?.status === 'completed' || snapshot?.status === 'failed' ? snapshot : undefined;
  });
}

async function decisions(test: TestHost, runId: string): Promise<Json[]> {
  const events = await test.store.readEvents(runId, 0, 10_000, 1e9);
  return events
    .filter(({ type }) => type === 'runOrchestrator.decided')
    .map(({ payload }) => (JSON.parse(payload) as JsonObject)['decision'] ?? null);
}

const answer = (test: TestHost, runId: string, value: Json) =>
  test.host.runs.command(alice, runId, {
    ...{ type: 'resolve', nodeId: 'lead', value, by: 'alice', byUser: false, viaLink: false },
  });

describe('a supervisor that decides by a model', () => {
  it('has workers run until the model says that the work is done', async () => {
    const { test, requests } = await team(NEXT, { kind: 'terminate', reason: 'done', confidence: 1 });

    const runId = await test.run('team');

    expect((await ended(test, runId)).status).toBe('completed');
    expect(await decisions(test, runId)).toEqual([
      NEXT,
      { kind: 'terminate', reason: 'done', confidence: 1 },
    ]);
    expect(requests[0]?.messages[0]?.text).toContain('- writer: writes');
  });

  it('can choose no worker that is not listed: the model is asked again, then the node fails', async () => {
    const other = { kind: 'next-worker', nextWorkerIds: ['intruder'] };
    const { test, requests } = await team(other, 'writer, please', other);

    const runId = await test.run('team');

    expect((await ended(test, runId)).error).toMatchObject({ code: 'envelope_invalid' });
    expect(requests).toHaveLength(3);
    expect(await decisions(test, runId)).toEqual([]);
  });

  it.each([
    ['as it is', { ratified: true }, [{ ...NEXT, confidence: 0.2 }, { kind: 'terminate' }], 'completed'],
    ['another one', { decision: { kind: 'terminate' } }, [{ kind: 'terminate' }], 'completed'],
    ['none', { rejected: true }, [], 'failed'],
  ] as const)(
    'asks a person where the model is not sure, who takes the decision: %s',
    async (_, said, taken, status) => {
      const { test } = await team({ ...NEXT, confidence: 0.2 }, { kind: 'terminate' });
      const runId = await test.run('team');
      await until(async () => ((await test.status(runId)) === 'waiting-approval' ? true : undefined));

      await answer(test, runId, said);

      expect((await ended(test, runId)).status).toBe(status);
      expect(await decisions(test, runId)).toEqual(taken);
    },
  );

  it('is replayed without a call', async () => {
    const { test, requests } = await team(NEXT, { kind: 'terminate' });
    const runId = await test.run('team');
    await ended(test, runId);
    const asked = requests.length;

    const forked = await test.host.runs.fork(alice, runId, { mode: 'replay' });
    const replay = forked !== undefined && 'runId' in forked ? forked.runId : '';

    expect((await ended(test, replay)).status).toBe('completed');
    expect(requests).toHaveLength(asked);
    expect(await test.types(replay)).toEqual(await test.types(runId));
  });
});
