import { describe, expect, it } from 'vitest';
import { type Figure, mergeResults, ratioOf, type Results } from './results.ts';

function figure(values: readonly number[], against: readonly number[]): Figure {
  return {
    key: 'k',
    title: 't',
    unit: 'runs/s',
    better: 'more',
    values,
    against: { title: 'raw', values: against },
  };
}

function results(...names: string[]): Results {
  const machine = { node: 'v20', platform: 'linux', cores: 2, cpu: 'x' };
  const scenarios = names.map((name) => ({
    name: name[0] ?? '',
    title: name,
    rawLimit: '',
    at: '',
    seconds: 1,
    figures: [],
    series: [],
  }));
  return { at: '', quick: false, machine, scenarios };
}

describe('results', () => {
  it('put each round in relation to the same round of the other, and take the median', () => {
    expect(ratioOf(figure([90, 10, 50], [120, 20, 50]))).toBe(0.75);
  });

  it('leave out rounds in which the other was not measured', () => {
    expect(ratioOf(figure([90, 10], [180]))).toBe(0.5);
    expect(ratioOf(figure([90], []))).toBeUndefined();
  });

  it('replace a scenario that was measured again and keep the others', () => {
    const merged = mergeResults(results('a-old', 'b-old'), results('b-new'));

    expect(merged.scenarios.map(({ title }) => title)).toEqual(['a-old', 'b-new']);
  });
});
