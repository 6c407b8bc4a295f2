import { afterEach, describe, expect, it } from 'vitest';
import { chain, node } from '../../core/testing/definitions.ts';
import type { HostOptions } from '../../host/create-host.ts';
import type { IdempotencyClaim } from '../../host/host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { NodeFailure } from '../../model/node-type.ts';
import type { Store } from '../../ports/store.ts';
import { testClock } from '../testing/test-clock.ts';
import { alice, startHost, type TestHost, until } from '../testing/test-host.ts';

const opened: TestHost[] = [];

async function open(options: Partial<HostOptions> = {}): Promise<TestHost> {
  const test = await startHost(options);
  opened.push(test);
  return test;
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

const LONG_DELAY = {
  nodes: [node('wait', 'core.delay', { ms: 60_000 }), node('after')],
  edges: chain('wait', 'after'),
};
const SHORT_DELAY = {
  nodes: [node('wait', 'core.delay', { ms: 400 }), node('after')],
  edges: chain('wait', 'after'),
};

describe('cancel', () => {
  it.each([
    ['a parked delay', LONG_DELAY],
    ['a delay in memory', SHORT_DELAY],
    ['an effect', { nodes: [node('call', 'test.effect')] }],
  ])('interrupts %s', async (_, spec) => {
    const { host, register, run, status, types } = await open();
    const runId = await run(await register(spec));

    const answer = await host.runs.command(alice, runId, { type: 'cancel', reason: 'enough' });

    expect(answer).toMatchObject({ replayed: false, status: 'cancelled', commandResult: { applied: true } });
    expect(await status(runId)).toBe('cancelled');
    expect((await types(runId)).at(-1)).toBe('run.cancelled');
    expect(await host.runs.explain(alice, runId)).toMatchObject({ waitingFor: 'nothing' });
  });

  it('aborts the running effect and drops what it still returns', async () => {
    const { host, effects, register, run, types } = await open();
    const runId = await run(await register({ nodes: [node('call', 'test.effect')] }));
    const call = await until(() => effects.calls[0]);

    await host.runs.command(alice, runId, { type: 'cancel' });
    call.succeed();

    expect(call.context.signal.aborted).toBe(true);
    expect((await types(runId)).filter((type) => type === 'node.completed')).toEqual([]);
  });

  it('of a run that has not begun lets it make none of its calls', async () => {
    const { host, effects, register, run, types } = await open({ limits: { maxLiveRuns: 1 } });
    const workflowId = await register({ nodes: [node('call', 'test.effect')] });
    await run(workflowId);
    await until(() => effects.calls[0]);
    const runId = await run(workflowId);

    const answer = await host.runs.command(alice, runId, { type: 'cancel' });

    expect(answer).toMatchObject({ status: 'cancelled' });
    expect(await types(runId)).toEqual(['run.started', 'run.cancelled']);
    expect(effects.calls).toHaveLength(1);
  });

  it('of a run that is over answers with how it ended', async () => {
    const { host, register, run } = await open();
    const runId = await run(await register({ nodes: [node('a')] }));

    const answer = await host.runs.command(alice, runId, { type: 'cancel' });

    expect(answer).toEqual({
      replayed: false,
      status: 'completed',
      commandResult: { applied: false, status: 'completed' },
    });
  });

  it('is on the audit record', async () => {
    const { host, store, register, run } = await open();
    const runId = await run(await register(LONG_DELAY));

    await host.runs.command(alice, runId, { type: 'cancel' });

    const entries = await store.readAudit(0, 100);
    expect(entries).toContainEqual(
      expect.objectContaining({ action: 'run.cancel', target: runId, actor: 'alice' }),
    );
  });
});

describe('pause and resume', () => {
  it('stop a delay at once and let it continue', async () => {
    const { host, register, run, status, types } = await open();
    const runId = await run(await register(SHORT_DELAY));

    const paused = await host.runs.command(alice, runId, { type: 'pause', policy: 'immediate' });
    expect(paused).toMatchObject({ commandResult: { applied: true, status: 'paused' } });
    expect(await status(runId)).toBe('paused');
    expect(await host.runs.explain(alice, runId)).toMatchObject({ waitingFor: 'resume' });
    expect(host.stats()).toMatchObject({ live: 0 });
    const resumed = await host.runs.command(alice, runId, { type: 'resume' });

    expect(resumed).toMatchObject({ commandResult: { applied: true, status: 'running' } });
    await until(async () => (await status(runId)) === 'completed');
    expect(await types(runId)).toEqual([
      'run.started',
      'node.started',
      'run.paused',
      'run.resumed',
      'node.completed',
      'node.started',
      'node.completed',
      'run.completed',
    ]);
  });

  it('with a drain wait for the running effect (W-15)', async () => {
    const { host, effects, register, run, status, types } = await open();
    const workflowId = await register({
      nodes: [node('call', 'test.effect'), node('z')],
      edges: chain('call', 'z'),
    });
    const runId = await run(workflowId);
    const call = await until(() => effects.calls[0]);

    const asked = host.runs.command(alice, runId, { type: 'pause', policy: 'drain-current-node' });
    await until(async () => (await host.runs.explain(alice, runId))?.waitingFor === 'command');
    expect(await status(runId)).toBe('running');
    call.succeed();

    expect(await asked).toMatchObject({ commandResult: { applied: true, status: 'paused' } });
    expect(await types(runId)).toEqual(['run.started', 'node.started', 'node.completed', 'run.paused']);
    await host.runs.command(alice, runId, { type: 'resume' });
    await until(async () => (await status(runId)) === 'completed');
  });

  it('with a drain leave others their turns when a retry becomes due that the drain holds back', async () => {
    const clock = testClock();
    const { host, effects, register, run, status, types } = await open({ clock, limits: { pollMs: 2 } });
    const flaky = {
      ...node('flaky', 'test.effect'),
      settings: { retry: { maxAttempts: 2, initialMs: 100 } },
    };
    const both = [
      { from: 'first', to: 'slow' },
      { from: 'first', to: 'flaky' },
    ];
    const nodes = [node('first'), node('slow', 'test.effect'), flaky];
    const runId = await run(await register({ nodes, edges: both }));
    const calls = await until(() => (effects.calls.length === 2 ? effects.calls : undefined));
    const call = (nodeId: string) => calls.find((each) => each.input.nodeId === nodeId);
    call('flaky')?.fail(new NodeFailure('flaky', 'Not yet.', { retryable: true }));
    await until(async () => (await types(runId)).includes('node.retried'));

    const asked = host.runs.command(alice, runId, { type: 'pause', policy: 'drain-current-node' });
    await until(async () => (await host.runs.explain(alice, runId))?.waitingFor === 'command');
    clock.advance(1_000);
    // Several turns of the actor: one that never yields would answer none of these.
    for (let look = 0; look < 5; look += 1) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      expect(await status(runId)).toBe('running');
    }
    call('slow')?.succeed();

    await until(async () => (await status(runId)) === 'paused');
    await asked;
  });

  it('answer a second pause with the state the run is in', async () => {
    const { host, register, run } = await open();
    const runId = await run(await register(LONG_DELAY));
    await host.runs.command(alice, runId, { type: 'pause', policy: 'immediate' });

    const again = await host.runs.command(alice, runId, { type: 'pause', policy: 'immediate' });

    expect(again).toMatchObject({ commandResult: { applied: false, status: 'paused' } });
  });

  it('are carried out once for a repeated key, with the same answer (W-38)', async () => {
    const { host, register, run, types } = await open();
    const runId = await run(await register(LONG_DELAY));
    const claim: IdempotencyClaim<unknown> = {
      operation: 'POST /v1/runs/{runId}:pause',
      keyHash: 'k1',
      requestDigest: 'd1',
      render: (outcome) => ({ status: 202, body: JSON.stringify(outcome) }),
    };
    const first = await host.runs.command(alice, runId, { type: 'pause', policy: 'immediate' }, claim);

    const second = await host.runs.command(alice, runId, { type: 'pause', policy: 'immediate' }, claim);

    expect(first).toMatchObject({ replayed: false, commandResult: { applied: true } });
    expect(second).toMatchObject({ replayed: true, status: 202 });
    expect(second?.replayed === true && JSON.parse(second.body)).toMatchObject({
      status: 'paused',
      commandResult: { applied: true },
    });
    expect((await types(runId)).filter((type) => type === 'run.paused')).toHaveLength(1);
  });
});

