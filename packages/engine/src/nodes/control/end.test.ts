import { expect, it } from 'vitest';
import { endNode } from './end.ts';
import { sampleInput } from '../testing/sample-node-input.ts';

it('passes its inputs through and repeats input on output', () => {
  const result = endNode.run(sampleInput(endNode, { inputs: { input: null, other: 2 } }));

  expect(result.outputs).toEqual({ input: null, other: 2, output: null });
});

it('has no output port when nothing arrived on input', () => {
  expect(endNode.run(sampleInput(endNode, { inputs: { other: 2 } })).outputs).toEqual({ other: 2 });
});
