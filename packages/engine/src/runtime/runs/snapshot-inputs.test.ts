import { afterEach, expect, it } from 'vitest';
import { node, variable } from '../../core/testing/definitions.ts';
import { alice, startHost, type TestHost, until } from '../testing/test-host.ts';

let test: TestHost;
afterEach(() => test.host.stop(0));

it('a snapshot shows the inputs that are declared and not sensitive', async () => {
  test = await startHost();
  const id = await test.register({
    nodes: [node('a')],
    variables: [variable('city'), variable('pin', { sensitive: true }), variable('unset')],
  });

  const runId = await test.run(id, { inputs: { city: 'Ulm', pin: '1234567', undeclared: 'x' } });
  await until(async () => (await test.status(runId)) === 'completed');

  const view = await test.host.runs.snapshot(alice, runId);
  expect(view?.snapshot['inputs']).toEqual({ city: 'Ulm' });
  expect(JSON.stringify(view)).not.toContain('1234567');
});
