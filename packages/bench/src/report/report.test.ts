import { describe, expect, it } from 'vitest';
import { renderReport } from './report.ts';
import { sampleResults } from './testing/sample-results.ts';

describe('a report', () => {
  it('shows each figure next to its raw limit, with the ratio and how far the rounds differ', () => {
    const text = renderReport(sampleResults());

    expect(text).toMatch(/^A, 64 clients, runs +50 +runs\/s +50 +0\.75 +0\.50–1\.00 +bare sketch$/m);
  });

  it('says what failed, and why', () => {
    const text = renderReport(sampleResults());

    expect(text).toContain('FAILED: the host was not ready');
  });

  it('shows every goal with what was measured and whether it holds', () => {
    const text = renderReport(sampleResults());

    expect(text).toMatch(/^G1 +does not hold$/m);
    expect(text).toMatch(/^ +A, 64 clients, runs +at least 0\.9 +0\.75 +NO$/m);
    expect(text).toMatch(/^G13 +not measured$/m);
  });
});
