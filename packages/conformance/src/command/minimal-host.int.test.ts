import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SuiteReport } from '../report/suite-report.ts';
import { type MinimalHost, startMinimalHost } from '../testing/minimal-host.ts';
import { runCommand } from '../testing/run-command.ts';

let host: MinimalHost;
beforeAll(async () => {
  host = await startMinimalHost();
});
afterAll(() => host.stop());

describe('a host that serves the least a host must', () => {
  it('passes, and the report says what does not apply and what was not tested', async () => {
    const { exit, out, err } = await runCommand({ url: host.url, json: true }, { WEFT_API_KEY: host.key });

    const report = JSON.parse(out) as SuiteReport;
    const failed = report.requirements.filter(({ outcome }) => outcome === 'failed');
    expect(failed.map(({ id }) => id)).toEqual(['HTTP-31', 'HTTP-32', 'HTTP-33', 'STREAM-17']);
    expect(new Set(failed.map(({ requirement }) => requirement?.level ?? 'SHOULD'))).toEqual(
      new Set(['SHOULD']),
    );
    expect(exit, err).toBe(0);
    const outcomes = Object.fromEntries(report.requirements.map(({ id, outcome }) => [id, outcome]));
    expect(outcomes['RUN-1']).toBe('proven');
    expect(outcomes['BUNDLE-2']).toBe('not-applicable');
    expect(outcomes['FORK-1']).toBe('not-applicable');
    for (const { outcome, reason } of report.requirements)
      if (outcome !== 'proven') expect(reason).not.toBe(undefined);
  });

  it('does not meet a profile that it does not claim', async () => {
    const { exit, out } = await runCommand(
      { url: host.url, strict: true, profile: 'openwop-replay-fork' },
      { WEFT_API_KEY: host.key },
    );

    expect(exit).toBe(4);
    expect(out).toContain('Strict: openwop-replay-fork is not proven');
  });
});

describe('a host that lists no fixtures', () => {
  it('is tested as far as it can be, and no check passes or fails for want of something to ask', async () => {
    const bare = await startMinimalHost([]);

    const { exit, out } = await runCommand({ url: bare.url, json: true }, { WEFT_API_KEY: bare.key });
    await bare.stop();

    const { checks } = JSON.parse(out) as SuiteReport;
    expect(checks.filter(({ outcome }) => outcome === 'broken')).toEqual([]);
    expect(exit).toBe(0);
  });
});
