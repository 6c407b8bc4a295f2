import type { Json } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { checkLog } from '../core/fold/log-checker.ts';
import { node } from '../core/testing/definitions.ts';
import { logEntries } from '../core/testing/simulation.ts';
import { openMemoryStore } from '../memory-store/memory-store.ts';
import type { ModelRequest, Models } from '../ports/models.ts';
import { alice, startHost, type TestHost, until } from '../runtime/testing/test-host.ts';
import type { HostOptions } from './host-options.ts';

const opened: TestHost[] = [];

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

const QUESTIONS = [{ id: 'colour', question: 'Which colour?', schema: { type: 'string' } }];
const ASKS = JSON.stringify({ type: 'clarification.request', payload: { questions: QUESTIONS } });

/** Asks a person as often as its prompt says, then repeats the last answer. */
function curious(times: number): { readonly requests: ModelRequest[]; readonly models: Models } {
  const requests: ModelRequest[] = [];
  const call = async (request: ModelRequest) => {
    requests.push(request);
    const turn = request.messages.filter(({ role }) => role === 'assistant').length;
    const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
    const text = turn < times ? ASKS : (request.messages.at(-1)?.text ?? '');
    return { text, model: 'curious-1', finishReason: 'stop' as const, usage };
  };
  return { requests, models: { providerFor: () => ({ id: 'curious', call }) } };
}

async function open(options: Partial<HostOptions>): Promise<TestHost> {
  const test = await startHost(options);
  opened.push(test);
  return test;
}

const NODES = {
  'core.ai.callPrompt': { prompt: 'Paint it.' },
  'weft.ai.agent': { instructions: 'Be brief.', prompt: 'Paint it.' },
};

async function begin(test: TestHost, typeId: keyof typeof NODES): Promise<string> {
  await test.register({ nodes: [node('painter', typeId, NODES[typeId])] }, 'paint');
  return test.run('paint');
}

async function reaches(test: TestHost, runId: string, status: string) {
  return until(async () => {
    const snapshot = (await test.host.runs.snapshot(alice, runId))?.snapshot;
    return snapshot?.status === status ? snapshot : undefined;
  });
}

async function answer(test: TestHost, runId: string, value: Json): Promise<void> {
  const by = { by: 'alice', byUser: false, viaLink: false };
  const command = { type: 'resolve', nodeId: 'painter', value, ...by } as const;
  await test.host.runs.command(alice, runId, command);
}

describe.each(['core.ai.callPrompt', 'weft.ai.agent'] as const)('a model that asks, in %s', (typeId) => {
  it('waits for a person across hosts, gets the answer, and is replayed without being asked', async () => {
    const store = openMemoryStore();
    const { models, requests } = curious(1);
    const first = await open({ store, models });
    const runId = await begin(first, typeId);
    await reaches(first, runId, 'waiting-input');
    await first.host.stop(0);
    const second = await open({ store, models });

    await answer(second, runId, { answers: { colour: 7 } });
    expect(await second.status(runId)).toBe('waiting-input');
    await answer(second, runId, { answers: { colour: 'blue' } });
    const { outputs } = await reaches(second, runId, 'completed');
    const forked = await second.host.runs.fork(alice, runId, { mode: 'replay' });
    const replay = forked !== undefined && 'runId' in forked ? forked.runId : '';
    await reaches(second, replay, 'completed');

    expect(outputs).toMatchObject({ output: expect.stringContaining('{"colour":"blue"}') as string });
    expect(requests).toHaveLength(2);
    expect(await second.types(replay)).toEqual(await second.types(runId));
    const types = await second.types(runId);
    expect(types).toContain('clarification.requested');
    expect(types.filter((type) => type === 'provider.usage')).toHaveLength(2);
    const events = await store.readEvents(runId, 0, 100, 1e6);
    expect(checkLog(logEntries(events))).toEqual([]);
  });

  it('asks as often as the run allows, and no more', async () => {
    const { models, requests } = curious(9);
    const test = await open({ models, limits: { clarificationRounds: 2 } });
    const runId = await begin(test, typeId);
    for (let round = 1; round <= 2; round += 1) {
      await until(async () => requests.length === round || undefined);
      await reaches(test, runId, 'waiting-input');
      await answer(test, runId, { answers: { colour: 'blue' } });
    }

    const { error } = await reaches(test, runId, 'failed');

    expect(error).toMatchObject({ code: 'clarification_limit_exceeded' });
    expect(requests).toHaveLength(3);
  });
});

describe('discovery', () => {
  it('lists the envelopes of a host with models, and none of one without', async () => {
    const { models } = curious(0);
    const offered = { fallback: [], providers: [] };

    const without = (await open({})).host.capabilities();
    const kinds = (await open({ models: { ...models, offered } })).host.capabilities();

    expect(without.supportedEnvelopes).toEqual([]);
    expect(kinds.supportedEnvelopes.toSorted()).toEqual([
      'clarification.request',
      'error',
      'schema.request',
      'schema.response',
    ]);
    expect(Object.keys(kinds.schemaVersions)).toHaveLength(4);
  });
});
