import type { JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { CONFORMANCE } from '../conformance/index.ts';
import { definition, node } from '../core/testing/definitions.ts';
import { NodeFailure } from '../model/node-type.ts';
import type { Models } from '../ports/models.ts';
import { alice, newRun, startHost, type TestHost, until } from '../runtime/testing/test-host.ts';
import type { Caller } from './host.ts';
import type { HostOptions } from './host-options.ts';

const opened: TestHost[] = [];
const tester: Caller = { ...alice, test: true };
const MOCK = { mockProvider: { id: 'stream-text', config: { tokens: ['mocked'] } } };
const SPEAK = { nodes: [node('speak', 'core.ai.callPrompt', { prompt: 'Speak.' })] };

/** Says what it was asked. */
const ECHO: Models = {
  providerFor: () => ({
    id: 'echo',
    call: async ({ messages }) => ({
      text: messages.at(-1)?.text ?? '',
      model: 'echo-1',
      finishReason: 'stop',
      usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 },
    }),
  }),
};

async function open(options: Partial<HostOptions>): Promise<TestHost> {
  const test = await startHost(options);
  opened.push(test);
  return test;
}

async function said(test: TestHost, configurable: JsonObject = {}): Promise<unknown> {
  await test.register(SPEAK, 'speak');
  const accepted = await test.host.runs.create(tester, newRun('speak', { configurable }));
  const runId = 'runId' in accepted ? accepted.runId : '';
  const ended = await until(async () => {
    const snapshot = (await test.host.runs.snapshot(alice, runId))?.snapshot;
    return snapshot?.status === 'completed' || snapshot?.status === 'failed' ? snapshot : undefined;
  });
  return ended.error?.code ?? (ended['outputs'] as JsonObject | undefined)?.['text'];
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

describe('the models of a host', () => {
  it('answer its prompts', async () => {
    expect(await said(await open({ models: ECHO }))).toBe('Speak.');
  });

  it('have what they used added up in the metrics of the run, without a price that no one knows', async () => {
    const test = await open({ models: ECHO });
    const ask = (id: string) => node(id, 'core.ai.callPrompt', { prompt: 'Speak.' });
    await test.register({ nodes: [ask('one'), ask('two')] }, 'twice');
    const runId = await test.run('twice');

    const ended = await until(async () => {
      const snapshot = (await test.host.runs.snapshot(alice, runId))?.snapshot;
      return snapshot?.status === 'completed' ? snapshot : undefined;
    });

    expect(ended.metrics).toEqual({
      openwopCost: { tokens: { input: 2, output: 2 }, provider: 'echo', model: 'echo-1' },
    });
  });

  it('are none unless it is given some', async () => {
    expect(await said(await open({}))).toBe('provider_unavailable');
  });

  it('leave the mock that a run names to a test host', async () => {
    const test = await open({ models: ECHO, conformance: CONFORMANCE });

    expect(await said(test, MOCK)).toBe('mocked');
    expect(await said(test)).toBe('Speak.');
  });

  it('include no mock on a live host, whatever the caller is', async () => {
    await expect(said(await open({ models: ECHO }), MOCK)).rejects.toMatchObject({
      code: 'mock_provider_forbidden',
    });
  });
});

describe('a prompt whose stream breaks', () => {
  async function broken(times: number): Promise<{ test: TestHost; runId: string; ids: string[] }> {
    const ids: string[] = [];
    const models: Models = {
      providerFor: () => ({
        id: 'shaky',
        async call(_request, { emit, invocationId }) {
          ids.push(invocationId);
          emit({ chunk: 'Once', isLast: false });
          if (ids.length <= times) {
            const more = { retryable: true };
            throw new NodeFailure('provider_unavailable', 'The answer broke off.', more);
          }
          emit({ chunk: ' more.', isLast: true });
          const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 };
          return { text: 'Once more.', model: 'shaky-1', finishReason: 'stop', usage };
        },
      }),
    };
    const test = await open({ models });
    const settings = { retry: { maxAttempts: 2, initialMs: 1 } };
    await test.register(
      { nodes: [node('speak', 'core.ai.callPrompt', { prompt: 'Speak.' }, { settings })] },
      'speak',
    );
    return { test, runId: await test.run('speak'), ids };
  }

  it('is asked again under the same id, and keeps what was said before', async () => {
    const { test, runId, ids } = await broken(1);

    await until(async () => (await test.status(runId)) === 'completed');

    const events = await test.store.readEvents(runId, 0, 100, 1e6);
    const chunks = events.filter(({ type }) => type === 'output.chunk');
    expect(chunks.map(({ payload }) => (JSON.parse(payload) as JsonObject)['chunk'])).toEqual([
      'Once',
      'Once',
      ' more.',
    ]);
    expect(await test.types(runId)).toContain('weft.step.retried');
    expect(new Set(ids).size).toBe(1);
    expect(ids).toHaveLength(2);
  });

  it('is a dead letter when its attempts are used up', async () => {
    const { test, runId } = await broken(9);

    await until(async () => (await test.status(runId)) === 'failed');

    expect(await test.types(runId)).toContain('run.dead_lettered');
  });
});

describe('the probes of a suite', () => {
  const probing = { ...definition({ nodes: [node('a', 'core.identity', { mockConfidence: 0.5 })] }) };
  const workflow = { ...probing, id: 'conformance-probing' };

  it('play on a test host, in workflows of the suite alone', async () => {
    const { host } = await open({ conformance: CONFORMANCE });

    expect((await host.workflows.check(workflow)).errors).toEqual([]);
    expect((await host.workflows.check({ ...workflow, id: 'mine' })).errors).not.toEqual([]);
  });

  it('are unknown to a live host', async () => {
    const { host } = await open({});

    expect((await host.workflows.check(workflow)).errors).not.toEqual([]);
  });
});
