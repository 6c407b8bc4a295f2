import { describe, expect, it } from 'vitest';
import { delayNode } from './delay.ts';
import { failureOf, sampleInput, type Sample } from '../testing/sample-node-input.ts';

const delayOf = (sample: Sample): number => delayNode.delayMs(sampleInput(delayNode, sample));

describe('core.delay', () => {
  it('takes config.ms first, then config.delayMs, then the input port', () => {
    expect(delayOf({ config: { ms: 1, delayMs: 2 }, inputs: { delayMs: 3 } })).toBe(1);
    expect(delayOf({ config: { delayMs: 2 }, inputs: { delayMs: 3 } })).toBe(2);
    expect(delayOf({ inputs: { delayMs: 3 } })).toBe(3);
    expect(delayOf({ config: { ms: 0 }, inputs: { delayMs: 3 } })).toBe(0);
  });

  it('rounds to whole milliseconds', () => {
    expect(delayOf({ inputs: { delayMs: 1.6 } })).toBe(2);
  });

  it('waits up to a year', () => {
    expect(delayOf({ inputs: { delayMs: 31_536_000_000 } })).toBe(31_536_000_000);
  });

  it.each([-1, 31_536_000_001, '1000', null, Number.NaN])('refuses %j and names the field', (delayMs) => {
    const failure = failureOf(() => delayOf({ inputs: { delayMs } }));

    expect(failure).toMatchObject({ code: 'validation_error', details: { field: 'inputs.delayMs' } });
  });

  it('says where to put the delay when there is none', () => {
    const failure = failureOf(() => delayOf({}));

    expect(failure.code).toBe('validation_error');
    expect(failure.message).toContain('config.ms');
  });

  it('outputs how long it waited, and its input when it has one', () => {
    const finish = (sample: Sample) => delayNode.finish(sampleInput(delayNode, sample)).outputs;

    expect(finish({ config: { ms: 5 } })).toEqual({ delayMs: 5 });
    expect(finish({ config: { ms: 5 }, inputs: { input: 'x' } })).toEqual({ delayMs: 5, output: 'x' });
  });
});
