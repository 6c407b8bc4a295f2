import { Type } from 'typebox';
import { afterEach, describe, expect, it } from 'vitest';
import { DamagedRunError } from '../../model/damaged-run-error.ts';
import { chain, node } from '../../core/testing/definitions.ts';
import type { HostOptions } from '../../host/create-host.ts';
import type { Host } from '../../host/host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { NodeType } from '../../model/node-type.ts';
import { createUnit, given, newRunId } from '../../store-contract/fixtures.ts';
import type { RunRow, Store, StoredEvent, WriteUnit } from '../../ports/store.ts';
import { createQuarantine, MOST_STRIKES, type Trial } from './quarantine.ts';
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

describe('a run that lost its holders', () => {
  let now = 1_000;
  const store = openMemoryStore({ clock: () => now });
  let batches = 0;
  let isStoreAway = false;
  const quarantine = createQuarantine({
    store,
    committer: {
      async submit(unit) {
        if (isStoreAway) return { state: 'lost' };
        const [result] = await store.commit([unit]);
        if (result === undefined) throw new Error('no result');
        return result;
      },
    },
    clock: { now: () => now, monotonic: () => now },
    random: (size) => {
      batches += 1;
      return Buffer.alloc(size, batches);
    },
    log: () => undefined,
  });
  let holders = 0;

  async function heldRun(): Promise<string> {
    const runId = newRunId();
    await store.heartbeat('first', 1_000);
    await given(store, createUnit(runId, { holder: 'first' }));
    return runId;
  }

  /** A process takes the run over from one that ended, and asks how it may be taken up. */
  async function takeOver(
    runId: string,
  ): Promise<{ row: RunRow; admission: Awaited<ReturnType<typeof admit>> }> {
    now += 10_000;
    holders += 1;
    await store.heartbeat(`holder-${holders}`, 1_000);
    const claim = await store.claim(runId, `holder-${holders}`);
    if (claim.state !== 'claimed') throw new Error(claim.state);
    const row = await rowOf(runId);
    return { row, admission: await admit(row) };
  }
  const admit = (row: RunRow) => quarantine.admit(row, row.epoch);

  async function rowOf(runId: string): Promise<RunRow> {
    const row = await store.readRun(runId, undefined);
    if (row === undefined) throw new Error('no row');
    return row;
  }

  function isTrial(admission: 'ordinary' | 'aside' | Trial): asserts admission is Trial {
    if (typeof admission === 'string') throw new Error(`it is ${admission}`);
  }

  /** The process ends in the middle of the decision: what it noted stays, and the next suspect is let in elsewhere. */
  async function die(admission: 'ordinary' | 'aside' | Trial, runId: string): Promise<void> {
    isTrial(admission);
    const { suspicion } = await rowOf(runId);
    expect(suspicion?.tried).toBeDefined();
    await admission.end(0, true);
    if (suspicion !== undefined)
      await given(store, { kind: 'suspicion', batchId: 'd'.repeat(22), runId, suspicion });
  }

  it('once is taken up like any other', async () => {
    expect((await takeOver(await heldRun())).admission).toBe('ordinary');
  });

  it('again and again is tried alone, and with its third strike set aside (W-7, W-22)', async () => {
    const runId = await heldRun();
    await takeOver(runId);

    for (let strike = 0; strike < MOST_STRIKES; strike += 1) {
      const { admission, row } = await takeOver(runId);
      expect(row.suspicion?.struckWhile ?? []).toHaveLength(Math.max(strike - 1, 0));
      await die(admission, runId);
    }

    expect((await takeOver(runId)).admission).toBe('aside');
    expect(await rowOf(runId)).toMatchObject({
      head: { status: 'running' },
      suspicion: {
        quarantinedAt: now,
        struckWhile: Array.from({ length: MOST_STRIKES }, () => 'taking up'),
        reason: expect.stringContaining('3 times'),
      },
    });
    expect((await store.readAudit(0, 1_000)).at(-1)).toMatchObject({
      action: 'run.quarantine',
      target: runId,
    });
  });

  it('gets no strike for a death between its decisions (W-24)', async () => {
    const runId = await heldRun();
    await takeOver(runId);

    for (let death = 0; death < 10; death += 1) {
      const { admission } = await takeOver(runId);
      isTrial(admission);
      expect(await admission.end(0, false)).toBe(false);
    }

    expect((await rowOf(runId)).suspicion).toEqual({
      reason: expect.any(String),
      since: expect.any(Number),
      seq: 0,
    });
  });

  it('loses the strikes of a decision that went well, and keeps those of others (W-24)', async () => {
    const runId = await heldRun();
    await takeOver(runId);
    await die((await takeOver(runId)).admission, runId);
    const { admission } = await takeOver(runId);
    isTrial(admission);
    await admission.end(0, false);
    await admission.begin('outcome a');
    await die(admission, runId);

    const next = (await takeOver(runId)).admission;
    isTrial(next);
    expect(next.outcome(0)).toMatchObject({ suspicion: { struckWhile: ['outcome a'] } });
    await next.end(0, false);

    expect((await rowOf(runId)).suspicion).toMatchObject({ struckWhile: ['outcome a'] });
  });

  it('gets no strike for a note that the very process could not remove', async () => {
    const runId = await heldRun();
    await takeOver(runId);
    const { admission, row } = await takeOver(runId);
    isTrial(admission);
    isStoreAway = true;
    await expect(admission.end(0, false)).rejects.toMatchObject({ code: 'service_unavailable' });
    isStoreAway = false;
    expect((await rowOf(runId)).suspicion?.tried).toBe('taking up');

    const again = await admit(await rowOf(runId));

    isTrial(again);
    expect(again.outcome(row.nextSeq).suspicion?.struckWhile).toBeUndefined();
    again.close(false);
  });

  it('is no suspect any more once it got further', async () => {
    const runId = await heldRun();
    await takeOver(runId);
    const { admission } = await takeOver(runId);
    isTrial(admission);

    expect(admission.outcome(0)).toMatchObject({ suspicion: { seq: 0 } });
    expect(admission.outcome(1)).toEqual({});
    expect(await admission.end(1, false)).toBe(true);

    expect((await rowOf(runId)).suspicion).toBeUndefined();
  });

  it('waits until the suspect before it has been tried (W-23)', async () => {
    const [first, second] = [await heldRun(), await heldRun()];
    for (const runId of [first, second]) await takeOver(runId);
    const { admission } = await takeOver(first);
    isTrial(admission);
    let isAdmitted = false;
    const other = takeOver(second).then((taken) => {
      isAdmitted = true;
      return taken.admission;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isAdmitted).toBe(false);

    await admission.end(0, false);

    isTrial(await other);
    ((await other) as Trial).close(false);
  });

  it('that ends while it waits for the suspect before it lets the next one in (W-23)', async () => {
    const [first, second, third] = [await heldRun(), await heldRun(), await heldRun()];
    for (const runId of [first, second, third]) await takeOver(runId);
    const { admission: ending } = await takeOver(first);
    isTrial(ending);
    await ending.end(0, false);
    const { admission: inside } = await takeOver(second);
    isTrial(inside);

    const begun = ending.begin('tick');
    ending.close(false);
    await inside.end(0, false);
    await begun;

    const { admission } = await takeOver(third);
    isTrial(admission);
    admission.close(false);
    expect((await rowOf(first)).suspicion?.tried).toBeUndefined();
  });

  it('is waited for by ordinary runs while it is tried, and not by those who come later (W-23)', async () => {
    const runId = await heldRun();
    await takeOver(runId);
    const { admission } = await takeOver(runId);
    isTrial(admission);
    let mayDecide = false;
    const waited = quarantine.trialUnderWay()?.then(() => {
      mayDecide = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(mayDecide).toBe(false);

    await admission.end(0, false);

    await waited;
    expect(quarantine.trialUnderWay()).toBeUndefined();
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

const EFFECT = { nodes: [node('call', 'test.effect'), node('after')], edges: chain('call', 'after') };

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
