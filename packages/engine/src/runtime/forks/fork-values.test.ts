import type { JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { edge, variable, type WorkflowSpec } from '../../core/testing/definitions.ts';
import { alice, QUICK, startHost, type TestHost, until } from '../testing/test-host.ts';

/** Leaves memory, and so a checkpoint, in the middle. */
const GREETING: WorkflowSpec = {
  nodes: [
    { id: 'gate', typeId: 'core.approvalGate', config: {} },
    {
      id: 'greet',
      typeId: 'core.setVariable',
      config: { name: 'said', expression: '"hello " + variables.who' },
    },
  ],
  edges: [edge('gate', 'greet')],
  variables: [variable('who')],
};

describe('a branch with other inputs', () => {
  let test: TestHost;
  afterEach(() => test.host.stop(1_000));

  const snapshot = async (runId: string): Promise<JsonObject> =>
    (await test.host.runs.snapshot(alice, runId))?.snapshot as unknown as JsonObject;

  it('has them also where its source left a checkpoint before the cut', async () => {
    test = await startHost({ limits: { ...QUICK, checkpointEvents: 1 } });
    const runId = await test.run(await test.register(GREETING), { inputs: { who: 'you' } });
    await until(async () => (await test.status(runId)) === 'waiting-approval');
    await until(async () => (await test.store.readCheckpoint(runId)) !== undefined);
    await test.host.runs.command(alice, runId, {
      type: 'resolve',
      nodeId: 'gate',
      value: { action: 'accept' },
      by: 'ada',
      byUser: true,
      viaLink: false,
    });
    await until(async () => (await test.status(runId)) === 'completed');
    const events = (await test.host.runs.events(alice, runId, -1, 100))?.events ?? [];
    const cut = events.find(({ type, payload }) => type === 'node.started' && payload.includes('"greet"'));

    const forked = await test.host.runs.fork(alice, runId, {
      mode: 'branch',
      fromSeq: cut?.seq ?? 0,
      values: { who: 'me' },
    });

    const forkId = forked?.replayed === false ? forked.runId : '';
    await until(async () => (await test.status(forkId)) === 'completed');
    expect(await snapshot(forkId)).toMatchObject({ variables: { who: 'me', said: 'hello me' } });
    expect(await snapshot(runId)).toMatchObject({ variables: { who: 'you', said: 'hello you' } });
  });
});
