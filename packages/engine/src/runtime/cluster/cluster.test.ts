import { afterEach, describe, expect, it } from 'vitest';
import { chain, node } from '../../core/testing/definitions.ts';
import type { HostOptions } from '../../host/create-host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
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

async function nameOf({ host }: TestHost): Promise<string> {
  return (await host.cluster.nodes()).find(({ isSelf }) => isSelf)?.name ?? '';
}

async function stateOf({ host }: TestHost, name: string): Promise<string | undefined> {
  return (await host.cluster.nodes()).find((each) => each.name === name)?.state;
}

const EFFECTS = {
  nodes: [node('call', 'test.effect'), node('again', 'test.effect')],
  edges: chain('call', 'again'),
};

describe('the processes on one store', () => {
  it('know each other, with version, runs held, and which of them was asked', async () => {
    const store = openMemoryStore();
    const first = await open({ store, node: 'one' });
    const second = await open({ store, node: 'two' });
    await first.run(await first.register(EFFECTS));
    await until(() => first.effects.calls[0]);

    const nodes = await second.host.cluster.nodes();

    const shown = nodes.map(({ name, state, runs, isSelf, version }) => [
      name.slice(0, 3),
      ...[state, runs, isSelf, version],
    ]);
    expect(shown).toHaveLength(2);
    expect(shown).toContainEqual(['one', 'active', 1, false, '0.0.0-test']);
    expect(shown).toContainEqual(['two', 'active', 0, true, '0.0.0-test']);
  });

  it('do not list one that was stopped', async () => {
    const store = openMemoryStore();
    const first = await open({ store });
    const second = await open({ store });

    await first.host.stop(0);

    expect((await second.host.cluster.nodes()).map(({ isSelf }) => isSelf)).toEqual([true]);
  });
});

describe('a process whose clock is ahead of the store’s', () => {
  it('waits for a timer that is due by its own clock without asking all the time', async () => {
    const inner = openMemoryStore({ clock: () => Date.now() - 200 });
    let asked = 0;
    const store = {
      ...inner,
      claimDue(...claim: Parameters<typeof inner.claimDue>) {
        asked += 1;
        return inner.claimDue(...claim);
      },
    };
    const test = await open({ store, limits: { pollMs: 300, parkAfterMs: 10 } });

    const runId = await test.run(
      await test.register({ nodes: [{ ...node('wait', 'core.delay'), config: { ms: 50 } }] }),
    );

    await until(async () => (await test.status(runId)) === 'completed');
    expect(asked).toBeLessThan(25);
  });
});

describe('a process that is drained', () => {
  it('records what it is performing, leaves the rest to the others, and claims nothing any more (W-5)', async () => {
    const store = openMemoryStore();
    const first = await open({ store });
    const workflowId = await first.register(EFFECTS);
    const [one, two] = [await first.run(workflowId), await first.run(workflowId)];
    await until(() => first.effects.calls[1]);
    const second = await open({ store });
    const name = await nameOf(first);

    await second.host.cluster.drain(alice, name);
    await until(async () => (await stateOf(second, name)) === 'draining');
    first.effects.calls[0]?.succeed();

    // The other run's effect is still running, and no one waits for it.
    await until(() => second.effects.calls[0]);
    const epochs = [one, two].map(async (runId) => (await store.readRun(runId, undefined))?.epoch);
    expect(new Set(await Promise.all(epochs))).toEqual(new Set([1, 2]));
    expect(await stateOf(second, name)).toBe('draining');

    first.effects.calls[1]?.succeed();
    await until(async () => (await stateOf(second, name)) === 'drained');
    const third = await first.run(workflowId);
    for (const index of [0, 1, 2]) (await until(() => second.effects.calls[index])).succeed();
    (await until(() => second.effects.calls[3])).succeed();
    for (const runId of [one, two, third])
      await until(async () => (await second.status(runId)) === 'completed');
    expect(first.effects.calls).toHaveLength(2);
  });

  it('takes commands for the others to carry out', async () => {
    const store = openMemoryStore();
    const first = await open({ store });
    const workflowId = await first.register({ nodes: [node('gate', 'core.approvalGate')] });
    const runId = await first.run(workflowId);
    await until(async () => (await first.status(runId)) === 'waiting-approval');
    await open({ store });

    await first.host.cluster.drain(alice, await nameOf(first));
    const cancelled = await first.host.runs.command(alice, runId, { type: 'cancel' });

    expect(cancelled).toMatchObject({ status: 'cancelled' });
  });

  it('is one that is there: any other name is unknown', async () => {
    const { host } = await open();

    expect(await host.cluster.drain(alice, 'unknown')).toBeUndefined();
  });
});
