import { afterEach, describe, expect, it } from 'vitest';
import { chain, node } from '../../core/testing/definitions.ts';
import type { HostOptions } from '../../host/create-host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { Command, Store, WriteResult, WriteUnit } from '../../ports/store.ts';
import { alice, newRun, startHost, type TestHost, until } from '../testing/test-host.ts';
import { testClock } from '../testing/test-clock.ts';
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

/** A store as one process sees it, which can be cut off: heartbeats then fail, and its own writes wait. */
function cuttable(store: Store): Store & { cut(): void; mend(): void } {
  let isCut = false;
  let waiting: (() => void)[] = [];
  return {
    ...store,
    cut() {
      isCut = true;
    },
    mend() {
      isCut = false;
      for (const go of waiting) go();
      waiting = [];
    },
    async heartbeat(holder, ttlMs) {
      if (isCut) throw new Error('cut off');
      return store.heartbeat(holder, ttlMs);
    },
    async commit(units: readonly WriteUnit[]): Promise<readonly WriteResult[]> {
      if (isCut) await new Promise<void>((resolve) => waiting.push(resolve));
      return store.commit(units);
    },
    async claimDue(holder, limit) {
      return isCut ? [] : store.claimDue(holder, limit);
    },
  };
}

/** Puts a command into the inbox while no one is there to hear it. */
async function accept(store: Store, runId: string, ...commands: Command[]): Promise<void> {
  for (const [index, command] of commands.entries()) {
    const ids = { batchId: `b${index}`, tenant: 'default', runId, commandId: `c${index}` };
    await store.commit([{ kind: 'command', ...ids, command, inboxLimit: 10 }]);
  }
}

const EFFECT = { nodes: [node('call', 'test.effect'), node('after')], edges: chain('call', 'after') };

describe('a claim whose answer was lost', () => {
  it('is found again by the process that does not know of it (W-6)', async () => {
    const store = openMemoryStore();
    let isCut = false;
    const cutting: Store = {
      ...store,
      async claimDue(holder, limit) {
        const claimed = await store.claimDue(holder, limit);
        if (!isCut || claimed.length === 0) return claimed;
        isCut = false;
        throw new Error('the connection was cut');
      },
    };
    const test = await open({ store: cutting });
    const workflowId = await test.register({ nodes: [node('wait', 'core.delay', { ms: 30 })], edges: [] });
    const first = await test.run(workflowId);
    await until(async () => (await test.status(first)) === 'completed');
    isCut = true;

    const forked = await test.host.runs.fork(alice, first, { mode: 'branch', fromSeq: 1 });

    const runId = forked !== undefined && !forked.replayed ? forked.runId : '';
    await until(async () => (await test.status(runId)) === 'completed');
    expect(isCut).toBe(false);
  });
});

