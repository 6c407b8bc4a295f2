import { describe, expect, it } from 'vitest';
import { failureOf, sampleInput, type Sample } from '../testing/sample-node-input.ts';
import { setVariableNode } from './set-variable.ts';

const run = (sample: Sample) => setVariableNode.run(sampleInput(setVariableNode, sample));

describe('core.setVariable', () => {
  it('sets the variable and outputs the value', () => {
    expect(run({ config: { name: 'n', value: [1] } })).toEqual({
      outputs: { output: [1] },
      variables: { n: [1] },
    });
  });

  it('takes the port value first, then config, then the expression, then the port input', () => {
    expect(run({ config: { name: 'n', value: 1 }, inputs: { value: 2, input: 3 } }).outputs.output).toBe(2);
    expect(run({ config: { name: 'n', value: 1 }, inputs: { input: 3 } }).outputs.output).toBe(1);
    expect(
      run({ config: { name: 'n', expression: 'inputs.input + 1' }, inputs: { input: 3 } }).outputs.output,
    ).toBe(4);
    expect(run({ config: { name: 'n' }, inputs: { input: 3 } }).outputs.output).toBe(3);
    expect(run({ config: { name: 'n', value: 1 }, inputs: { value: null } }).outputs.output).toBeNull();
  });

  it.each([
    ['string', 'x'],
    ['number', 1],
    ['boolean', false],
    ['array', []],
    ['object', {}],
  ])('accepts a value of the declared type %s and refuses another', (type, value) => {
    const declared = { n: type };
    const other = type === 'string' ? 1 : 'x';

    const failure = failureOf(() => run({ config: { name: 'n' }, inputs: { value: other }, declared }));

    expect(run({ config: { name: 'n' }, inputs: { value }, declared }).variables).toEqual({ n: value });
    expect(failure).toMatchObject({
      code: 'variable_type_mismatch',
      details: { variable: 'n', declared: type },
    });
  });

  it('refuses null for every declared type', () => {
    const failure = failureOf(() =>
      run({ config: { name: 'n' }, inputs: { value: null }, declared: { n: 'object' } }),
    );

    expect(failure.details).toMatchObject({ observed: 'null' });
  });

  it('refuses at registration what can never work', () => {
    expect(() => run({ config: { name: 'n', value: 1 }, declared: { n: 'string' } })).toThrow(/^\/value: /);
    expect(() => run({ config: { name: 'n', value: 1, expression: '1' } })).toThrow(/^\/expression: /);
    expect(() => run({ config: { name: 'n', expression: '1 +' } })).toThrow(/^\/expression: /);
  });

  it('says how to give a value when there is none', () => {
    const failure = failureOf(() => run({ config: { name: 'n' } }));

    expect(failure).toMatchObject({ code: 'validation_error' });
    expect(failure.message).toContain('config.value');
  });

  it('fails when the expression cannot be evaluated', () => {
    const failure = failureOf(() =>
      run({ config: { name: 'n', expression: '1 / inputs.zero' }, inputs: { zero: 0 } }),
    );

    expect(failure.code).toBe('expression_failed');
  });

  it('can set a variable called __proto__', () => {
    const { variables } = run({ config: { name: '__proto__', value: 1 } });

    expect(Object.entries(variables ?? {})).toEqual([['__proto__', 1]]);
  });
});
