import { afterEach, describe, expect, it } from 'vitest';
import { createEffects, startHost, type TestHost, until } from '../testing/test-host.ts';

let at: TestHost;
afterEach(() => at.host.stop(0));

describe('a node type that names its input ports', () => {
  it('gets values for these alone, though every edge carries one', async () => {
    const effects = createEffects();
    const type = { ...effects.type, inputPorts: { named: ['amount'], required: [], isOpen: false } };
    at = await startHost({ nodes: [type] });
    const workflowId = await at.register({
      nodes: [
        { id: 'a', typeId: 'core.start' },
        { id: 'b', typeId: 'test.effect', inputs: { amount: { type: 'variable', variableName: 'amount' } } },
      ],
      edges: [{ from: 'a', to: 'b' }],
      variables: [{ name: 'amount', type: 'number' }],
    });

    await at.run(workflowId, { inputs: { amount: 5 } });
    const call = await until(() => effects.calls[0]);

    expect(call.input.inputs).toEqual({ amount: 5 });
    call.succeed();
  });
});