describe('a run whose holder vanished', () => {
  it('is taken over after the deadline and performs its effect again under the same invocation id (W-2)', async () => {
    const clock = testClock();
    const store = openMemoryStore({ clock: clock.now });
    const broken = cuttable(store);
    const first = await open({ store: broken, clock });
    const second = await open({ store, clock });
    const runId = await first.run(await first.register(EFFECT));
    const before = await until(() => first.effects.calls[0]);

    broken.cut();
    clock.advance(9_000);
    await until(async () => (await store.readRun(runId, undefined))?.holder !== undefined);
    expect(second.effects.calls).toHaveLength(0);
    clock.advance(2_000);

    const again = await until(() => second.effects.calls[0]);
    expect(again.context.invocationId).toBe(before.context.invocationId);
    again.succeed();
    await until(async () => (await second.status(runId)) === 'completed');
    expect(before.context.signal.aborted).toBe(true);
    broken.mend();
  });

  it('is kept by the next one, which tries again when it cannot load it (W-3)', async () => {
    const clock = testClock();
    const store = openMemoryStore({ clock: clock.now });
    const broken = cuttable(store);
    const first = await open({ store: broken, clock });
    const runId = await first.run(await first.register(EFFECT));
    await until(() => first.effects.calls[0]);
    const claimed = (await store.readRun(runId, undefined))?.epoch ?? Number.NaN;
    let failures = 2;
    const second = await open({
      store: {
        ...store,
        async readEvents(...page) {
          if (failures > 0) {
            failures -= 1;
            throw new Error('the disk is busy');
          }
          return await store.readEvents(...page);
        },
      },
      clock,
    });

    broken.cut();
    clock.advance(11_000);

    (await until(() => second.effects.calls[0])).succeed();
    await until(async () => (await second.status(runId)) === 'completed');
    expect(failures).toBe(0);
    expect((await store.readRun(runId, undefined))?.epoch).toBe(claimed + 1);
    broken.mend();
  });

  it('in the middle of a replay is taken over, although a replay has no timers', async () => {
    const clock = testClock();
    const store = openMemoryStore({ clock: clock.now });
    const broken = cuttable(store);
    let replayId = '';
    const vanishing: Store = {
      ...broken,
      async commit(units) {
        const results = await broken.commit(units);
        if (units.some((unit) => unit.kind === 'run' && unit.runId === replayId && unit.events.length > 0)) {
          replayId = '';
          broken.cut();
        }
        return results;
      },
    };
    const first = await open({ store: vanishing, clock });
    const source = await first.run(
      await first.register({ nodes: [node('wait', 'core.delay', { ms: 5 })], edges: [] }),
    );
    clock.advance(10);
    await until(async () => (await first.status(source)) === 'completed');
    const forked = await first.host.runs.fork(alice, source, { mode: 'replay' });
    const runId = forked !== undefined && !forked.replayed ? forked.runId : '';
    replayId = runId;
    await until(() => replayId === '');

    const second = await open({ store, clock });
    clock.advance(11_000);

    await until(async () => (await second.status(runId)) === 'completed');
    broken.mend();
  });

  it('refuses the late outcome of the first holder (W-16)', async () => {
    const wall = testClock();
    const store = openMemoryStore({ clock: wall.now });
    const broken = cuttable(store);
    // The first process does not notice that time passes: its own clock stands still.
    const first = await open({ store: broken, clock: { now: wall.now, monotonic: () => 0 } });
    const second = await open({ store, clock: wall });
    const runId = await first.run(await first.register(EFFECT));
    const late = await until(() => first.effects.calls[0]);

    broken.cut();
    wall.advance(11_000);
    const current = await until(() => second.effects.calls[0]);
    late.succeed({ outputs: { output: 'late' } });
    await until(() => Number(first.host.stats()['waitingUnits']) > 0);
    broken.mend();
    await until(() => first.host.stats()['live'] === 0);
    current.succeed({ outputs: { output: 'current' } });

    await until(async () => (await second.status(runId)) === 'completed');
    const completed = (await store.readEvents(runId, 0, 100, 1e6)).filter(
      ({ type }) => type === 'node.completed',
    );
    expect(completed.map(({ payload }) => payload).join()).not.toContain('late');
    expect(await first.status(runId)).toBe('completed');
  });

  it('is given up by a holder that hears nothing for two thirds of the deadline (W-4)', async () => {
    const clock = testClock();
    const broken = cuttable(openMemoryStore({ clock: clock.now }));
    const { host, effects, register, run } = await open({ store: broken, clock });
    await run(await register(EFFECT));
    const call = await until(() => effects.calls[0]);

    broken.cut();
    clock.advance(6_000);
    expect(call.context.signal.aborted).toBe(false);
    clock.advance(1_000);

    await until(() => call.context.signal.aborted);
    expect(host.stats()).toMatchObject({ live: 0, holder: null });
    broken.mend();
    clock.advance(4_000);
    (await until(() => effects.calls[1])).succeed();
  });
});

