import { describe, expect, it, vi } from 'vitest';
import { GOALS } from './goals.ts';
import { renderPage } from './page.ts';
import { sampleResults } from './testing/sample-results.ts';

describe('the page of results', () => {
  it('lists every goal, held or not', () => {
    const page = renderPage(sampleResults());

    for (const { id } of GOALS) expect(page).toContain(`**${id}: `);
    expect(page).toContain('**G1: does not hold.**');
    expect(page).toContain('0 hold, 1 do not, 12 were not (wholly) measured here.');
  });

  it('shows what a goal was evaluated by', () => {
    const page = renderPage(sampleResults());

    expect(page).toMatch(/\| A, 64 clients, runs +\| at least 0\.9 × +\| 0\.75 +\| \*\*no\*\* +\|/);
    expect(page).toMatch(/\| A, bytes per run +\| at most 1,000 bytes +\| 320 +\| yes +\|/);
  });

  it('does not hide a scenario that failed', () => {
    const page = renderPage(sampleResults());

    expect(page).toContain('**These scenarios failed and have no figures: sse.**');
    expect(page).toContain('**Failed:** the host was not ready');
  });

  it('says of small sizes that they mean nothing', () => {
    expect(renderPage({ ...sampleResults(), quick: true })).toContain('no statement about the host');
    expect(renderPage(sampleResults())).not.toContain('no statement about the host');
  });

  it('takes no markup from outside', () => {
    expect(renderPage(sampleResults())).toContain('a \\<cpu\\>');
  });

  it('says how everything was warmed up', () => {
    expect(renderPage(sampleResults())).toMatch(/for \d+ s with 64 clients before its first measured window/);
  });

  it('depends on the results alone, not on when it is made', () => {
    vi.useFakeTimers({ now: 0 });
    const early = renderPage(sampleResults());

    vi.setSystemTime(Date.UTC(2050, 6, 1));

    expect(renderPage(sampleResults())).toBe(early);
    vi.useRealTimers();
  });
});
