import { expect, it } from 'vitest';
import { noopNode } from './noop.ts';
import { sampleInput } from '../testing/sample-node-input.ts';

it('outputs nothing, whatever it gets', () => {
  expect(noopNode.run(sampleInput(noopNode, { inputs: { a: 1 } }))).toEqual({ outputs: {} });
});
