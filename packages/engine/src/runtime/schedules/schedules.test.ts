import { afterEach, describe, expect, it } from 'vitest';
import { definition, node } from '../../core/testing/definitions.ts';
import type { NewSchedule } from '../../host/host.ts';
import { NodeFailure } from '../../model/node-type.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { type TestClock, testClock } from '../testing/test-clock.ts';
import { alice, startHost, stranger, type TestHost, until } from '../testing/test-host.ts';

const MINUTE = 60_000;
const opened: TestHost[] = [];

async function open(options: Parameters<typeof startHost>[0] = {}): Promise<TestHost & { clock: TestClock }> {
  const clock = (options.clock as TestClock | undefined) ?? testClock();
  // A clock that jumps must not end the claims of the host.
  const test = await startHost({ ...options, clock, limits: { claimTtlMs: 1e9, ...options.limits } });
  opened.push(test);
  return { ...test, clock };
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

const SILENT = {
  committed: () => undefined,
  grouped: () => undefined,
  decided: () => undefined,
  delivering: () => undefined,
  fired: () => undefined,
  ingested: () => undefined,
};

function nightly(more: Partial<NewSchedule> = {}): NewSchedule {
  return {
    name: 'nightly',
    workflowId: 'test-workflow',
    inputs: {},
    everyMs: MINUTE,
    overlap: 'skip',
    jitterMs: 0,
    catchUpMs: 60 * MINUTE,
    pauseOnFailure: false,
    ...more,
  };
}

function withoutInterval(more: Partial<NewSchedule>): NewSchedule {
  const { everyMs: _everyMs, ...schedule } = nightly();
  return { ...schedule, ...more };
}

const PURE = { nodes: [node('a')] };
const SLOW = { nodes: [node('a', 'test.effect')] };

async function runsOf({ host }: TestHost, source = 'schedule:nightly') {
  return (await host.runs.list(alice, { source }, { limit: 100 })).rows;
}

async function firings({ host }: TestHost) {
  const details = await host.schedules.get(alice, 'nightly');
  return [...(details?.firings ?? [])].reverse().map(({ outcome, reason }) => reason ?? outcome);
}

describe('a schedule', () => {
  it('starts a run for each of its due times, and the run says what started it', async () => {
    const test = await open();
    await test.register(PURE);
    await test.host.schedules.create(alice, nightly());

    test.clock.advance(3 * MINUTE);

    await until(async () => (await runsOf(test)).length === 3);
    const [newest] = await runsOf(test);
    const snapshot = await test.host.runs.snapshot(alice, newest?.runId ?? '');
    expect(snapshot?.snapshot).toMatchObject({
      status: 'completed',
      weft: { source: { kind: 'schedule', id: 'nightly', dueAt: '2030-01-01T00:03:00.000Z' } },
    });
    expect(await test.types(newest?.runId ?? '')).toEqual([
      'run.started',
      'trigger.delivery.attempted',
      'node.started',
      'node.completed',
      'run.completed',
    ]);
    const page = await test.host.runs.events(alice, newest?.runId ?? '', -1, 1);
    expect(JSON.parse(page?.events[0]?.document ?? '{}').causationId).toMatch(/^due_[0-9a-f]{32}$/);
  });

  it('is made and removed with sixty others at once', async () => {
    const test = await open();
    await test.register(PURE);
    const names = Array.from({ length: 60 }, (_, index) => `s${index}`);

    await Promise.all(names.map((name) => test.host.schedules.create(alice, nightly({ name }))));

    expect((await test.host.schedules.list(alice, { limit: 100 })).rows).toHaveLength(60);
    const removed = await Promise.all(names.map((name) => test.host.schedules.remove(alice, name)));
    expect(removed.every(Boolean)).toBe(true);
  });

  it('starts one run per due time, however many processes look at once (D-7, D-8)', async () => {
    const clock = testClock();
    const store = openMemoryStore({ clock: clock.now });
    const hosts = [await open({ clock, store }), await open({ clock, store }), await open({ clock, store })];
    const [first] = hosts;
    if (first === undefined) throw new Error('there are three');
    await first.register(PURE);
    for (const name of ['a', 'b', 'c', 'd']) {
      await first.host.schedules.create(alice, nightly({ name, everyMs: 10_000, overlap: 'allow' }));
    }

    for (let step = 0; step < 20; step += 1) {
      clock.advance(15_000);
      await until(async () => (await first.host.schedules.get(alice, 'd'))?.next !== undefined);
    }

    for (const name of ['a', 'b', 'c', 'd']) {
      await until(async () => (await runsOf(first, `schedule:${name}`)).length >= 30);
      const runs = await runsOf(first, `schedule:${name}`);
      const dues = await Promise.all(
        runs.map(async ({ runId }) => (await store.readRun(runId, undefined))?.record.source?.dueAt),
      );
      expect(new Set(dues).size).toBe(30);
      expect(runs).toHaveLength(30);
    }
  });

  it('continues after a stop where it was, and catches up (D-4)', async () => {
    const clock = testClock();
    const store = openMemoryStore({ clock: clock.now });
    const before = await open({ clock, store });
    await before.register(PURE);
    await before.host.schedules.create(alice, nightly({ catchUpMs: 5 * MINUTE }));
    await before.host.stop(0);

    clock.advance(10 * MINUTE);
    const after = await open({ clock, store });

    await until(async () => (await runsOf(after)).length === 6);
    expect(await firings(after)).toEqual(['outside_catch_up_window', ...Array(6).fill('started')]);
  });

  it('queues one due time while its run is open, and starts it when that has ended', async () => {
    const test = await open();
    await test.register(SLOW);
    await test.host.schedules.create(alice, nightly({ overlap: 'queue-one' }));
    test.clock.advance(MINUTE);
    await until(() => test.effects.calls.length === 1);

    test.clock.advance(2 * MINUTE);
    await until(async () => (await firings(test)).includes('queue_full'));
    expect(await runsOf(test)).toHaveLength(1);
    test.effects.calls[0]?.succeed();

    await until(async () => (await firings(test)).join() === 'started,queue_full,started');
    await until(() => test.effects.calls.length === 2);
  });

  it('cancels the open run before it starts the next, where it should', async () => {
    const test = await open();
    await test.register(SLOW);
    await test.host.schedules.create(alice, nightly({ overlap: 'cancel-other' }));
    test.clock.advance(MINUTE);
    await until(() => test.effects.calls.length === 1);

    test.clock.advance(MINUTE);

    await until(() => test.effects.calls.length === 2);
    const [second, first] = await runsOf(test);
    expect(first?.status).toBe('cancelled');
    expect(second?.status).toBe('running');
  });

  it('pauses after a run that failed, and skips what it missed when it is resumed', async () => {
    const test = await open();
    await test.register(SLOW);
    await test.host.schedules.create(alice, nightly({ pauseOnFailure: true }));
    test.clock.advance(MINUTE);
    await until(() => test.effects.calls.length === 1);
    test.effects.calls[0]?.fail(new Error('no'));

    await until(async () => (await test.host.schedules.get(alice, 'nightly'))?.state === 'paused');
    test.clock.advance(5 * MINUTE);
    expect(await test.host.schedules.resume(alice, 'nightly')).toMatchObject({ state: 'active' });
    test.clock.advance(MINUTE);

    await until(() => test.effects.calls.length === 2);
    expect(await firings(test)).toEqual(['started', 'paused', 'started']);
  });

  it('that cannot start a run leaves a dead letter, which can be replayed once it can (D-3)', async () => {
    const test = await open();
    await test.register(PURE);
    await test.host.schedules.create(alice, nightly());
    const needy = definition({ ...PURE, variables: [{ name: 'city', type: 'string', required: true }] });
    await test.host.workflows.register(alice, { ...needy, version: '2' }, { strict: false, dev: false });

    test.clock.advance(MINUTE);

    const letter = await until(async () => {
      const { rows } = await test.host.deadLetters.list(alice, 'schedule:nightly', { limit: 5 });
      return rows[0];
    });
    expect(letter).toMatchObject({ reason: 'validation_error', attempts: 1 });
    expect(letter.message).toContain('inputs.city');
    await expect(test.host.deadLetters.replay(alice, 'schedule:nightly', letter.id)).rejects.toThrow(
      'inputs.city',
    );
    const mended = { ...definition(PURE), version: '3' };
    await test.host.workflows.register(alice, mended, { strict: false, dev: false });
    const replayed = await test.host.deadLetters.replay(alice, 'schedule:nightly', letter.id);
    await until(async () => (await test.status(replayed?.runId ?? '')) === 'completed');
    expect((await test.host.deadLetters.list(alice, 'schedule:nightly', { limit: 5 })).rows).toEqual([]);
    expect(await test.host.deadLetters.replay(alice, 'schedule:nightly', letter.id)).toBeUndefined();
  });

  it('starts a run on request, and fills past due times that have none (D-8)', async () => {
    const test = await open();
    await test.register(PURE);
    const start = test.clock.now();
    await test.host.schedules.create(alice, withoutInterval({ cron: '* * * * *' }));
    test.clock.advance(2 * MINUTE);
    await until(async () => (await runsOf(test)).length === 2);

    const late: (number | undefined)[] = [];
    test.host.operations.observe({
      ...SILENT,
      fired: (outcome, ms) => outcome === 'started' && late.push(ms),
    });
    const now = await test.host.schedules.trigger(alice, 'nightly');
    expect(now).toMatchObject({ replayed: false });
    const filled = await test.host.schedules.backfill(alice, 'nightly', {
      from: start - 3 * MINUTE,
      to: start + 2 * MINUTE,
    });

    expect(filled?.dueTimes).toBe(6);
    await until(async () => (await runsOf(test)).length === 7);
    const skipped = async () => (await firings(test)).filter((outcome) => outcome === 'already_started');
    await until(async () => (await skipped()).length === 2);
    // Nothing is late that was asked for afterwards.
    expect(late).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('is gone when it is removed, and its runs stay', async () => {
    const test = await open();
    await test.register(PURE);
    await test.host.schedules.create(alice, nightly());
    test.clock.advance(MINUTE);
    await until(async () => (await runsOf(test)).length === 1);

    expect(await test.host.schedules.remove(alice, 'nightly')).toBe(true);
    expect(await test.host.schedules.remove(alice, 'nightly')).toBe(false);
    expect(await runsOf(test)).toHaveLength(1);
    await test.host.schedules.create(alice, nightly());
  });

  it('is not there for another tenant', async () => {
    const test = await open();
    await test.register(PURE);
    await test.host.schedules.create(alice, nightly());

    expect(await test.host.schedules.get(stranger, 'nightly')).toBeUndefined();
    expect(await test.host.schedules.pause(stranger, 'nightly')).toBeUndefined();
    expect(await test.host.schedules.remove(stranger, 'nightly')).toBe(false);
    expect((await test.host.schedules.list(stranger, { limit: 5 })).rows).toEqual([]);
  });

  it.each([
    ['neither an interval nor a pattern', {}, 'cron'],
    ['both', { everyMs: MINUTE, cron: '* * * * *' }, 'cron'],
    ['an interval below the minimum', { everyMs: 10 }, 'everyMs'],
    ['a zone with an interval', { everyMs: MINUTE, timeZone: 'Europe/Berlin' }, 'timeZone'],
    ['an unknown zone', { cron: '0 9 * * *', timeZone: 'Mars/Olympus' }, 'timeZone'],
    ['a pattern that is none', { cron: 'every day' }, 'cron'],
    ['a pattern that never fires', { cron: '0 0 30 2 *' }, 'cron'],
    [
      'an end before the start',
      { everyMs: MINUTE, start: Date.UTC(2031, 0, 2), end: Date.UTC(2031, 0, 1) },
      'end',
    ],
    ['an end in the past', { everyMs: MINUTE, end: Date.UTC(2029, 0, 1) }, 'end'],
    ['an end before it is ever due', { everyMs: 24 * 60 * MINUTE, end: Date.UTC(2030, 0, 1, 1) }, 'everyMs'],
    ['more jitter than interval', { everyMs: MINUTE, jitterMs: 2 * MINUTE }, 'jitterMs'],
    ['too long a window', { everyMs: MINUTE, catchUpMs: 1e12 }, 'catchUpMs'],
    ['an unknown workflow', { everyMs: MINUTE, workflowId: 'nowhere' }, 'workflowId'],
    ['inputs the workflow does not take', { everyMs: MINUTE, inputs: { city: 7 } }, 'inputs.city'],
  ] as [string, Partial<NewSchedule>, string][])(
    'is refused with %s, by the field',
    async (_what, more, field) => {
      const test = await open();
      await test.register({ ...PURE, variables: [{ name: 'city', type: 'string' }] });

      await expect(test.host.schedules.create(alice, withoutInterval(more))).rejects.toMatchObject({
        details: { field },
      });

      expect((await test.host.schedules.list(alice, { limit: 5 })).rows).toEqual([]);
    },
  );

  it('is refused when it is first due beyond the horizon, and when its name is taken', async () => {
    const test = await open();
    await test.register(PURE);

    await expect(
      test.host.schedules.create(alice, nightly({ start: Date.UTC(2050, 0, 1) })),
    ).rejects.toMatchObject({ code: 'schedule_horizon_exceeded', details: { maxFutureHorizon: 'P3650D' } });
    await expect(
      test.host.schedules.create(alice, nightly({ everyMs: Number.MAX_SAFE_INTEGER })),
    ).rejects.toMatchObject({ code: 'schedule_horizon_exceeded', details: { field: 'everyMs' } });
    await test.host.schedules.create(alice, nightly());
    await expect(test.host.schedules.create(alice, nightly())).rejects.toMatchObject({
      code: 'schedule_exists',
    });
  });

  it('counts towards the limit of its tenant, and makes room when it is removed', async () => {
    const test = await open({ limits: { maxSchedules: 1 } });
    await test.register(PURE);
    await test.host.schedules.create(alice, nightly());

    await expect(test.host.schedules.create(alice, nightly({ name: 'other' }))).rejects.toMatchObject({
      code: 'conflict',
      details: { limit: 1 },
    });
    await test.host.schedules.remove(alice, 'nightly');
    await test.host.schedules.create(alice, nightly({ name: 'other' }));
  });
});

describe('a schedule that a workflow declares', () => {
  const declared = (config: object, version: string) => ({
    ...definition({ ...PURE, triggers: [{ id: 'hourly', type: 'schedule', config }] as never }),
    version,
  });
  const register = (test: TestHost, workflow: object) =>
    test.host.workflows.register(alice, workflow, { strict: true, dev: false });

  it('fires, follows the current version, and goes with it', async () => {
    const test = await open();
    await register(test, declared({ everyMs: MINUTE }, '1'));
    const named = 'test-workflow.hourly';
    test.clock.advance(MINUTE);
    await until(async () => (await runsOf(test, `schedule:${named}`)).length === 1);

    await register(test, declared({ cron: '0 9 * * *', timeZone: 'Europe/Berlin' }, '2'));
    expect((await test.host.schedules.get(alice, named))?.timing).toEqual({
      cron: '0 9 * * *',
      timeZone: 'Europe/Berlin',
    });
    await expect(test.host.schedules.remove(alice, named)).rejects.toMatchObject({ code: 'conflict' });
    await test.host.schedules.pause(alice, named);
    await register(test, declared({ cron: '0 10 * * *' }, '3'));
    expect(await test.host.schedules.get(alice, named)).toMatchObject({ state: 'paused' });

    await register(test, { ...definition(PURE), version: '4' });
    expect(await test.host.schedules.get(alice, named)).toBeUndefined();
  });

  it('is the same after the same definition is registered again', async () => {
    const test = await open();
    await register(test, declared({ everyMs: MINUTE }, '1'));
    test.clock.advance(MINUTE / 2);

    await register(test, declared({ everyMs: MINUTE }, '1'));
    await register(test, declared({ everyMs: MINUTE }, '2'));

    test.clock.advance(MINUTE / 2);
    await until(async () => (await runsOf(test, 'schedule:test-workflow.hourly')).length === 1);
  });

  it.each([
    [{ cron: '0 0 30 2 *' }, '/triggers/1/config/cron'],
    [{ cron: '0 9 * * *', timeZone: 'Mars/Olympus' }, '/triggers/1/config/timeZone'],
    [{ everyMs: 5 }, '/triggers/1/config/everyMs'],
    [{ everyMs: MINUTE, evry: 1 }, '/triggers/1/config'],
  ])('is refused with %j, by its place', async (config, field) => {
    const test = await open();

    await expect(register(test, declared(config, '1'))).rejects.toMatchObject({
      code: 'validation_error',
      details: { field: expect.stringContaining(field) },
    });
  });
});

describe('runs that fail after their last retry', () => {
  it('say so in their log, are listed as dead letters, and can be forked', async () => {
    const test = await startHost();
    opened.push(test);
    const settings = { retry: { maxAttempts: 2, initialMs: 0, factor: 1, maxMs: 0, jitter: 0 } };
    await test.register({ nodes: [node('a', 'test.effect', {}, { settings })] });
    const runId = await test.run('test-workflow');
    const retryable = () => new NodeFailure('busy', 'Not now.', { retryable: true });
    await until(() => test.effects.calls.length === 1);
    test.effects.calls[0]?.fail(retryable());
    await until(() => test.effects.calls.length === 2);
    test.effects.calls[1]?.fail(retryable());

    await until(async () => (await test.status(runId)) === 'failed');
    const types = await test.types(runId);
    expect(types.slice(-2)).toEqual(['run.dead_lettered', 'run.failed']);
    const { rows } = await test.host.deadLetters.list(alice, 'runs', { limit: 5 });
    expect(rows).toMatchObject([{ id: runId, nodeId: 'a', attempts: 2 }]);
  });
});
