import { describe, expect, it } from 'vitest';
import { renderChart, shareOf } from './chart.ts';
import { GOALS } from './goals.ts';
import { sampleResults } from './testing/sample-results.ts';

const evaluated = { figure: 'f', of: 'ratio', title: 't', unit: '', holds: true } as const;

describe('the chart', () => {
  it('has one bar per criterion, red for what does not hold and grey for what was not measured', () => {
    const svg = renderChart(sampleResults());

    const criteria = GOALS.flatMap((goal) => goal.criteria).length;
    expect(svg.match(/<rect x=/g)).toHaveLength(criteria);
    expect(svg).toMatch(/A, 64 clients, runs<\/text><rect [^>]*fill="#c62828"/);
    expect(svg.match(/not measured<\/text>/g)).toHaveLength(criteria - 2);
  });

  it('plots what was watched over time', () => {
    const svg = renderChart(sampleResults());

    expect(svg).toContain('memory of the host (MiB) over 20 s');
    expect(svg.match(/points="\d+,\d+ \d+,\d+ \d+,\d+"/)).not.toBeNull();
  });

  it('draws a longer bar for what is better, whichever way the goal is bounded', () => {
    expect(shareOf({ ...evaluated, bound: 'at least', limit: 0.5, measured: 1 })).toBe(2);
    expect(shareOf({ ...evaluated, bound: 'at most', limit: 50, measured: 100 })).toBe(0.5);
    expect(shareOf({ ...evaluated, bound: 'at most', limit: 0, measured: 0 })).toBe(1);
    expect(shareOf({ ...evaluated, bound: 'at most', limit: 0, measured: 3 })).toBe(0);
  });
});
