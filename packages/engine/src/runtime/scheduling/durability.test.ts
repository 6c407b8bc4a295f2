import { afterEach, describe, expect, it, vi } from 'vitest';
import { chain, node } from '../../core/testing/definitions.ts';
import type { HostOptions } from '../../host/create-host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { Store, WriteResult, WriteUnit } from '../../ports/store.ts';
import { alice, newRun, startHost, type TestHost, until } from '../testing/test-host.ts';

const opened: TestHost[] = [];

async function open(options: Partial<HostOptions> = {}): Promise<TestHost> {
  const test = await startHost(options);
  opened.push(test);
  return test;
}

afterEach(async () => {
  vi.useRealTimers();
  for (const { host } of opened.splice(0)) await host.stop(0);
});

type Commit = Store['commit'];

interface ControlledStore extends Store {
  /** What the next commits do instead of the real one; `committed` fails as long as `isDown`. */
  commitWith: ((real: Commit, units: readonly WriteUnit[]) => Promise<readonly WriteResult[]>) | undefined;
  isDown: boolean;
}

function controlled(): ControlledStore {
  const store = openMemoryStore();
  const real: Commit = (units) => store.commit(units);
  const self: ControlledStore = {
    ...store,
    commitWith: undefined,
    isDown: false,
    commit: (units) => (self.commitWith === undefined ? real(units) : self.commitWith(real, units)),
    async committed(unit) {
      if (self.isDown) throw new Error('down');
      return store.committed(unit);
    },
  };
  return self;
}

function gate(): { readonly opened: Promise<void>; open: () => void } {
  let release: () => void = () => undefined;
  const waiting = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { opened: waiting, open: release };
}

/** Waits for the condition while time passes on fake timers; looking at it may itself take time. */
async function passing<Value>(condition: () => Value | Promise<Value>): Promise<NonNullable<Value>> {
  let found: Value | undefined;
  let isLooking = false;
  for (let turn = 0; turn < 10_000; turn += 1) {
    if (!isLooking) {
      isLooking = true;
      void Promise.resolve(condition()).then((value) => {
        isLooking = false;
        found = value;
      });
    }
    await vi.advanceTimersByTimeAsync(10);
    await new Promise(setImmediate);
    if (found !== undefined && found !== null && found !== false) return found;
  }
  throw new Error(`waited in vain for: ${condition.toString()}`);
}

const hasRunEvents = (units: readonly WriteUnit[]): boolean =>
  units.some((unit) => unit.kind === 'run' && unit.events.length > 0);

const EFFECT = { nodes: [node('call', 'test.effect'), node('after')], edges: chain('call', 'after') };

describe('durable before visible', () => {
  it('shows no fact to snapshots, polls or streams before its commit (W-13)', async () => {
    const store = controlled();
    const { host, effects, register, run, status } = await open({ store });
    const runId = await run(await register(EFFECT));
    const call = await until(() => effects.calls[0]);
    const { signal } = new AbortController();
    const cursor = await host.runs.follow(alice, runId, {
      afterSeq: 1,
      keepaliveMs: 5,
      signal,
      snapshots: false,
    });
    const held = gate();
    let reached = false;
    store.commitWith = async (real, units) => {
      if (hasRunEvents(units)) {
        reached = true;
        await held.opened;
      }
      return real(units);
    };

    call.succeed();
    await until(() => reached);
    const early = await status(runId);
    expect(early).toBe('running');
    expect((await host.runs.events(alice, runId, -1, 100))?.events).toHaveLength(2);
    expect(await cursor?.next()).toEqual([]);
    const waiting = status(runId);
    held.open();

    expect(['running', 'completed']).toContain(await waiting);
    await until(async () => (await status(runId)) === 'completed');
    expect((await cursor?.next())?.at(-1)?.event.type).toBe('run.completed');
  });

  it('does not answer a create before the run is durable', async () => {
    const store = controlled();
    const { host, register } = await open({ store });
    const workflowId = await register({ nodes: [node('a')] });
    const held = gate();
    let answered = false;
    let reached = false;
    store.commitWith = async (real, units) => {
      reached = true;
      await held.opened;
      return real(units);
    };

    const created = host.runs.create(alice, newRun(workflowId)).then(() => {
      answered = true;
    });
    await until(() => reached);
    expect(answered).toBe(false);
    held.open();

    await created;
  });
});

