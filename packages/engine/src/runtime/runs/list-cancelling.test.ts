import { afterEach, expect, it } from 'vitest';
import { node } from '../../core/testing/definitions.ts';
import { alice, startHost, type TestHost, until } from '../testing/test-host.ts';

let test: TestHost;
afterEach(() => test.host.stop(0));

it('a run whose cancel waits in its inbox is listed as cancelling', async () => {
  // Nothing tells the holder of a command that is only written, and it does not look for an hour.
  test = await startHost({ limits: { pollMs: 3_600_000 } });
  const id = await test.register({ nodes: [node('call', 'test.effect')] });
  const [asked, untouched] = [await test.run(id), await test.run(id)];
  await until(() => test.effects.calls.length === 2);
  await test.store.commit([
    {
      kind: 'command',
      batchId: '0'.repeat(32),
      tenant: alice.tenant,
      runId: asked,
      commandId: '1'.repeat(32),
      command: { type: 'cancel' },
      inboxLimit: 10,
    },
  ]);

  const list = async (...status: ('cancelling' | 'running')[]) =>
    (await test.host.runs.list(alice, { status }, { limit: 1 })).rows.map(({ runId }) => runId);

  expect(await list('cancelling')).toEqual([asked]);
  expect(await list('running', 'cancelling')).toEqual([untouched]);
  expect((await test.host.runs.list(alice, { status: ['cancelling'] }, { limit: 1 })).rows[0]?.status).toBe(
    'cancelling',
  );
});
