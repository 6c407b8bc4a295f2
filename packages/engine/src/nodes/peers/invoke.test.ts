import type { Json, JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { node } from '../../core/testing/definitions.ts';
import type { HostOptions } from '../../host/create-host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { NodeFailure } from '../../model/node-type.ts';
import type { PeerMessage, Peers, PeerTask } from '../../ports/peers.ts';
import { alice, startHost, type TestHost, until } from '../../runtime/testing/test-host.ts';

const opened: TestHost[] = [];

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

async function open(options: Partial<HostOptions>): Promise<TestHost> {
  const test = await startHost(options);
  opened.push(test);
  return test;
}

const DIGEST = 'a'.repeat(64);

interface Agent extends Peers {
  digest: string;
  takesRepeats: boolean;
  readonly sent: (PeerMessage & { readonly invocationId: string })[];
  readonly followed: string[];
  readonly cancelled: string[];
}

type Says = PeerTask['state'] | PeerTask | (() => Promise<PeerTask>);

/** An agent that says this, one after the other, to what it is sent and asked. */
function agentThat(...says: Says[]): Agent {
  async function next(): Promise<PeerTask> {
    const said = says.shift() ?? 'WORKING';
    if (typeof said === 'function') return await said();
    return typeof said === 'string' ? { taskId: 't-1', contextId: 'c-1', state: said } : said;
  }
  const agent: Agent = {
    digest: DIGEST,
    takesRepeats: false,
    sent: [],
    followed: [],
    cancelled: [],
    names: ['helper'],
    addressOf: () => 'http://peer.example/',
    card: async () => ({
      agentName: 'Helper',
      protocolVersion: '1.0',
      skills: [{ id: 'echo', name: 'Echo', description: '', digest: agent.digest }],
      takesRepeats: agent.takesRepeats,
    }),
    async send(message, { invocationId }) {
      if (message.cardDigest !== agent.digest) throw new NodeFailure('peer_changed', 'It has changed.');
      agent.sent.push({ ...message, invocationId });
      return await next();
    },
    async follow({ taskId }, _timeoutMs, { signal }) {
      agent.followed.push(taskId);
      const gone = new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }),
      );
      return await Promise.race([next(), gone]);
    },
    async cancel({ taskId }) {
      agent.cancelled.push(taskId);
      return { taskId, state: 'CANCELED' };
    },
  };
  return agent;
}

const text = (...texts: string[]) => texts.map((each) => ({ text: each }));
const never = () => new Promise<never>(() => undefined);

const start = async (test: TestHost, config: JsonObject = {}, inputs: JsonObject = {}) =>
  test.run(
    await test.register({
      nodes: [node('call', 'core.a2a.invoke', { skill: 'echo', ...config }, { inputs })],
    }),
  );

const reaches = (test: TestHost, runId: string, status: string) =>
  until(async () => (await test.status(runId)) === status);

async function payloads(test: TestHost, runId: string, type: string): Promise<JsonObject[]> {
  const events = await test.store.readEvents(runId, 0, 10_000, 1e9);
  return events
    .filter((event) => event.type === type)
    .map(({ payload }) => JSON.parse(payload) as JsonObject);
}

const answer = (test: TestHost, runId: string, value: Json) =>
  test.host.runs.command(alice, runId, {
    type: 'resolve',
    nodeId: 'call',
    value: { answers: { answer: value } },
    by: 'alice',
    byUser: false,
    viaLink: false,
  });

const errorOf = async (test: TestHost, runId: string) =>
  (await payloads(test, runId, 'run.failed'))[0]?.['error'];

