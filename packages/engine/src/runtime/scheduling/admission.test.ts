import { afterEach, describe, expect, it } from 'vitest';
import { chain, definition, node } from '../../core/testing/definitions.ts';
import type { Caller } from '../../host/host.ts';
import { alice, newRun, startHost, stranger, type TestHost, until } from '../testing/test-host.ts';

const hosts: TestHost[] = [];

afterEach(async () => {
  for (const { host } of hosts.splice(0)) await host.stop(0);
});

async function open(limits: Parameters<typeof startHost>[0] = {}): Promise<TestHost> {
  const test = await startHost(limits);
  hosts.push(test);
  for (const caller of [alice, stranger]) {
    const one = definition({ nodes: [node('call', 'test.effect')] });
    await test.host.workflows.register(caller, { ...one, id: 'one' }, { strict: false, dev: false });
    const two = definition({
      nodes: [node('first', 'test.effect'), node('second', 'test.effect')],
      edges: chain('first', 'second'),
    });
    await test.host.workflows.register(caller, { ...two, id: 'two' }, { strict: false, dev: false });
  }
  return test;
}

const LARGE = { text: 'x'.repeat(100_000) };

async function create({ host }: TestHost, caller: Caller, workflowId = 'one'): Promise<string> {
  const accepted = await host.runs.create(
    caller,
    newRun(workflowId, { inputs: LARGE, tags: [caller.tenant] }),
  );
  if (accepted.replayed) throw new Error('no key was given');
  return accepted.runId;
}

/** Effects that have begun so far. */
function begun({ effects }: TestHost): number {
  return effects.calls.length;
}

const statusOf = async ({ host }: TestHost, caller: Caller, runId: string): Promise<string | undefined> =>
  (await host.runs.snapshot(caller, runId))?.snapshot.status;

describe('runs with large inputs', () => {
  it('are all accepted, in memory only as far as there is room, and all come to their end (W-8)', async () => {
    const test = await open({ limits: { maxLiveBytes: 1_000_000 } });

    const runs: string[] = [];
    for (let count = 0; count < 40; count += 1) runs.push(await create(test, alice));
    await until(() => begun(test) > 0);

    // Four fifths of 1 MB for one tenant, at 108 KB each, and one that is let in below that.
    expect([7, 8]).toContain(test.host.stats()['live']);
    expect([7, 8]).toContain(begun(test));
    expect(await statusOf(test, alice, runs[39] ?? '')).toBe('pending');
    for (let index = 0; index < 40; index += 1) {
      (await until(() => test.effects.calls[index])).succeed();
      expect(test.host.stats()['live']).toBeLessThanOrEqual(10);
    }
    await until(async () => (await statusOf(test, alice, runs[39] ?? '')) === 'completed');
    expect(begun(test)).toBe(40);
    await until(() => test.host.stats()['liveBytes'] === 0);
  });

  it('of one tenant leave room to begin another one’s at once', async () => {
    const test = await open({ limits: { maxLiveBytes: 1_000_000 } });
    const greedy: string[] = [];
    for (let count = 0; count < 40; count += 1) greedy.push(await create(test, alice));

    const runId = await create(test, stranger);

    await until(async () => (await statusOf(test, stranger, runId)) === 'running');
    expect(await statusOf(test, alice, greedy[39] ?? '')).toBe('pending');
  });

  it('wait in turn: one of a tenant that came last is among the next two', async () => {
    const test = await open({ limits: { maxLiveBytes: 500_000 } });
    for (let count = 0; count < 30; count += 1) await create(test, alice);
    // Its first takes the room that is left for others, so the second has to wait like those of the first tenant.
    const strange = [await create(test, stranger), await create(test, stranger)];
    expect(await statusOf(test, stranger, strange[1] ?? '')).toBe('pending');
    await until(() => begun(test) === test.host.stats()['live']);
    const before = begun(test);

    for (const index of [0, 1]) {
      test.effects.calls[index]?.succeed();
      await until(() => begun(test) > before + index);
    }

    await until(async () => (await statusOf(test, stranger, strange[1] ?? '')) === 'running');
    expect(begun(test)).toBeLessThanOrEqual(before + 3);
  });

  it('that have grown too large together are given back and continue later, each effect performed once (W-1, W-11)', async () => {
    const test = await open({ limits: { maxLiveBytes: 2_000_000, maxPayloadBytes: 1_000_000 } });
    const runs: string[] = [];
    for (let count = 0; count < 6; count += 1) {
      const accepted = await test.host.runs.create(alice, newRun('two'));
      if (!accepted.replayed) runs.push(accepted.runId);
    }
    await until(() => begun(test) === 6);

    for (const call of test.effects.calls.slice(0, 6))
      call.succeed({ outputs: { output: 'y'.repeat(400_000) } });

    for (let index = 6; index < 12; index += 1) {
      const call = await until(() => test.effects.calls[index]);
      expect(Number(test.host.stats()['liveBytes'])).toBeLessThan(6_000_000);
      call.succeed();
    }
    for (const runId of runs) await until(async () => (await statusOf(test, alice, runId)) === 'completed');
    const performed = test.effects.calls.map(({ context }) => context.invocationId);
    expect(new Set(performed).size).toBe(12);
    expect(performed).toHaveLength(12);
  });

  it('can be cancelled while there is no room for them (W-12)', async () => {
    const test = await open({ limits: { maxLiveBytes: 300_000 } });
    const runs: string[] = [];
    for (let count = 0; count < 5; count += 1) runs.push(await create(test, alice));
    expect(await statusOf(test, alice, runs[4] ?? '')).toBe('pending');

    await test.host.runs.command(alice, runs[4] ?? '', { type: 'cancel', by: 'alice' });

    await until(async () => (await statusOf(test, alice, runs[4] ?? '')) === 'cancelled');
  });
});
