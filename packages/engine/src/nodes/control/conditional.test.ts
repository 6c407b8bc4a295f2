import { describe, expect, it } from 'vitest';
import { conditionalNode } from './conditional.ts';
import { failureOf, sampleInput, type Sample } from '../testing/sample-node-input.ts';

const outputsOf = (sample: Sample) => conditionalNode.run(sampleInput(conditionalNode, sample)).outputs;

describe('core.conditional', () => {
  it('passes its input on through exactly one of its two ports', () => {
    const config = { condition: 'inputs.input > 3' };

    expect(outputsOf({ config, inputs: { input: 4 } })).toEqual({ true: 4 });
    expect(outputsOf({ config, inputs: { input: 3 } })).toEqual({ false: 3 });
    expect(conditionalNode.branches).toEqual(['true', 'false']);
  });

  it('passes all its inputs on when none is called input', () => {
    const config = { condition: 'inputs.a == inputs.b' };

    expect(outputsOf({ config, inputs: { a: 1, b: 1 } })).toEqual({ true: { a: 1, b: 1 } });
  });

  it('sees the variables of the workflow', () => {
    const config = { condition: 'variables.ready' };

    expect(outputsOf({ config, inputs: { input: 1 }, variables: { ready: false } })).toEqual({ false: 1 });
  });

  it('takes the form of an edge condition, with paths into its inputs', () => {
    const config = { condition: { type: 'equals', left: 'input.kind', right: 'gold' } };

    expect(outputsOf({ config, inputs: { input: { kind: 'gold' } } })).toEqual({ true: { kind: 'gold' } });
    expect(outputsOf({ config, inputs: { input: { kind: 'tin' } } })).toEqual({ false: { kind: 'tin' } });
  });

  it('refuses a condition that does not compile, and points at it', () => {
    expect(() => sampleInput(conditionalNode, { config: { condition: 'inputs.input >' } })).toThrow(
      /^\/condition: /,
    );
  });

  it('points at the member of a condition that is wrong', () => {
    const config = { condition: { type: 'equals', left: 'input' } };

    expect(() => sampleInput(conditionalNode, { config })).toThrow(/^\/condition\/right: /);
  });

  it('fails when the condition cannot be evaluated or is neither true nor false', () => {
    const missing = failureOf(() => outputsOf({ config: { condition: 'inputs.nope.deep == 1' } }));
    const number = failureOf(() => outputsOf({ config: { condition: 'inputs.a' }, inputs: { a: 1 } }));

    expect([missing.code, number.code]).toEqual(['expression_failed', 'expression_failed']);
  });
});