describe('a commit of unknown outcome', () => {
  it('that was kept is as good as any other', async () => {
    const store = controlled();
    const { register, run, status } = await open({ store });
    const workflowId = await register({ nodes: [node('a')] });
    store.commitWith = async (real, units) => {
      store.commitWith = undefined;
      await real(units);
      throw new Error('connection lost');
    };

    const runId = await run(workflowId);

    expect(await status(runId)).toBe('completed');
  });

  it('that was lost makes a create fail with 503 and leaves no run', async () => {
    const store = controlled();
    const { host, register } = await open({ store });
    const workflowId = await register({ nodes: [node('a')] });
    store.commitWith = async () => {
      store.commitWith = undefined;
      throw new Error('connection lost');
    };

    const created = host.runs.create(alice, newRun(workflowId));

    await expect(created).rejects.toMatchObject({ code: 'service_unavailable', retryAfter: 2 });
    expect((await host.runs.list(alice, {}, { limit: 10 })).rows).toEqual([]);
  });

  it('whose write was lost is decided again from the store (W-16)', async () => {
    const store = controlled();
    const { effects, register, run, status } = await open({ store });
    const runId = await run(await register(EFFECT));
    const call = await until(() => effects.calls[0]);
    store.commitWith = async (real, units) => {
      if (!hasRunEvents(units)) return real(units);
      store.commitWith = undefined;
      throw new Error('connection lost');
    };

    call.succeed();

    // The outcome was lost with the write, so the effect is performed again, as the same invocation.
    const again = await until(() => effects.calls[1]);
    expect(again.context.invocationId).toBe(call.context.invocationId);
    again.succeed();
    await until(async () => (await status(runId)) === 'completed');
  });

  it('that stays unknown answers 503, and the run is carried on when the store answers again', async () => {
    const store = controlled();
    const { host, effects, register, status } = await open({ store });
    const workflowId = await register(EFFECT);
    store.commitWith = async (real, units) => {
      if (!hasRunEvents(units)) return real(units);
      store.commitWith = undefined;
      store.isDown = true;
      await real(units);
      throw new Error('connection lost');
    };

    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const created = host.runs.create(alice, newRun(workflowId)).catch((error: unknown) => error);
    expect(await passing(() => created)).toMatchObject({ code: 'service_unavailable' });
    expect(effects.calls).toHaveLength(0);
    store.isDown = false;

    (await passing(() => effects.calls[0])).succeed();
    const [listed] = (await host.runs.list(alice, {}, { limit: 10 })).rows;
    await passing(async () => (await status(listed?.runId ?? '')) === 'completed');
  });
});

describe('a command that is accepted in the moment in which the run ends', () => {
  it('is answered with how the run ended (W-17, W-37)', async () => {
    const store = controlled();
    const { host, effects, register, run } = await open({ store });
    const runId = await run(await register(EFFECT));
    const call = await until(() => effects.calls[0]);
    const held = gate();
    store.commitWith = async (real, units) => {
      await held.opened;
      return real(units);
    };
    void host.audit.record({ tenant: 'default', actor: 'test', action: 'hold', target: 'the committer' });
    await until(() => host.stats()['waitingUnits'] === 1);

    const asked = host.runs.command(alice, runId, { type: 'pause', policy: 'immediate' });
    await until(() => host.stats()['waitingUnits'] === 2);
    call.succeed();
    await until(() => host.stats()['waitingUnits'] === 3);
    held.open();

    expect(await asked).toEqual({
      replayed: false,
      status: 'completed',
      commandResult: { applied: false, status: 'completed' },
    });
  });
});

describe('a full store', () => {
  it('makes creates fail with 503 while a running run waits for room', async () => {
    const store = controlled();
    const { host, effects, register, run, status } = await open({ store });
    const workflowId = await register(EFFECT);
    const runId = await run(workflowId);
    const call = await until(() => effects.calls[0]);
    let refusals = 0;
    store.commitWith = async (real, units) => {
      if (!hasRunEvents(units)) return real(units);
      refusals += 1;
      return units.map(() => ({ state: 'refused', reason: 'store_full' }));
    };

    await expect(host.runs.create(alice, newRun(workflowId))).rejects.toMatchObject({
      code: 'service_unavailable',
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    call.succeed();
    await passing(() => refusals >= 2);
    await passing(async () => (await status(runId)) === 'running');
    store.commitWith = undefined;

    await passing(async () => (await status(runId)) === 'completed');
    expect(effects.calls).toHaveLength(1);
  });
});

describe('an unexpected error', () => {
  it('costs a run its actor but not its life', async () => {
    const store = controlled();
    const { host, effects, register, run, status } = await open({ store });
    const runId = await run(await register(EFFECT));
    await until(() => effects.calls[0]);
    const { readInbox } = store;
    store.readInbox = async () => {
      store.readInbox = readInbox;
      throw new Error('the database hiccuped');
    };

    await host.runs.command(alice, runId, { type: 'cancel' });

    await until(async () => (await status(runId)) === 'cancelled');
  });
});