describe('core.a2a.invoke', () => {
  it('sends the task, follows it, and outputs what came back with the card it was done by', async () => {
    const done: PeerTask = {
      taskId: 't-1',
      state: 'COMPLETED',
      artifacts: [{ name: 'result', parts: [{ data: { sum: 3 } }] }],
    };
    const agent = agentThat('SUBMITTED', 'WORKING', done);
    const test = await open({ peers: agent });

    const runId = await start(test, { input: { a: 1 } });

    await reaches(test, runId, 'completed');
    const [completed] = await payloads(test, runId, 'node.completed');
    expect(agent.sent).toMatchObject([
      { peer: 'helper', skill: 'echo', content: { a: 1 }, cardDigest: DIGEST },
    ]);
    expect(agent.followed).toEqual(['t-1', 't-1']);
    expect(completed?.['outputs']).toEqual({
      output: { sum: 3 },
      artifacts: [{ name: 'result', parts: [{ data: { sum: 3 } }] }],
      message: [],
      task: { peer: 'helper', taskId: 't-1', state: 'COMPLETED', cardDigest: DIGEST },
    });
  });

  it.each([
    ['REJECTED', 'rejected_by_remote'],
    ['FAILED', 'remote_failed'],
    ['CANCELED', 'remote_cancelled'],
  ] as const)('fails with a reason when the agent answers %s', async (state, code) => {
    const test = await open({
      peers: agentThat({ taskId: 't-1', state, message: text('Not today.') }),
    });

    const runId = await start(test);

    await reaches(test, runId, 'failed');
    expect(await errorOf(test, runId)).toMatchObject({
      code,
      message: expect.stringContaining('Not today.'),
    });
  });

  it.each([
    ['INPUT_REQUIRED', undefined],
    ['AUTH_REQUIRED', 'auth'],
  ] as const)(
    'lifts %s into a question, through a restart, and forwards the answer to the same task (G-3)',
    async (state, subkind) => {
      const store = openMemoryStore();
      const asks: PeerTask = { taskId: 't-1', contextId: 'c-1', state, message: text('Which one?') };
      const agent = agentThat(asks, 'WORKING', { taskId: 't-1', state: 'COMPLETED', message: text('Done.') });
      const first = await open({ store, peers: agent });
      const runId = await start(first);
      await reaches(first, runId, 'waiting-input');
      const [asked] = await payloads(first, runId, 'interrupt.requested');
      await first.host.stop(0);

      const second = await open({ store, peers: agent });
      await answer(second, runId, 'the red one');

      await reaches(second, runId, 'completed');
      expect(asked).toMatchObject({
        kind: 'clarification',
        data: {
          questions: [{ id: 'answer', question: 'Which one?' }],
          metadata: { peer: 'helper', taskId: 't-1', state, ...(subkind !== undefined && { subkind }) },
        },
      });
      expect(agent.sent.at(1)).toMatchObject({ taskId: 't-1', contextId: 'c-1', content: 'the red one' });
      expect(agent.sent.at(1)?.invocationId).not.toBe(agent.sent.at(0)?.invocationId);
    },
  );

  it('asks for a task that it knows by its id after a crash, and sends nothing again (G-1)', async () => {
    const store = openMemoryStore();
    const agent = agentThat('WORKING', never, 'COMPLETED');
    const first = await open({ store, peers: agent });
    const runId = await start(first);
    await until(() => agent.followed.length === 1);
    await first.host.stop(0);

    const second = await open({ store, peers: agent });

    await reaches(second, runId, 'completed');
    expect(agent.sent).toHaveLength(1);
    expect(agent.followed).toEqual(['t-1', 't-1']);
  });

  it.each([
    [true, 'completed', 2],
    [false, 'failed', 1],
  ])(
    'after a crash in the middle of sending, with an agent that takes repeats: %s, is %s (G-1)',
    async (takesRepeats, status, count) => {
      const store = openMemoryStore();
      const agent = agentThat(never, 'COMPLETED');
      agent.takesRepeats = takesRepeats;
      const first = await open({ store, peers: agent });
      const runId = await start(first);
      await until(() => agent.sent.length === 1);
      await first.host.stop(0);

      const second = await open({ store, peers: agent });

      await reaches(second, runId, status);
      expect(agent.sent).toHaveLength(count);
      expect(new Set(agent.sent.map(({ invocationId }) => invocationId)).size).toBe(1);
      if (!takesRepeats)
        expect(await errorOf(second, runId)).toMatchObject({ code: 'effect_outcome_unknown' });
    },
  );

  it('sends nothing to an agent that has become another one, and takes its task back (G-2)', async () => {
    const agent = agentThat({ taskId: 't-1', state: 'INPUT_REQUIRED', message: text('Your PIN?') });
    const test = await open({ peers: agent });
    const runId = await start(test);
    await reaches(test, runId, 'waiting-input');

    agent.digest = 'b'.repeat(64);
    await answer(test, runId, '1234');

    await reaches(test, runId, 'failed');
    expect(await errorOf(test, runId)).toMatchObject({ code: 'peer_changed' });
    expect(agent.sent).toHaveLength(1);
    expect(agent.cancelled).toEqual(['t-1']);
  });

  it.each(['running', 'waiting-input'])(
    'tells the agent when the run is cancelled while it is %s (G-4)',
    async (status) => {
      const agent = agentThat(
        ...(status === 'running' ? (['WORKING', never] as const) : (['INPUT_REQUIRED'] as const)),
      );
      const test = await open({ peers: agent });
      const runId = await start(test);
      await reaches(test, runId, status);
      if (status === 'running') await until(() => agent.followed.length === 1);

      await test.host.runs.command(alice, runId, { type: 'cancel' });

      await reaches(test, runId, 'cancelled');
      await until(() => agent.cancelled.length === 1);
    },
  );

  it('replays from the record, and speaks to no one', async () => {
    const agent = agentThat('WORKING', { taskId: 't-1', state: 'COMPLETED', message: text('Done.') });
    const test = await open({ peers: agent });
    const runId = await start(test);
    await reaches(test, runId, 'completed');

    const fork = await test.host.runs.fork(alice, runId, { mode: 'replay' });
    const forkId = fork !== undefined && 'runId' in fork ? fork.runId : '';

    await reaches(test, forkId, 'completed');
    expect(agent.sent).toHaveLength(1);
    expect((await payloads(test, forkId, 'node.completed'))[0]?.['outputs']).toMatchObject({
      output: 'Done.',
    });
  });

  it.each([
    [{ peer: 'stranger' }, 'peer_unknown', 'there are helper'],
    [{ skill: 'fly' }, 'peer_skill_unknown', 'it has echo'],
    [{ cardDigest: 'c'.repeat(64) }, 'peer_changed', DIGEST],
  ])('says what is wrong with %j, and sends nothing', async (config, code, hint) => {
    const agent = agentThat();
    const test = await open({ peers: agent });

    const runId = await start(test, config);

    await reaches(test, runId, 'failed');
    expect(await errorOf(test, runId)).toMatchObject({ code, message: expect.stringContaining(hint) });
    expect(agent.sent).toEqual([]);
  });
});
