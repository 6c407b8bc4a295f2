import { afterEach, describe, expect, it } from 'vitest';
import { chain, node } from '../../core/testing/definitions.ts';
import { alice, startHost, stranger, type TestHost, until } from '../testing/test-host.ts';
import { StopSource } from '../effects/stop-source.ts';

const opened: TestHost[] = [];

async function open(): Promise<TestHost> {
  const test = await startHost();
  opened.push(test);
  return test;
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

const ASKED = node('ask', 'core.approvalGate', { title: 'Ship it?' });
const never = new StopSource();

describe('who waits for a run', () => {
  it('is called when it ends, and not when a call of it has', async () => {
    const { host, effects, register, run } = await open();
    const calls = { nodes: [node('a', 'test.effect'), node('b', 'test.effect')], edges: chain('a', 'b') };
    const runId = await run(await register(calls));
    const waiting = host.runs.waitForEnd(alice, runId, 10_000, never);

    for (const nth of [0, 1]) (await until(() => effects.calls[nth])).succeed();

    const end = await waiting;
    expect([end?.status, end?.event.type]).toEqual(['completed', 'run.completed']);
    expect((await host.runs.waitForEnd(alice, runId, 10_000, never))?.event).toEqual(end?.event);
  });

  it('is called when someone is asked, also where something else is the last to happen before that', async () => {
    const { host, effects, register, run } = await open();
    const both = [
      { from: 'a', to: 'ask' },
      { from: 'a', to: 'call' },
    ];
    const nodes = [node('a'), ASKED, node('call', 'test.effect')];
    const runId = await run(await register({ nodes, edges: both }));
    const waiting = host.runs.waitForEnd(alice, runId, 10_000, never);

    (await until(() => effects.calls[0])).succeed();

    expect(await waiting).toMatchObject({
      status: 'waiting-approval',
      event: { type: 'node.completed' },
    });
  });

  it('is called when it is paused', async () => {
    const { host, register, run } = await open();
    const runId = await run(await register({ nodes: [node('call', 'test.effect')] }));
    const waiting = host.runs.waitForEnd(alice, runId, 10_000, never);

    await host.runs.command(alice, runId, { type: 'pause', policy: 'immediate' });

    expect((await waiting)?.status).toBe('paused');
  });

  it('is called with nothing when the time is up, when it leaves, and for a run of another tenant', async () => {
    const { host, register, run } = await open();
    const runId = await run(await register({ nodes: [node('call', 'test.effect')] }));
    const leaving = new StopSource();
    const left = host.runs.waitForEnd(alice, runId, 10_000, leaving);

    leaving.stop();

    expect(await left).toBeUndefined();
    expect(await host.runs.waitForEnd(alice, runId, 5, never)).toBeUndefined();
    expect(await host.runs.waitForEnd(stranger, runId, 10_000, never)).toBeUndefined();
  });
});