describe('a run with a long delay', () => {
  it('leaves memory, with a checkpoint', async () => {
    const { host, store, register, run, status } = await open();

    const runId = await run(await register(LONG_DELAY));

    expect(host.stats()).toMatchObject({ live: 0 });
    expect(await store.readCheckpoint(runId)).toMatchObject({ seq: 2 });
    expect(await status(runId)).toBe('running');
    expect(await host.runs.explain(alice, runId)).toMatchObject({ waitingFor: 'timer', nodeId: 'wait' });
  });
});

describe('the inbox of a run', () => {
  it('takes fewer commands the larger they are: a new holder loads all of them', async () => {
    const store = openMemoryStore();
    const limits: number[] = [];
    const watched: Store = {
      ...store,
      commit(units) {
        for (const unit of units) if (unit.kind === 'command') limits.push(unit.inboxLimit);
        return store.commit(units);
      },
    };
    const { host, register, run } = await open({ store: watched });
    const runId = await run(await register(LONG_DELAY));

    for (const bytes of [10, 40_000, 1_000_000])
      await host.runs.command(alice, runId, {
        type: 'resolve',
        nodeId: 'wait',
        value: 'x'.repeat(bytes),
        by: 'alice',
        byUser: false,
        viaLink: false,
      });

    expect(limits).toEqual([1_000, 103, 4]);
  });
});
