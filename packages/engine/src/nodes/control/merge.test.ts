import { expect, it } from 'vitest';
import { mergeNode } from './merge.ts';
import { sampleInput } from '../testing/sample-node-input.ts';

it('outputs each port and all of them as one object', () => {
  const result = mergeNode.run(sampleInput(mergeNode, { inputs: { left: 1, right: 2 } }));

  expect(result.outputs).toEqual({ left: 1, right: 2, output: { left: 1, right: 2 } });
});