describe('a new host on an old store', () => {
  it('continues a delay at the time it was due', async () => {
    const clock = testClock();
    const store = openMemoryStore({ clock: clock.now });
    const first = await open({ store, clock });
    const spec = {
      nodes: [node('wait', 'core.delay', { ms: 3_600_000 }), node('z')],
      edges: chain('wait', 'z'),
    };
    const runId = await first.run(await first.register(spec));
    await first.host.stop(0);

    const second = await open({ store, clock });
    clock.advance(3_599_000);
    await until(() => second.host.stats()['holder']);
    expect(await second.status(runId)).toBe('running');
    clock.advance(1_000);

    await until(async () => (await second.status(runId)) === 'completed');
    const events = await store.readEvents(runId, 0, 100, 1e6);
    expect(events.filter(({ type }) => type === 'node.started')).toHaveLength(2);
  });

  it('finds a run whose holder stopped in the middle of an effect, without waiting for a deadline', async () => {
    const store = openMemoryStore();
    const first = await open({ store });
    const runId = await first.run(await first.register(EFFECT));
    const cutOff = await until(() => first.effects.calls[0]);

    await first.host.stop(0);
    const second = await open({ store });

    expect(cutOff.context.signal.aborted).toBe(true);
    (await until(() => second.effects.calls[0])).succeed();
    await until(async () => (await second.status(runId)) === 'completed');
  });

  it('records an effect that ends within the grace of a shutdown', async () => {
    const store = openMemoryStore();
    const first = await open({ store });
    const runId = await first.run(await first.register(EFFECT));
    const call = await until(() => first.effects.calls[0]);

    const stopped = first.host.stop(10_000);
    call.succeed();
    await stopped;

    expect(await first.types(runId)).toContain('node.completed');
    const second = await open({ store });
    await until(async () => (await second.status(runId)) === 'completed');
    expect(second.effects.calls).toHaveLength(0);
  });

  it('carries out a cancel that was accepted just before, and performs nothing again for it (W-14)', async () => {
    const store = openMemoryStore();
    const first = await open({ store });
    const runId = await first.run(await first.register(EFFECT));
    await until(() => first.effects.calls[0]);
    await first.host.stop(0);
    await accept(store, runId, { type: 'cancel' });
    const row = await store.readRun(runId, undefined);
    expect(row?.pendingCommands).toEqual(['cancel']);

    const second = await open({ store });

    await until(async () => (await second.status(runId)) === 'cancelled');
    expect(second.effects.calls).toHaveLength(0);
  });

  it('hears all answers that were accepted before their question timed out (W-14)', async () => {
    const clock = testClock();
    const store = openMemoryStore({ clock: clock.now });
    const first = await open({ store, clock });
    const gate = node('gate', 'core.approvalGate', { requiredApprovals: 2, timeoutMs: 60_000 });
    const runId = await first.run(await first.register({ nodes: [gate], edges: [] }));
    await until(async () => (await first.status(runId)) === 'waiting-approval');
    await first.host.stop(0);
    const answer = { type: 'resolve', nodeId: 'gate', value: { action: 'accept' }, viaLink: false } as const;
    const answers = ['alice', 'bob'].map((by) => ({ ...answer, by, byUser: true }));
    await accept(store, runId, ...answers);
    clock.advance(120_000);

    const second = await open({ store, clock });

    await until(async () => (await second.status(runId)) === 'completed');
    const types = await second.types(runId);
    expect(types.filter((type) => type === 'approval.received')).toHaveLength(2);
    const forked = await second.host.runs.fork(alice, runId, { mode: 'replay' });
    const replayId = forked !== undefined && !forked.replayed ? forked.runId : '';
    await until(async () => (await second.status(replayId)) === 'completed');
    expect(await second.types(replayId)).toEqual(types);
  });

  it('lets a delay that became due meanwhile end after a pause that was accepted before, not instead of it (W-14)', async () => {
    const clock = testClock();
    const store = openMemoryStore({ clock: clock.now });
    const first = await open({ store, clock });
    const runId = await first.run(
      await first.register({ nodes: [node('wait', 'core.delay', { ms: 60_000 })], edges: [] }),
    );
    await first.host.stop(0);
    await accept(store, runId, { type: 'pause', policy: 'immediate' });
    clock.advance(120_000);

    const second = await open({ store, clock });

    await until(async () => (await second.status(runId)) === 'paused');
    await second.host.runs.command(alice, runId, { type: 'resume' });
    await until(async () => (await second.status(runId)) === 'completed');
  });

  it('refuses to make a live store a test store', async () => {
    const store = openMemoryStore();
    await open({ store });

    await expect(startHost({ store, conformance: CONFORMANCE })).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('two hosts on one store', () => {
  it('answer commands for each other’s runs', async () => {
    const store = openMemoryStore();
    const first = await open({ store });
    const second = await open({ store });
    const runId = await first.run(await first.register(EFFECT));
    await until(() => first.effects.calls[0]);

    const answer = await second.host.runs.command(alice, runId, { type: 'cancel' });

    expect(answer).toMatchObject({ status: 'cancelled' });
  });

  it('show each other’s runs as they proceed', async () => {
    const store = openMemoryStore();
    const first = await open({ store });
    const second = await open({ store });
    const accepted = await first.host.runs.create(alice, newRun(await first.register(EFFECT)));
    const runId = accepted.replayed ? '' : accepted.runId;
    const call = await until(() => first.effects.calls[0]);
    expect(await second.status(runId)).toBe('running');
    const waited = second.host.runs.waitForEvents(runId, 1, 10_000, new AbortController().signal);

    call.succeed();

    await waited;
    await until(async () => (await second.status(runId)) === 'completed');
  });
});
