import { expect, it } from 'vitest';
import { sampleInput } from '../testing/sample-node-input.ts';
import { startNode } from './start.ts';

it('hands the run inputs on together and each under its own name', () => {
  const result = startNode.run(sampleInput(startNode, { inputs: { a: 1, b: [2] } }));

  expect(result).toEqual({ outputs: { a: 1, b: [2], output: { a: 1, b: [2] } } });
});

it('keeps an input called output inside the whole', () => {
  const result = startNode.run(sampleInput(startNode, { inputs: { output: 1 } }));

  expect(result.outputs).toEqual({ output: { output: 1 } });
});

it('treats __proto__ as an ordinary name', () => {
  const inputs = JSON.parse('{"__proto__": 1}');

  const result = startNode.run(sampleInput(startNode, { inputs }));

  expect(Object.entries(result.outputs)).toContainEqual(['__proto__', 1]);
});

it('never shows the raw inputs', () => {
  expect(startNode.privateOutputs).toBe(true);
});
