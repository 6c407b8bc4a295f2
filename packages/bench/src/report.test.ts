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

  it('puts each round of the host in relation to the same round of the sketch, and shows how far the rounds differ', () => {
    const weft = [90, 10, 50].map((value) => runsPerSecond('weft', value));
    const sketch = [120, 20, 50].map((value) => runsPerSecond('sketch', value));

    const text = renderReport(mergeRounds([...weft, ...sketch]), [1]);

    expect(text).toContain('weft / raw sketch');
    expect(text).toMatch(/^A +1 +0\.75 +0\.50–1\.00/m);
  });

  it('shows a dash, not a number, for what was not measured', () => {
    const figures = mergeRounds([runsPerSecond('sketch', 120)]);

    const text = renderReport(figures, [1]);

    expect(text).not.toContain('weft / raw sketch');
    expect(text).toMatch(/^A +1 +sketch +120 +–/m);
  });
});
