import { expect, it } from 'vitest';
import { getVariableNode } from './get-variable.ts';
import { failureOf, sampleInput, type Sample } from '../testing/sample-node-input.ts';

const run = (sample: Sample) => getVariableNode.run(sampleInput(getVariableNode, sample));

it('outputs the value of the variable, also when that is null or false', () => {
  expect(run({ config: { name: 'n' }, variables: { n: 7 } }).outputs).toEqual({ output: 7 });
  expect(run({ config: { name: 'n', default: 1 }, variables: { n: null } }).outputs).toEqual({
    output: null,
  });
  expect(run({ config: { name: 'n', default: 1 }, variables: { n: false } }).outputs).toEqual({
    output: false,
  });
});

it('outputs the default when the variable is not set', () => {
  expect(run({ config: { name: 'n', default: null } }).outputs).toEqual({ output: null });
});

it('fails when the variable is not set and there is no default', () => {
  const failure = failureOf(() => run({ config: { name: 'n' } }));

  expect(failure).toMatchObject({ code: 'variable_not_set', details: { variable: 'n' } });
});
