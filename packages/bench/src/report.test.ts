import { describe, expect, it } from 'vitest';
import { mergeRounds, renderReport } from './report.ts';
import type { Sample } from './rounds.ts';

function runsPerSecond(subject: string, value: number): Sample {
  return { subject, workload: 'A', clients: 1, measure: 'perSecond', value };
}

describe('a report', () => {
  it('takes the median of the rounds of each figure', () => {
    const figures = mergeRounds([100, 900, 300].map((value) => runsPerSecond('weft', value)));

    expect(figures.get('weft', 'A', 1, 'perSecond')).toBe(300);
  });

  it('puts the host in relation to the sketch of the same minutes', () => {
    const figures = mergeRounds([runsPerSecond('weft', 90), runsPerSecond('sketch', 120)]);

    const text = renderReport(figures, [1]);

    expect(text).toContain('weft / raw sketch');
    expect(text).toMatch(/^A +1 +0\.75/m);
  });

  it('shows a dash, not a number, for what was not measured', () => {
    const figures = mergeRounds([runsPerSecond('sketch', 120)]);

    const text = renderReport(figures, [1]);

    expect(text).not.toContain('weft / raw sketch');
    expect(text).toMatch(/^A +1 +sketch +120 +–/m);
  });
});
