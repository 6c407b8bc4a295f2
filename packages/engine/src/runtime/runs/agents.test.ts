import type { JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { chain, definition, node } from '../../core/testing/definitions.ts';
import type { HostOptions } from '../../host/create-host.ts';
import type { Caller } from '../../host/host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { Command } from '../../ports/store.ts';
import { alice, newRun, startHost, type TestHost, until } from '../testing/test-host.ts';
import { CONFORMANCE } from '../../conformance/index.ts';

const opened: TestHost[] = [];

async function open(options: Partial<HostOptions> = {}): Promise<TestHost> {
  const test = await startHost(options);
  opened.push(test);
  return test;
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

const NEXT = (...nextWorkerIds: string[]): JsonObject => ({ kind: 'next-worker', nextWorkerIds });
const loop = (decisions: JsonObject[]) => ({
  nodes: [
    node('sup', 'core.orchestrator.supervisor', { mockDecisions: decisions }),
    node('dis', 'core.dispatch'),
  ],
  edges: chain('sup', 'dis', 'sup'),
});
const EFFECT = { nodes: [node('work', 'test.effect')] };

const reaches = (test: TestHost, runId: string, status: string) =>
  until(async () => (await test.status(runId)) === status);

async function answer(test: TestHost, runId: string, nodeId: string, value: JsonObject): Promise<boolean> {
  const command: Command = { type: 'resolve', nodeId, value, by: 'alice', byUser: false, viaLink: false };
  const sent = await test.host.runs.command(alice, runId, command);
  return sent !== undefined && !sent.replayed && sent.commandResult?.applied === true;
}

describe('a dispatch loop', () => {
  it('runs its workers one after the other, each in a run of its own, and ends', async () => {
    const test = await open();
    await test.register(EFFECT, 'worker-a');
    await test.register(EFFECT, 'worker-b');
    const spec = loop([NEXT('worker-a', 'worker-b'), NEXT('worker-a'), { kind: 'terminate' }]);
    const runId = await test.run(await test.register(spec, 'boss'));

    for (let count = 0; count < 3; count += 1) {
      (await until(() => test.effects.calls[count])).succeed();
      expect(test.effects.calls.length).toBeLessThanOrEqual(count + 1);
    }
    await reaches(test, runId, 'completed');

    const childRuns = (await test.host.runs.snapshot(alice, runId))?.snapshot['childRuns'] as JsonObject[];
    expect(childRuns.map(({ workflowId, status }) => `${String(workflowId)} ${String(status)}`)).toEqual([
      'worker-a completed',
      'worker-b completed',
      'worker-a completed',
    ]);
  });

  it('continues in the round in which its host stopped', async () => {
    const store = openMemoryStore();
    const first = await open({ store });
    await first.register(EFFECT, 'worker');
    const runId = await first.run(await first.register(loop([NEXT('worker'), NEXT('worker')]), 'boss'));
    (await until(() => first.effects.calls[0])).succeed();
    const cutOff = await until(() => first.effects.calls[1]);
    await first.host.stop(0);

    const second = await open({ store });
    const again = await until(() => second.effects.calls[0]);
    again.succeed();

    await reaches(second, runId, 'completed');
    expect(again.context.invocationId).toBe(cutOff.context.invocationId);
    expect((await second.types(runId)).filter((type) => type === 'node.dispatched')).toHaveLength(2);
  });

  it('waits for the user, and goes round with the answer', async () => {
    const test = await open();
    const runId = await test.run(
      await test.register(loop([{ kind: 'ask-user', prompt: 'Which?' }, { kind: 'terminate' }]), 'boss'),
    );
    await reaches(test, runId, 'waiting-approval');

    expect(await answer(test, runId, 'dis', { content: 'This one.' })).toBe(true);
    expect(await test.status(runId)).toBe('waiting-approval');
    expect(await answer(test, runId, 'dis', { operation: 'close' })).toBe(true);

    await reaches(test, runId, 'completed');
  });
});

describe('a conversation', () => {
  it('whose channel is full refuses a turn, and the run is none the worse for it', async () => {
    const test = await open();
    const runId = await test.run(
      await test.register(
        {
          nodes: [node('talk', 'core.conversationGate')],
          channels: { conversation: { reducer: 'message', maxSize: 2 } },
        },
        'talk',
      ),
    );
    await reaches(test, runId, 'waiting-approval');

    expect(await answer(test, runId, 'talk', { content: 'one' })).toBe(true);
    expect(await answer(test, runId, 'talk', { content: 'two' })).toBe(false);
    expect(await answer(test, runId, 'talk', { operation: 'close' })).toBe(true);

    await reaches(test, runId, 'completed');
  });
});

describe('streamed text', () => {
  const tester: Caller = { ...alice, test: true };
  const TOKENS = ['one ', 'two ', 'three'];
  const configurable = {
    mockProvider: { id: 'stream-text', config: { tokens: TOKENS, delayMsPerToken: 1 } },
  };

  it('is in the log piece by piece, before the node completes with the whole', async () => {
    const test = await open({ conformance: CONFORMANCE });
    const spec = { nodes: [node('speak', 'core.ai.callPrompt', { prompt: 'Speak.' })] };
    await test.host.workflows.register(
      tester,
      { ...definition(spec), id: 'speak' },
      { strict: false, dev: false },
    );
    const accepted = await test.host.runs.create(tester, newRun('speak', { configurable }));
    const runId = 'runId' in accepted ? accepted.runId : '';

    await reaches(test, runId, 'completed');

    const events = await test.store.readEvents(runId, 0, 100, 1e6);
    const chunks = events
      .filter(({ type }) => type === 'output.chunk')
      .map(({ payload }) => JSON.parse(payload) as JsonObject);
    expect(chunks.map(({ chunk }) => chunk)).toEqual(TOKENS);
    expect(chunks.map(({ isLast }) => isLast)).toEqual([false, false, true]);
    const completed = events.find(({ type }) => type === 'node.completed');
    expect(JSON.parse(completed?.payload ?? '{}')).toMatchObject({ outputs: { text: TOKENS.join('') } });
  });
});
