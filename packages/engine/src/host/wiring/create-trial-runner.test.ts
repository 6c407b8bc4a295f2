import { Type } from 'typebox';
import { afterEach, describe, expect, it } from 'vitest';
import { chain, node } from '../../core/testing/definitions.ts';
import type { PureNodeType } from '../../model/node-type.ts';
import type { Input } from '../../core/decide/step.ts';
import { startHost, type TestHost, until } from '../../runtime/testing/test-host.ts';
import { createTrialRunner } from './create-trial-runner.ts';

const decided: unknown[] = [];
const PROBE: PureNodeType = {
  kind: 'pure',
  typeId: 'test.probe',
  title: 'Probe',
  summary: 'Notes what it was given.',
  config: Type.Object({}),
  run({ inputs }) {
    decided.push(inputs);
    return { outputs: {} };
  },
};

let opened: TestHost | undefined;

afterEach(async () => {
  decided.length = 0;
  await opened?.host.stop(0);
});

/** A run whose call is in flight, and behind it a node that notes that it was decided. */
async function heldRun() {
  opened = await startHost({ nodes: [PROBE] });
  const { register, run, store, host } = opened;
  const nodes = [node('call', 'core.delay', { ms: 60_000 }), node('probe', 'test.probe')];
  const runId = await run(await register({ nodes, edges: chain('call', 'probe') }));
  await until(async () => (await store.readRun(runId, undefined))?.nextSeq === 2);
  await host.stop(0);
  return { runId, store };
}

const RECOVERED: Input = { type: 'recovered' };

describe('a trial', () => {
  it('decides what the host would decide, at that moment, and writes nothing', async () => {
    const { runId, store } = await heldRun();
    const attempt = createTrialRunner({ store, version: '1', nodes: [PROBE] });

    await attempt({ runId, inputs: [], now: Date.now() });
    await attempt({ runId, inputs: [RECOVERED, { type: 'tick' }], now: Date.now() });
    expect(decided).toEqual([]);
    await attempt({ runId, inputs: [RECOVERED, { type: 'tick' }], now: Date.now() + 120_000 });
    expect(decided).toHaveLength(1);

    expect(await store.readRun(runId, undefined)).toMatchObject({ nextSeq: 2, head: { status: 'running' } });
  });

  it('begins each time with the run as it is stored', async () => {
    const { runId, store } = await heldRun();
    const attempt = createTrialRunner({ store, version: '1', nodes: [PROBE] });
    const request = { runId, inputs: [RECOVERED, { type: 'tick' } as const], now: Date.now() + 120_000 };

    await attempt(request);
    await attempt(request);

    expect(decided).toHaveLength(2);
  });

  it('of a run that does not exist has nothing to do', async () => {
    const { store } = await heldRun();

    await createTrialRunner({ store, version: '1' })({
      runId: crypto.randomUUID(),
      inputs: [RECOVERED],
      now: 0,
    });
  });
});
