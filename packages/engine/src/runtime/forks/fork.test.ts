import type { JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { Type } from 'typebox';
import { edge, type WorkflowSpec } from '../../core/testing/definitions.ts';
import { checkLog } from '../../core/fold/log-checker.ts';
import { NodeFailure, type NodeType } from '../../model/node-type.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { decorateStore } from '../../ports/decorate-store.ts';
import { alice, startHost, stranger, type TestHost, until } from '../testing/test-host.ts';

/** Effects that the tests can count, with outcomes that differ every time unless they come from a record. */
function countingTypes(): { types: NodeType[]; calls: () => number; setGreeting: (text: string) => void } {
  let calls = 0;
  let greeting = 'hello';
  return {
    calls: () => calls,
    setGreeting: (text) => {
      greeting = text;
    },
    types: [
      {
        kind: 'effect',
        typeId: 'test.draw',
        title: 'Draw',
        summary: 'Fails once, then gives another number at every call, and streams it.',
        config: Type.Object({}),
        perform: async (_input, { attempt, emit }) => {
          calls += 1;
          if (attempt === 0) throw new NodeFailure('flaky', 'Not yet.', { retryable: true });
          emit({ chunk: 'num', isLast: false });
          emit({ chunk: 'ber', isLast: true, meta: { finishReason: 'stop' } });
          return {
            outputs: { output: calls },
            variables: { drawn: calls },
            channels: [{ channel: 'numbers', value: calls }],
            events: [{ type: 'agent.decided', payload: { agentId: 'test', decision: calls } }],
          };
        },
      },
      {
        kind: 'pure',
        typeId: 'test.greet',
        title: 'Greet',
        summary: 'Says what the code says at the moment.',
        config: Type.Object({}),
        run: () => ({ outputs: { output: greeting } }),
      },
    ],
  };
}

const RETRIED = { retry: { maxAttempts: 2, initialMs: 3, jitter: 1 } };

const WORKFLOW: WorkflowSpec = {
  nodes: [
    { id: 'begin', typeId: 'core.start' },
    {
      id: 'draw',
      typeId: 'test.draw',
      settings: RETRIED,
    },
    { id: 'wait', typeId: 'core.delay', config: { ms: 4 } },
    { id: 'greet', typeId: 'test.greet' },
    { id: 'gate', typeId: 'core.approvalGate', config: { requiredApprovals: 2 } },
    {
      id: 'call',
      typeId: 'core.subWorkflow',
      config: { workflowId: 'child', outputMapping: { got: 'made' } },
    },
    { id: 'finish', typeId: 'core.end' },
  ],
  edges: [
    edge('begin', 'draw'),
    edge('begin', 'wait'),
    edge('draw', 'greet'),
    edge('greet', 'gate'),
    edge('wait', 'gate'),
    edge('gate', 'call'),
    edge('call', 'finish'),
  ],
  channels: { numbers: { reducer: 'append', ttlMs: 1_000_000 } },
};

const CHILD: WorkflowSpec = {
  nodes: [
    { id: 'set', typeId: 'core.setVariable', config: { name: 'made', value: 'by the child' } },
    { id: 'ask', typeId: 'core.clarificationGate', config: { questions: [{ id: 'q', question: 'Yes?' }] } },
  ],
  edges: [edge('set', 'ask')],
};

describe('a fork', () => {
  let test: TestHost;
  const counting = countingTypes();
  afterEach(() => test?.host.stop(1_000));

  async function start(): Promise<TestHost> {
    counting.setGreeting('hello');
    test = await startHost({ nodes: counting.types });
    await test.register(CHILD, 'child');
    await test.register(WORKFLOW, 'parent');
    return test;
  }

  const snapshot = async (runId: string) =>
    (await test.host.runs.snapshot(alice, runId))?.snapshot as unknown as JsonObject;
  const resolve = (runId: string, nodeId: string, value: JsonObject, by = 'ada') =>
    test.host.runs.command({ ...alice, principal: by }, runId, {
      type: 'resolve',
      nodeId,
      value,
      by,
      byUser: true,
      viaLink: false,
    });
  const reaches = (runId: string, status: string) =>
    until(async () => {
      const now = (await snapshot(runId))['status'];
      if (now !== status && (now === 'failed' || now === 'completed')) throw new Error(`it ${now}`);
      return now === status;
    });

  /** Drives a run from wherever it is to its end. */
  async function drive(runId: string): Promise<void> {
    await reaches(runId, 'waiting-approval');
    await resolve(runId, 'gate', { action: 'accept', comment: 'fine' }, 'ada');
    await resolve(runId, 'gate', { action: 'accept' }, 'bob');
    await reaches(runId, 'waiting-input');
    const [child] = (await snapshot(runId))['childRuns'] as { runId: string }[];
    await resolve(child?.runId ?? '', 'ask', { answers: { q: 'yes' } });
    await reaches(runId, 'completed');
  }

  /** Answers whatever is asked until the run has ended. */
  async function answerAll(runId: string): Promise<void> {
    await until(async () => {
      const now = await snapshot(runId);
      if (now['status'] === 'waiting-approval') {
        await resolve(runId, 'gate', { action: 'accept' }, 'ada');
        await resolve(runId, 'gate', { action: 'accept' }, 'bob');
      }
      if (now['status'] === 'waiting-input') {
        const child = (now['childRuns'] as { runId: string }[]).at(-1);
        await resolve(child?.runId ?? '', 'ask', { answers: { q: 'yes' } });
      }
      return now['status'] === 'completed';
    });
  }

  async function source(): Promise<string> {
    const runId = await test.run('parent', { inputs: { secretly: 'typed in' } });
    await drive(runId);
    return runId;
  }

  async function fork(runId: string, request: Parameters<typeof test.host.runs.fork>[2]): Promise<string> {
    const forked = await test.host.runs.fork(alice, runId, request);
    if (forked === undefined || forked.replayed) throw new Error('not forked');
    return forked.runId;
  }

  const log = async (runId: string) => (await test.host.runs.events(alice, runId, -1, 10_000))?.events ?? [];

  async function differences(a: string, b: string): Promise<unknown[]> {
    const diff = await test.host.runs.diff(alice, a, b, new AbortController().signal);
    const found: unknown[] = [];
    for await (const difference of diff?.differences ?? []) found.push(difference);
    return found;
  }

  it('that replays from any sequence repeats its source, event by event, and performs nothing (E-26)', async () => {
    await start();
    const runId = await source();
    const length = (await log(runId)).length;
    const performed = counting.calls();
    const children = (await test.host.runs.list(alice, {}, { limit: 1_000 })).rows.filter(
      ({ workflowId }) => workflowId === 'child',
    ).length;

    const forks: string[] = [];
    for (let fromSeq = 0; fromSeq < length; fromSeq += 1) {
      forks.push(await fork(runId, { mode: 'replay', fromSeq }));
    }

    for (const [fromSeq, forked] of forks.entries()) {
      await reaches(forked, 'completed');
      expect(await differences(runId, forked), `from ${fromSeq}`).toEqual([]);
      const times = async (id: string) => (await log(id)).map(({ at }) => at);
      expect(await times(forked)).toEqual(await times(runId));
    }
    expect(counting.calls()).toBe(performed);
    const after = (await test.host.runs.list(alice, {}, { limit: 1_000 })).rows.filter(
      ({ workflowId }) => workflowId === 'child',
    ).length;
    expect(after).toBe(children);
  });

  it('that replays changed code says where it differs, before it ends', async () => {
    await start();
    const runId = await source();
    counting.setGreeting('good day');

    const forked = await fork(runId, { mode: 'replay' });

    await reaches(forked, 'completed');
    const events = await log(forked);
    const diverged = events.filter(({ type }) => type === 'replay.diverged');
    expect(diverged).toHaveLength(1);
    expect(JSON.parse(diverged[0]?.payload ?? '')).toMatchObject({
      sourceRunId: runId,
      divergenceKind: 'output',
      divergencePoint: 'node.completed',
    });
    expect(events.at(-1)?.type).toBe('run.completed');
  });

  it('that replays a branch of a replay which differed never goes back in time, wherever it is cut', async () => {
    await start();
    const nodes = ['greet', 'again', 'last'].map((id) => ({ id, typeId: 'test.greet' }));
    await test.register({ nodes, edges: [edge('greet', 'again'), edge('again', 'last')] }, 'greetings');
    const runId = await test.run('greetings');
    await reaches(runId, 'completed');
    counting.setGreeting('good day');
    const differing = await fork(runId, { mode: 'replay' });
    await reaches(differing, 'completed');
    const cut = (await log(differing)).length - 4;
    const branch = await fork(differing, { mode: 'branch', fromSeq: cut });
    await reaches(branch, 'completed');

    for (let fromSeq = cut; fromSeq < (await log(branch)).length; fromSeq += 1) {
      const forked = await fork(branch, { mode: 'replay', fromSeq });
      await reaches(forked, 'completed');
      const times = (await log(forked)).map(({ at }) => at);
      expect(times, `from ${fromSeq}`).toEqual([...times].sort((a, b) => a - b));
    }
  });

  it('that replays a log without causes is set aside, and says why', async () => {
    const inner = openMemoryStore();
    const store = decorateStore(inner, {
      readEvents: async (...page) => {
        const events = await inner.readEvents(...page);
        return events.map(({ overlay: _overlay, ...shown }) => shown);
      },
    });
    test = await startHost({ store, nodes: counting.types });
    await test.register({ nodes: [{ id: 'draw', typeId: 'test.draw', settings: RETRIED }] }, 'drawing');
    const source = await test.run('drawing');
    await reaches(source, 'completed');

    const replay = await fork(source, { mode: 'replay' });

    await until(async () => (await test.host.operations.quarantinedRuns()) === 1);
    expect(await snapshot(replay)).toMatchObject({
      weft: { quarantined: { reason: expect.stringContaining('does not say what caused event') } },
    });
  });

  it('that branches continues by itself: new effects, new answers, new children', async () => {
    await start();
    const runId = await source();
    const performed = counting.calls();
    const events = await log(runId);
    const cut = events.find(({ type, payload }) => type === 'node.started' && payload.includes('"gate"'));

    const forked = await fork(runId, {
      mode: 'branch',
      fromSeq: cut?.seq ?? 0,
      overlay: { tags: ['second'], configurable: { model: 'other' } },
    });
    await drive(forked);

    const branched = await log(forked);
    expect(branched.slice(0, cut?.seq).map(({ payload }) => payload)).toEqual(
      events.slice(0, cut?.seq).map(({ payload }) => payload),
    );
    expect(counting.calls()).toBe(performed);
    expect(await snapshot(forked)).toMatchObject({ tags: ['second'], configurable: { model: 'other' } });
    const childOf = async (id: string) =>
      ((await snapshot(id))['childRuns'] as { runId: string }[])[0]?.runId;
    expect(await childOf(forked)).not.toBe(await childOf(runId));
  });

  it('that branches from any sequence runs to an end, with a legal log', async () => {
    await start();
    const runId = await source();
    const length = (await log(runId)).length;

    for (let fromSeq = 0; fromSeq < length; fromSeq += 1) {
      const forked = await fork(runId, { mode: 'branch', fromSeq });
      await answerAll(forked);

      const events = await log(forked);
      const entries = events.map(({ seq, type, at, payload, document }) => ({
        sequence: seq,
        type,
        at,
        payload: JSON.parse(payload) as JsonObject,
        ...(JSON.parse(document) as { nodeId?: string }),
      }));
      expect(checkLog(entries), `from ${fromSeq}`).toEqual([]);
    }
  });

  it('that branches inside an effect performs it again', async () => {
    await start();
    const runId = await source();
    const performed = counting.calls();
    const started = (await log(runId)).filter(({ type }) => type === 'node.started');
    const second = started.find(
      ({ payload }) => payload.includes('"draw"') && payload.includes('"attempt":1'),
    );

    const forked = await fork(runId, { mode: 'branch', fromSeq: (second?.seq ?? 0) + 1 });
    await drive(forked);

    expect(counting.calls()).toBe(performed + 1);
  });

  it('that replays a run that has not ended waits where the answer is missing (E-26)', async () => {
    await start();
    const runId = await test.run('parent');
    await reaches(runId, 'waiting-approval');
    await resolve(runId, 'gate', { action: 'accept' }, 'ada');

    const forked = await fork(runId, { mode: 'replay' });
    await reaches(forked, 'waiting-approval');
    await resolve(forked, 'gate', { action: 'accept' }, 'bob');

    await until(async () => (await snapshot(forked))['status'] === 'failed');
    expect((await snapshot(forked))['error']).toMatchObject({ code: 'replay_source_missing' });
  });

  it('is refused for what is not there, and changes nothing', async () => {
    await start();
    const runId = await source();
    const count = (await test.host.runs.list(alice, {}, { limit: 1_000 })).rows.length;

    await expect(fork(runId, { mode: 'replay', fromSeq: 99_999 })).rejects.toMatchObject({
      code: 'fork_out_of_range',
    });
    await expect(fork(runId, { mode: 'branch' })).rejects.toMatchObject({ code: 'validation_error' });
    expect(await test.host.runs.fork(stranger, runId, { mode: 'replay' })).toBeUndefined();
    expect((await test.host.runs.list(alice, {}, { limit: 1_000 })).rows).toHaveLength(count);
  });

  it('of a fork reads through both, and a replay of a replay speaks of the same children', async () => {
    await start();
    const runId = await source();
    const first = await fork(runId, { mode: 'replay', fromSeq: 5 });
    await reaches(first, 'completed');

    const second = await fork(first, { mode: 'replay', fromSeq: 9 });

    await reaches(second, 'completed');
    expect(await differences(runId, second)).toEqual([]);
  });

  it('of a replay that is cut inside a unit and has not gone further, repeats the whole unit', async () => {
    await start();
    const runId = await source();
    const original = await log(runId);

    for (let fromSeq = 0; fromSeq < original.length - 1; fromSeq += 1) {
      // In one breath: no one has taken up the first.
      const first = await fork(runId, { mode: 'replay', fromSeq: fromSeq + 1 });
      const second = await fork(first, { mode: 'replay', fromSeq });
      await until(async () => (await log(second)).length > fromSeq);

      const repeated = (await log(second))[fromSeq]?.document.replaceAll(second, runId);
      expect(repeated).toBe(original[fromSeq]?.document);
    }
  });

  it('of a run that was cancelled while it waited, runs on and misses what was not done', async () => {
    test = await startHost();
    const id = await test.register({
      nodes: [
        { id: 'wait', typeId: 'core.delay', config: { ms: 3_600_000 } },
        { id: 'send', typeId: 'test.effect' },
      ],
      edges: [edge('wait', 'send')],
    });
    const runId = await test.run(id);
    await until(async () => (await log(runId)).length === 2);
    await test.host.runs.command(alice, runId, { type: 'cancel' });
    await reaches(runId, 'cancelled');

    const forked = await fork(runId, { mode: 'replay' });
    await until(async () => (await snapshot(forked))['status'] === 'failed');

    expect((await snapshot(forked))['error']).toMatchObject({ code: 'replay_source_missing' });
    expect((await log(forked)).map(({ type }) => type)).toEqual([
      'run.started',
      'node.started',
      'node.completed',
      'node.started',
      'node.failed',
      'run.failed',
    ]);
    expect(test.effects.calls).toEqual([]);
  });

  describe('of a run that is older than its timeout', () => {
    const TIMED: WorkflowSpec = {
      nodes: [
        { id: 'call', typeId: 'test.effect' },
        { id: 'finish', typeId: 'core.end' },
      ],
      edges: [edge('call', 'finish')],
      settings: { timeout: 60_000 },
    };
    let ahead = 0;

    async function oldRun(): Promise<string> {
      ahead = 0;
      test = await startHost({
        clock: { now: () => Date.now() + ahead, monotonic: () => performance.now() },
        limits: { claimTtlMs: 10_000_000 }, // moving the clock is not to cost the claims
      });
      await test.register(TIMED, 'timed');
      const runId = await test.run('timed', { configurable: { runTimeoutMs: 60_000 } });
      await until(() => test.effects.calls.length === 1);
      ahead += 50_000;
      test.effects.calls[0]?.succeed();
      await reaches(runId, 'completed');
      ahead += 3_600_000;
      return runId;
    }

    it('has a clock of its own, which starts when it branches', async () => {
      const runId = await oldRun();

      const forked = await fork(runId, { mode: 'branch', fromSeq: 2 });
      await until(() => test.effects.calls.length === 2);
      ahead += 50_000;
      test.effects.calls[1]?.succeed();

      await reaches(forked, 'completed');
    });

    it('ends as its source did when it is a replay, also of such a branch', async () => {
      const runId = await oldRun();
      const branch = await fork(runId, { mode: 'branch', fromSeq: 2 });
      await until(() => test.effects.calls.length === 2);
      ahead += 60_001;
      test.effects.calls[1]?.succeed();
      await until(async () => (await snapshot(branch))['status'] === 'failed');
      ahead += 3_600_000;

      for (const source of [runId, branch]) {
        const forked = await fork(source, { mode: 'replay', fromSeq: 2 });
        await until(async () => (await snapshot(forked))['completedAt'] !== undefined);
        expect(await differences(source, forked)).toEqual([]);
      }
    });
  });

  describe('of a replay that went apart from its source', () => {
    const WAITING: WorkflowSpec = {
      nodes: [
        { id: 'wait', typeId: 'core.delay', config: { ms: 50 } },
        { id: 'ask', typeId: 'core.clarificationGate', config: { questions: [{ id: 'q', question: '?' }] } },
      ],
      edges: [],
    };

    /** The first replay stands still, because its source had got no further either. */
    async function firstReplay(): Promise<string> {
      await start();
      await test.register(WAITING, 'waiting');
      const runId = await test.run('waiting');
      return await fork(runId, { mode: 'replay' });
    }

    const hasEnded = (runId: string, status: string) =>
      until(async () => (await snapshot(runId))['status'] === status);

    it('because it was cancelled, continues where it was cancelled, unless it begins after that', async () => {
      const first = await firstReplay();
      await test.host.runs.command(alice, first, { type: 'cancel', by: 'ada' });
      await hasEnded(first, 'cancelled');
      const events = await log(first);
      const cancelledAt = events.findIndex(({ type }) => type === 'node.cancelled');

      for (let fromSeq = 0; fromSeq < events.length; fromSeq += 1) {
        const second = await fork(first, { mode: 'replay', fromSeq });
        if (fromSeq > cancelledAt) {
          await hasEnded(second, 'cancelled');
          expect(await differences(first, second), `from ${fromSeq}`).toEqual([]);
          continue;
        }
        await hasEnded(second, 'waiting-input');
        await resolve(second, 'ask', { answers: { q: 'yes' } });
        await hasEnded(second, 'completed');
      }
    });

    /** Where a run asks its question; below 0 until it does. */
    const asked = async (id: string) =>
      (await log(id)).findIndex(({ type }) => type === 'interrupt.requested');

    async function waitingRun(): Promise<string> {
      await start();
      await test.register(WAITING, 'waiting');
      const runId = await test.run('waiting');
      await until(async () => (await asked(runId)) > 0);
      return runId;
    }

    it('of a branch from the middle of an act, repeats it, and can be answered', async () => {
      const runId = await waitingRun();
      const branch = await fork(runId, { mode: 'branch', fromSeq: await asked(runId) });
      await until(async () => (await asked(branch)) > 0);
      const first = await fork(branch, { mode: 'replay' });
      await until(async () => (await log(first)).length === (await log(branch)).length);
      expect(await differences(branch, first)).toEqual([]);

      for (let fromSeq = 0; fromSeq < (await log(first)).length; fromSeq += 1) {
        const second = await fork(first, { mode: 'replay', fromSeq });
        await until(async () => (await asked(second)) > 0);
        await resolve(second, 'ask', { answers: { q: 'yes' } });
        await hasEnded(second, 'completed');
      }
    });

    it('of a branch that has not begun yet, begins as it will, and can be answered', async () => {
      const runId = await waitingRun();
      const fromSeq = await asked(runId);

      // In one breath: no one has taken up the branch.
      const branch = await fork(runId, { mode: 'branch', fromSeq });
      const replay = await fork(branch, { mode: 'replay' });

      await until(async () => (await asked(replay)) > 0);
      await resolve(replay, 'ask', { answers: { q: 'yes' } });
      await hasEnded(replay, 'completed');
    });

    it('because it was answered, lets time pass all the same', async () => {
      const first = await firstReplay();
      await until(async () => (await log(first)).some(({ type }) => type === 'interrupt.requested'));
      await resolve(first, 'ask', { answers: { q: 'yes' } });
      await hasEnded(first, 'completed');

      for (let fromSeq = 0; fromSeq < (await log(first)).length; fromSeq += 1)
        await hasEnded(await fork(first, { mode: 'replay', fromSeq }), 'completed');
    });
  });
});
