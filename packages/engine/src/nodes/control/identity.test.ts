import { expect, it } from 'vitest';
import { identityNode } from './identity.ts';
import { sampleInput } from '../testing/sample-node-input.ts';

it('echoes each input port on the output port of the same name', () => {
  const inputs = { payload: { deep: [1, null] }, other: 'x' };

  expect(identityNode.run(sampleInput(identityNode, { inputs })).outputs).toEqual(inputs);
});
