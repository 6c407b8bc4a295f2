import { afterEach, describe, expect, it } from 'vitest';
import { chain, node } from '../../core/testing/definitions.ts';
import type { HostOptions } from '../../host/create-host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { EgressRequest } from '../../model/node-type.ts';
import type { Store, WriteUnit } from '../../ports/store.ts';
import { yieldTurn } from '../../ports/clock.ts';
import { type TestClock, testClock } from '../testing/test-clock.ts';
import { alice, startHost, type TestHost, until } from '../testing/test-host.ts';
import { NO_STREAMS } from '../testing/no-streams.ts';

/**
 * A process that is frozen past its deadline, at every point between the decision to perform an effect and the effect itself. Another
 * process records that no one knows what became of it; when the first one wakes, it must not happen any more.
 */

const opened: TestHost[] = [];

async function open(options: Partial<HostOptions> = {}): Promise<TestHost> {
  const test = await startHost(options);
  opened.push(test);
  return test;
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

/** Longer than a claim lasts without a sign of its holder. */
const FREEZE_MS = 30_000;

interface Sleeper extends Store {
  /** Resolves when it is frozen: at the first write that the test has chosen. */
  readonly frozen: Promise<void>;
  /** Resolves when it has done what it was about to. */
  wake(): Promise<void>;
}

/** The store as one process sees it. At a write of the test's choice that process freezes: no heartbeat, nothing written, until it is woken. */
function sleeper(store: Store, isMeant: (unit: WriteUnit) => boolean, moment: 'before' | 'after'): Sleeper {
  let [freeze, wake] = [() => {}, () => {}];
  let isFrozen = false;
  let isAwake = false;
  const frozen = new Promise<void>((resolve) => (freeze = resolve));
  const woken = new Promise<void>((resolve) => (wake = resolve));
  const sleep = async (): Promise<void> => {
    isFrozen = true;
    freeze();
    await woken;
  };
  return {
    ...store,
    frozen,
    async wake() {
      isAwake = true;
      wake();
      for (let turn = 0; turn < 3; turn += 1) await yieldTurn();
    },
    async commit(units) {
      const isHere = !isAwake && units.some(isMeant);
      if (isHere && moment === 'before') await sleep();
      const results = await store.commit(units);
      if (isHere && moment === 'after') await sleep();
      return results;
    },
    async heartbeat(...beat) {
      if (isFrozen && !isAwake) return new Promise(() => undefined);
      return store.heartbeat(...beat);
    },
    // What it has slept over it may not take up again: the test is about the claim it had.
    claim: async (runId, holder) =>
      isFrozen ? { state: 'held', holder: 'another' } : store.claim(runId, holder),
    claimDue: async (holder, limit) => (isFrozen ? [] : store.claimDue(holder, limit)),
  };
}

/** None fires while a process is frozen, so none may be what signals it here. */
const NO_TIMERS = { heartbeatMs: 1_000_000, pollMs: 1_000_000 };
const IF_UNKNOWN_FAIL = { settings: { onUnknownOutcome: 'fail' } };
const OUTCOME_UNKNOWN = { code: 'effect_outcome_unknown' };

/** Two processes on one store: the first freezes at the chosen write, the second takes over and ends the run. */
async function twoProcesses(
  isMeant: (unit: WriteUnit) => boolean,
  moment: 'before' | 'after',
): Promise<{ clock: TestClock; store: Store; sleepy: Sleeper; first: TestHost; second: TestHost }> {
  const clock = testClock();
  const store = openMemoryStore({ clock: clock.now });
  const sleepy = sleeper(store, isMeant, moment);
  const first = await open({ store: sleepy, clock, limits: NO_TIMERS });
  const second = await open({ store, clock });
  return { clock, store, sleepy, first, second };
}

async function errorOf(at: TestHost, runId: string): Promise<unknown> {
  const events = await at.store.readEvents(runId, 0, 100, 1e6);
  const failed = events.find(({ type }) => type === 'node.failed');
  return failed && (JSON.parse(failed.payload) as { error: unknown }).error;
}

async function isIdle({ host }: TestHost): Promise<void> {
  await until(() => {
    const { live, effectsActive, effectsQueued } = host.stats();
    return live === 0 && effectsActive === 0 && effectsQueued === 0;
  });
}

const CALL = { ...node('call', 'test.effect'), ...IF_UNKNOWN_FAIL };
const isBeginning = (unit: WriteUnit): boolean =>
  unit.kind === 'run' && unit.events.some(({ type, nodeId }) => type === 'node.started' && nodeId === 'call');

describe('a process that freezes past its deadline', () => {
  it('after it has written down that an effect begins, with the creation of its run, does not begin it', async () => {
    const { clock, sleepy, first, second } = await twoProcesses(isBeginning, 'after');
    const workflowId = await second.register({ nodes: [CALL] });

    const created = first.run(workflowId);
    await sleepy.frozen;
    clock.advance(FREEZE_MS);
    const { rows } = await second.host.runs.list(alice, {}, { limit: 1 });
    const runId = rows[0]?.runId ?? '';
    await until(async () => (await second.status(runId)) === 'failed');
    await sleepy.wake();
    await created;
    await isIdle(first);

    expect(await errorOf(second, runId)).toMatchObject(OUTCOME_UNKNOWN);
    expect([first.effects.calls, second.effects.calls]).toEqual([[], []]);
  });

  it('after it has written down that a later effect begins does not begin it (W-18)', async () => {
    const { clock, sleepy, first, second } = await twoProcesses(isBeginning, 'after');
    const nodes = [node('before', 'test.effect'), CALL];
    const runId = await first.run(await second.register({ nodes, edges: chain('before', 'call') }));
    (await until(() => first.effects.calls[0])).succeed();

    await sleepy.frozen;
    clock.advance(FREEZE_MS);
    await until(async () => (await second.status(runId)) === 'failed');
    await sleepy.wake();
    await isIdle(first);

    expect(await errorOf(second, runId)).toMatchObject(OUTCOME_UNKNOWN);
    expect(first.effects.calls.map(({ input }) => input.nodeId)).toEqual(['before']);
    expect(second.effects.calls).toEqual([]);
  });

  it('while an effect waits for its turn does not begin it (W-29)', async () => {
    const clock = testClock();
    const at = await open({ clock, limits: { hostConcurrency: 1 } });
    const workflowId = await at.register({ nodes: [CALL] });
    const runs = [await at.run(workflowId), await at.run(workflowId)];
    const [under] = await until(() => (at.effects.calls.length === 1 ? at.effects.calls : undefined));
    expect(at.host.stats()).toMatchObject({ effectsActive: 1, effectsQueued: 1 });

    clock.advance(FREEZE_MS);
    under?.succeed();

    for (const runId of runs) {
      await until(async () => (await at.status(runId)) === 'failed');
      expect(await errorOf(at, runId)).toMatchObject(OUTCOME_UNKNOWN);
    }
    expect(at.effects.calls).toHaveLength(1);
    await isIdle(at);
  });

  it('while a request is on its way out says so when it is asked (W-18)', async () => {
    const clock = testClock();
    const asked: EgressRequest[] = [];
    const egress = {
      fetch: (request: EgressRequest) => {
        asked.push(request);
        return new Promise<never>(() => undefined);
      },
    };
    const at = await open({ clock, egress: { ...NO_STREAMS, ...egress } });
    const config = { url: 'http://example.org/', method: 'POST' };
    const call = { ...node('call', 'core.http.request', config), ...IF_UNKNOWN_FAIL };
    const runId = await at.run(await at.register({ nodes: [call] }));
    const request = await until(() => asked[0]);
    expect(request.mayLeave?.()).toBe(true);

    clock.advance(FREEZE_MS);

    // In this very turn: no timer has fired, and no heartbeat was sent since.
    expect(request.mayLeave?.()).toBe(false);
    expect(request.signal.aborted).toBe(true);
    await until(async () => (await at.status(runId)) === 'failed');
    expect(await errorOf(at, runId)).toMatchObject(OUTCOME_UNKNOWN);
    expect(asked).toHaveLength(1);
    await isIdle(at);
  });

  it('before it writes what a node remembers does not write it', async () => {
    const isMemory = (unit: WriteUnit): boolean => unit.kind === 'document' && unit.collection === 'memory';
    const { clock, store, sleepy, first, second } = await twoProcesses(isMemory, 'before');
    const config = { memoryRef: 'notes', content: 'too late' };
    const keep = { ...node('keep', 'weft.memory.write', config), ...IF_UNKNOWN_FAIL };
    const runId = await first.run(await second.register({ nodes: [keep] }));
    await sleepy.frozen;

    clock.advance(FREEZE_MS);
    await until(async () => (await second.status(runId)) === 'failed');
    await sleepy.wake();
    await isIdle(first);

    expect(await errorOf(second, runId)).toMatchObject(OUTCOME_UNKNOWN);
    expect((await store.listDocuments('default', 'memory', 'notes', { limit: 10 })).rows).toEqual([]);
  });

  it('before it creates a child does not create it for a parent that was cancelled since', async () => {
    const isChild = (unit: WriteUnit): boolean =>
      unit.kind === 'run' && unit.create?.record.parent !== undefined;
    const { clock, store, sleepy, first, second } = await twoProcesses(isChild, 'before');
    await second.register({ nodes: [node('only')] }, 'child');
    const config = { workflowId: 'child', propagateCancellation: false };
    const runId = await first.run(
      await second.register({ nodes: [node('sub', 'core.subWorkflow', config)] }),
    );
    await sleepy.frozen;

    // The next holder of the run finds the cancel with it, and creates nothing.
    const cancelled = second.host.runs.command(alice, runId, { type: 'cancel' });
    await until(async () => (await store.readInbox(runId)).length === 1);
    clock.advance(FREEZE_MS);
    await until(async () => (await second.status(runId)) === 'cancelled');
    await cancelled;
    await sleepy.wake();
    await isIdle(first);

    const { rows } = await store.listRuns('default', {}, { limit: 10 });
    expect(rows.map(({ record }) => record.runId)).toEqual([runId]);
  });
});
