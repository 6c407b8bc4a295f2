import { describe, expect, it } from 'vitest';
import { Value } from 'typebox/value';
import { loopNode } from './loop.ts';
import { sampleInput } from '../testing/sample-node-input.ts';

const valid = { body: ['work'], items: 'inputs.list', maxIterations: 10 };

describe('core.loop', () => {
  it('needs a body and maxIterations', () => {
    expect(Value.Check(loopNode.config, valid)).toBe(true);
    expect(Value.Check(loopNode.config, { body: ['work'], items: 'inputs.list' })).toBe(false);
    expect(Value.Check(loopNode.config, { ...valid, body: [] })).toBe(false);
    expect(Value.Check(loopNode.config, { ...valid, body: ['work', 'work'] })).toBe(false);
    expect(Value.Check(loopNode.config, { ...valid, maxIterations: 0 })).toBe(false);
  });

  it('goes through items or repeats while a condition holds, never both and never neither', () => {
    const { items, ...rest } = valid;

    expect(() => sampleInput(loopNode, { config: valid })).not.toThrow();
    expect(() => sampleInput(loopNode, { config: { ...rest, while: 'index < 3' } })).not.toThrow();
    expect(() => sampleInput(loopNode, { config: rest })).toThrow('either "items"');
    expect(() => sampleInput(loopNode, { config: { ...rest, items, while: 'true' } })).toThrow(/^\/while: /);
  });
});
