import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DamagedRunError } from '../../model/damaged-run-error.ts';
import { chain, node } from '../../core/testing/definitions.ts';
import type { HostOptions } from '../../host/create-host.ts';
import type { Host } from '../../host/host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { NodeType } from '../../model/node-type.ts';
import { createUnit, given, newRunId } from '../../store-contract/fixtures.ts';
import type { RunRow, Store, StoredEvent, WriteUnit } from '../../ports/store.ts';
import type { TrialRequest, Trials } from '../../ports/trials.ts';
import { createQuarantine, type Trial } from './quarantine.ts';
import { alice, createEffects, startHost, stranger, type TestHost, until } from '../testing/test-host.ts';

const opened: TestHost[] = [];

async function open(options: Partial<HostOptions> = {}): Promise<TestHost> {
  const test = await startHost(options);
  opened.push(test);
  return test;
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

const EFFECT = { nodes: [node('call', 'test.effect'), node('after')], edges: chain('call', 'after') };

describe('a run that lost its holders', () => {
  let now = 1_000;
  const store = openMemoryStore({ clock: () => now });
  /** How trials end, in turn; after that they end well. */
  const endings: ('lived' | 'died' | Error)[] = [];
  const requests: TrialRequest[] = [];
  const parts = {
    store,
    committer: {
      async submit(unit: WriteUnit) {
        const [result] = await store.commit([unit]);
        if (result === undefined) throw new Error('no result');
        return result;
      },
    },
    clock: { now: () => now, monotonic: () => now },
    random: (size: number) => Buffer.alloc(size, requests.length + 1),
    log: () => undefined,
  };
  const quarantine = createQuarantine({
    ...parts,
    trials: {
      async attempt(request) {
        requests.push({ ...request, inputs: [...request.inputs] });
        const ending = endings.shift() ?? 'lived';
        if (ending instanceof Error) throw ending;
        return ending;
      },
    },
  });
  let holders = 0;

  beforeEach(() => {
    endings.length = 0;
    requests.length = 0;
  });

  async function heldRun(): Promise<string> {
    const runId = newRunId();
    await store.heartbeat('first', 1_000);
    await given(store, createUnit(runId, { holder: 'first' }));
    return runId;
  }

  /** A process takes the run over from one that ended. */
  async function takeOver(runId: string): Promise<RunRow> {
    now += 10_000;
    holders += 1;
    await store.heartbeat(`holder-${holders}`, 1_000);
    const claim = await store.claim(runId, `holder-${holders}`);
    if (claim.state !== 'claimed') throw new Error(claim.state);
    return rowOf(runId);
  }

  async function rowOf(runId: string): Promise<RunRow> {
    const row = await store.readRun(runId, undefined);
    if (row === undefined) throw new Error('no row');
    return row;
  }

  async function suspect(): Promise<{ runId: string; row: RunRow }> {
    const runId = await heldRun();
    await takeOver(runId);
    return { runId, row: await takeOver(runId) };
  }

  async function trialOf(row: RunRow): Promise<Trial> {
    const admission = await quarantine.admit(row);
    if (typeof admission === 'string') throw new Error(`it is ${admission}`);
    return admission;
  }

  it('once is taken up like any other', async () => {
    expect(await quarantine.admit(await takeOver(await heldRun()))).toBe('ordinary');
    expect(requests).toEqual([]);
  });

  it('again is loaded apart first, and then given each input after those before it (W-22)', async () => {
    const { runId, row } = await suspect();
    const trial = await trialOf(row);

    expect(await trial.survives({ type: 'recovered' })).toBe(true);
    expect(await trial.survives({ type: 'tick' })).toBe(true);

    expect(requests).toEqual([
      { runId, inputs: [], now },
      { runId, inputs: [{ type: 'recovered' }], now },
      { runId, inputs: [{ type: 'recovered' }, { type: 'tick' }], now },
    ]);
  });

  it.each([
    ['loaded', 0],
    ['decided about', 1],
  ])('is set aside when three processes ended while it was %s (W-7, W-22)', async (_what, livesThrough) => {
    const { runId, row } = await suspect();
    endings.push(...Array.from({ length: livesThrough }, () => 'lived' as const), 'died', 'died', 'died');

    const admission = await quarantine.admit(row);
    const isAside =
      admission === 'aside' || (admission !== 'ordinary' && !(await admission.survives({ type: 'tick' })));

    expect(isAside).toBe(true);
    expect(endings).toEqual([]);
    expect(await rowOf(runId)).toMatchObject({
      head: { status: 'running' },
      suspicion: { quarantinedAt: now, reason: expect.stringContaining('3 times') },
    });
    expect((await store.readAudit(0, 1_000)).at(-1)).toMatchObject({
      action: 'run.quarantine',
      target: runId,
    });
    expect(await quarantine.admit(await takeOver(runId).catch(() => rowOf(runId)))).toBe('aside');
  });

  it('is not charged with processes that ended before one lived through it', async () => {
    const { runId, row } = await suspect();
    endings.push('died', 'died', 'lived', 'died', 'died', 'lived');

    const trial = await trialOf(row);
    expect(await trial.survives({ type: 'tick' })).toBe(true);

    expect((await rowOf(runId)).suspicion).toBeUndefined();
  });

  it('gets nothing held against it by deaths of its holders, however many (W-24)', async () => {
    const runId = await heldRun();

    for (let death = 0; death < 10; death += 1) {
      const admission = await quarantine.admit(await takeOver(runId));
      expect(admission).not.toBe('aside');
      if (typeof admission !== 'string') await admission.survives({ type: 'recovered' });
    }

    expect((await rowOf(runId)).suspicion).toBeUndefined();
  });

  it('is no suspect any more once it got further, or was given much without harm', async () => {
    const { row } = await suspect();
    const trial = await trialOf(row);
    expect([trial.isOver(0), trial.isOver(1)]).toEqual([false, true]);

    for (let tick = 0; tick < 64; tick += 1) await trial.survives({ type: 'tick' });

    expect(trial.isOver(0)).toBe(true);
  });

  it('is neither taken up nor set aside while it cannot be tried', async () => {
    const { runId, row } = await suspect();
    endings.push('died', new Error('the store is away'));

    await expect(quarantine.admit(row)).rejects.toThrow('the store is away');

    expect((await rowOf(runId)).suspicion).toBeUndefined();
  });

  it('is taken up like any other where there is no place to try it', async () => {
    const { row } = await suspect();

    expect(await createQuarantine(parts).admit(row)).toBe('ordinary');
  });
});

describe('a run that ends every process that loads it', () => {
  it('is set aside after two holders, and the next one continues with the others (W-23)', async () => {
    let now = Date.now();
    const clock = { now: () => now, monotonic: () => now };
    const store = openMemoryStore({ clock: clock.now });
    const first = await open({ store, clock });
    const workflowId = await first.register(EFFECT);
    const [bad, good] = [await first.run(workflowId), await first.run(workflowId)];
    await until(() => first.effects.calls.length === 2);
    await first.host.stop(0);
    for (const holder of ['second', 'third', 'fourth']) {
      now += 100_000;
      await store.heartbeat(holder, 1_000);
      for (const runId of [bad, good]) expect((await store.claim(runId, holder)).state).toBe('claimed');
    }
    now += 100_000;

    const trials: Trials = { attempt: async ({ runId }) => (runId === bad ? 'died' : 'lived') };
    const next = await open({ store, clock, trials });

    await until(async () => (await next.host.operations.quarantinedRuns()) === 1);
    await until(() => next.effects.calls.length === 1);
    next.effects.calls[0]?.succeed();
    await until(async () => (await next.status(good)) === 'completed');
    // Deciding the cancel would end the process, too: it gets its last event alone.
    expect(await next.host.runs.command(alice, bad, { type: 'cancel' })).toMatchObject({
      status: 'cancelled',
    });
    const { events } = (await next.host.runs.events(alice, bad, -1, 100)) ?? { events: [] };
    expect(events.map(({ type }) => type).filter((type) => type.endsWith('cancelled'))).toEqual([
      'run.cancelled',
    ]);
  });
});

/** A store that cannot take what is written to these runs, while it takes everything else. */
function refusing(store: Store, isBad: (unit: WriteUnit) => boolean): Store {
  return {
    ...store,
    async commit(units) {
      const good = await store.commit(units.filter((unit) => !isBad(unit)));
      const results = [...good];
      return units.map((unit) =>
        isBad(unit)
          ? { state: 'failed', cause: new Error('constraint') }
          : (results.shift() ?? { state: 'unknown', cause: 0 }),
      );
    },
  };
}

describe('a run whose writes the store cannot take', () => {
  it('is tried again with pauses, then quarantined, and no other run is affected', async () => {
    const bad = new Set<string>();
    const memory = openMemoryStore();
    const store = refusing(
      memory,
      (unit) => unit.kind === 'run' && bad.has(unit.runId) && unit.events.length > 0,
    );
    const { host, effects, register, run, status } = await open({ store });
    const workflowId = await register(EFFECT);
    const [first, second] = [await run(workflowId), await run(workflowId)];
    await until(() => effects.calls.length === 2);
    bad.add(first);

    for (const { succeed } of effects.calls) succeed();
    await until(async () => (await status(second)) === 'completed');
    // The same call again, each time it is taken up.
    for (const strike of [2, 3]) {
      await until(() => effects.calls.length === 1 + strike);
      effects.calls.at(-1)?.succeed();
    }

    await until(async () => (await host.operations.quarantinedRuns()) === 1);
    const snapshot = (await host.runs.snapshot(alice, first))?.snapshot;
    expect(snapshot).toMatchObject({
      status: 'running',
      weft: { quarantined: { reason: expect.stringContaining('cannot take what this run writes') } },
    });
    expect(await host.runs.explain(alice, first)).toMatchObject({ waitingFor: 'release' });
    bad.clear();
    expect(await host.runs.release(stranger, first)).toBe(false);
    expect(await host.runs.release(alice, first)).toBe(true);
    await until(() => effects.calls.length === 5);
    effects.calls.at(-1)?.succeed();
    await until(async () => (await status(first)) === 'completed');
    await expect(host.runs.release(alice, first)).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('a run that the host cannot decide about', () => {
  it('is set aside after a few attempts; its parent waits and says for whom', async () => {
    let isBroken = false;
    const broken: NodeType = {
      typeId: 'test.broken',
      title: 'Broken',
      summary: 'Is a defect of the host, not of the node.',
      config: Type.Object({}),
      get kind(): 'pure' {
        if (isBroken) throw new RangeError('a defect');
        return 'pure';
      },
      run: () => ({ outputs: {} }),
    };
    const effects = createEffects();
    const { host, register, run, status } = await open({ nodes: [effects.type, broken] });
    const child = {
      nodes: [node('call', 'test.effect'), node('next', 'test.broken')],
      edges: chain('call', 'next'),
    };
    await register(child, 'child');
    const parent = await run(
      await register({ nodes: [node('sub', 'core.subWorkflow', { workflowId: 'child' })] }, 'parent'),
    );
    const childRunId = await until(async () => (await host.runs.explain(alice, parent))?.childRunId);
    isBroken = true;

    let answered = 0;
    await until(async () => {
      for (; answered < effects.calls.length; answered += 1) effects.calls[answered]?.succeed();
      return (await host.operations.quarantinedRuns()) === 1;
    });

    expect(answered).toBe(5);
    expect(await status(parent)).toBe('running');
    expect(await host.runs.explain(alice, parent)).toMatchObject({
      waitingFor: 'child',
      childRunId,
      sentence: expect.stringMatching(new RegExp(`child run ${childRunId}, which is quarantined since`)),
    });
    isBroken = false;
    expect(await host.runs.command(alice, childRunId, { type: 'cancel' })).toMatchObject({
      status: 'cancelled',
    });
    await until(async () => (await status(parent)) === 'failed');
  });
});

describe('a run whose log is damaged', () => {
  /** A store that finds this event of this run damaged, from the moment that is switched on. */
  function damaging(
    store: Store,
  ): Store & { damage(runId: string, seq: number): void; damageInbox(runId: string): void } {
    let bad: { runId: string; seq: number } | undefined;
    let badInbox = '';
    const check = (runId: string, events: readonly StoredEvent[]): readonly StoredEvent[] => {
      const hit = bad?.runId === runId && events.find(({ seq }) => seq === bad?.seq);
      if (hit) throw new DamagedRunError(runId, hit.seq);
      return events;
    };
    return {
      ...store,
      damage(runId, seq) {
        bad = { runId, seq };
      },
      damageInbox(runId) {
        badInbox = runId;
      },
      async readInbox(runId) {
        if (runId === badInbox) throw new DamagedRunError(runId, undefined);
        return store.readInbox(runId);
      },
      readEvents: async (runId, ...rest) => check(runId, await store.readEvents(runId, ...rest)),
    };
  }

  async function damagedRun() {
    const store = damaging(openMemoryStore());
    const test = await open({ store, limits: { parkAfterMs: 0 } });
    const spec = { nodes: [node('ask', 'core.approvalGate'), node('after')], edges: chain('ask', 'after') };
    const workflowId = await test.register(spec);
    const [runId, other] = [await test.run(workflowId), await test.run(workflowId)];
    await until(async () => (await test.status(runId)) === 'waiting-approval');
    await until(async () => (await store.readRun(runId, undefined))?.holder === undefined);
    store.damage(runId, 1);
    return { ...test, store, runId, other };
  }

  it('is an error that names it, and is set aside; others are served as before (W-25)', async () => {
    const { host, runId, other } = await damagedRun();

    const reading = host.runs.events(alice, runId, -1, 100);

    await expect(reading).rejects.toMatchObject({ code: 'run_damaged', details: { runId, sequence: 1 } });
    await until(async () => (await host.operations.quarantinedRuns()) === 1);
    expect((await host.runs.list(alice, { quarantined: true }, { limit: 10 })).rows).toMatchObject([
      { runId, status: 'waiting-approval', quarantined: { reason: expect.stringContaining('Event 1') } },
    ]);
    expect((await host.runs.events(alice, other, -1, 100))?.events.length).toBeGreaterThan(2);
  });

  it.each<[string, (host: Host, runId: string, other: string) => Promise<unknown>]>([
    ['bundled', (host, runId) => host.bundles.text(alice, runId)],
    ['compared', (host, runId, other) => host.runs.diff(alice, runId, other, new AbortController().signal)],
    ['looked back at', (host, runId) => host.runs.stateAt(alice, runId, 2)],
  ])('is an error before anything of it is given away when it is %s', async (_how, use) => {
    const { host, runId, other } = await damagedRun();

    const used = use(host, runId, other);

    await expect(used).rejects.toMatchObject({ code: 'run_damaged', details: { runId, sequence: 1 } });
    await until(async () => (await host.operations.quarantinedRuns()) === 1);
  });

  it('can be cancelled also when it is what waits for it that cannot be read', async () => {
    const { host, store, runId } = await damagedRun();
    await expect(host.runs.events(alice, runId, -1, 100)).rejects.toBeInstanceOf(DamagedRunError);
    await until(async () => (await host.operations.quarantinedRuns()) === 1);
    store.damageInbox(runId);

    const answer = await host.runs.command(alice, runId, { type: 'cancel' });

    expect(answer).toMatchObject({ status: 'cancelled' });
    expect((await store.readRun(runId, undefined))?.head.status).toBe('cancelled');
  });

  it('can be cancelled without being read (W-25)', async () => {
    const { host, store, runId } = await damagedRun();
    await expect(host.runs.events(alice, runId, -1, 100)).rejects.toBeInstanceOf(DamagedRunError);
    await until(async () => (await host.operations.quarantinedRuns()) === 1);

    const answer = await host.runs.command(alice, runId, { type: 'cancel', reason: 'broken' });

    expect(answer).toMatchObject({ status: 'cancelled', commandResult: { applied: true } });
    expect((await store.readRun(runId, undefined))?.head.status).toBe('cancelled');
    expect(await host.operations.quarantinedRuns()).toBe(0);
  });
});
