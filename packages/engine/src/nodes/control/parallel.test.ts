import { expect, it } from 'vitest';
import { parallelNode } from './parallel.ts';
import { sampleInput } from '../testing/sample-node-input.ts';

it('copies its input, also when that is null', () => {
  expect(parallelNode.run(sampleInput(parallelNode, { inputs: { input: [1] } })).outputs).toEqual({
    output: [1],
  });
  expect(parallelNode.run(sampleInput(parallelNode, { inputs: { input: null } })).outputs).toEqual({
    output: null,
  });
});

it('copies all its inputs when none is called input', () => {
  expect(parallelNode.run(sampleInput(parallelNode, { inputs: { a: 1 } })).outputs).toEqual({
    output: { a: 1 },
  });
});
