import { afterEach, describe, expect, it } from 'vitest';
import type { WorkflowSpec } from '../../core/testing/definitions.ts';
import { alice, QUICK, startHost, type TestHost, until } from '../testing/test-host.ts';

/** Between two iterations a loop decides something that leaves no fact. */
const LOOP: WorkflowSpec = {
  nodes: [
    { id: 'each', typeId: 'core.loop', config: { while: 'index < 20', body: ['count'], maxIterations: 20 } },
    { id: 'count', typeId: 'core.setVariable', config: { name: 'counted', expression: 'index' } },
  ],
  edges: [],
};

describe('a batch whose time is always up', () => {
  let test: TestHost;
  afterEach(() => test.host.stop(1_000));

  it('still comes to a fact, so that a run and its replay reach their end', async () => {
    test = await startHost({ limits: { ...QUICK, batchMs: 0 } });
    const runId = await test.run(await test.register(LOOP));
    await until(async () => (await test.status(runId)) === 'completed');

    const forked = await test.host.runs.fork(alice, runId, { mode: 'replay' });

    const forkId = forked?.replayed === false ? forked.runId : '';
    await until(async () => (await test.status(forkId)) === 'completed');
    expect(await test.types(forkId)).toEqual(await test.types(runId));
  });
});
