import { describe, expect, it } from 'vitest';
import { type CheckResult, profileResults } from '../suite/outcome.ts';
import { renderHtml } from './html-report.ts';
import { renderJson } from './json-report.ts';
import { renderJunit } from './junit-report.ts';
import { reportOf, type SuiteReport } from './suite-report.ts';
import { renderExplanation, renderText } from './text-report.ts';

const DISCOVERY = {
  protocolVersion: '1.0',
  supportedEnvelopes: [],
  schemaVersions: {},
  limits: { clarificationRounds: 0, schemaRounds: 0, envelopesPerTurn: 0 },
  implementation: { name: 'a <b>host</b>', version: '2' },
};

const FAILED: CheckResult = {
  id: 'runs/create',
  title: 'a run is created',
  proves: ['RUN-1'],
  outcome: 'failed',
  reason: 'the answer has status 201. Found: <script>alert(1)</script>\u001b[2J',
  ms: 12,
  steps: [
    {
      kind: 'exchange',
      request: { method: 'POST', path: '/v1/runs', headers: { authorization: 'Bearer …' }, body: '{}' },
      answer: { status: 200, headers: {}, body: '<img src=x>' },
    },
    { kind: 'expectation', claim: 'the answer has status 201', holds: false, expected: '201', actual: '200' },
  ],
};

function report(checks: readonly CheckResult[], isStrict = false): SuiteReport {
  return reportOf({
    url: 'http://127.0.0.1:1',
    discovery: DISCOVERY,
    startedAt: new Date(0),
    ms: 1_500,
    checks,
    isStrict,
    profile: undefined,
    isHostGone: false,
  });
}

describe('a report of a run in which a check failed', () => {
  it('ends with 1', () => {
    expect(report([FAILED]).exit).toBe(1);
  });

  it('names the requirement, what was found, and how to learn more', () => {
    const text = renderText(report([FAILED]));

    expect(text).toContain('FAILED RUN-1 (MUST): ');
    expect(text).toContain('the answer has status 201. Found:');
    expect(text).toContain('--explain RUN-1');
  });

  it('as a page shows no markup of the host, and runs no script', () => {
    const page = renderHtml(report([FAILED]));

    expect(page).not.toMatch(/<script|<img|<b>/);
    expect(page).not.toContain('\u001b');
    expect(page).toMatch(/Content-Security-Policy" content="default-src 'none'; style-src 'sha256-/);
  });

  it('as XML holds the failure, and nothing that XML forbids', () => {
    const xml = renderJunit(report([FAILED]));

    expect(xml).toContain(
      '<testsuites name="weft-conformance" tests="1" failures="1" errors="0" skipped="0"',
    );
    expect(xml).toContain('&lt;script&gt;');
    expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/);
  });

  it('as JSON has an outcome for every requirement, and the steps of what failed', () => {
    const document = JSON.parse(renderJson(report([FAILED]))) as SuiteReport;

    expect(document.requirements.find(({ id }) => id === 'RUN-1')).toMatchObject({
      outcome: 'failed',
      checks: ['runs/create'],
    });
    expect(document.checks[0]?.steps).toHaveLength(2);
  });

  it('explains a requirement by its place, its requests, answers and expectations', () => {
    const text = renderExplanation(report([FAILED]), 'RUN-1');

    expect(text).toContain('written in   spec/v1/rest-endpoints.md');
    expect(text).toContain('→ POST /v1/runs');
    expect(text).toContain('← 200');
    expect(text).toContain('WRONG the answer has status 201');
  });
});

describe('strict mode', () => {
  const passed: CheckResult = { ...FAILED, outcome: 'passed', steps: [] };

  it('wants every requirement of the claimed profiles proven', () => {
    const { exit, profiles } = report([passed], true);

    const core = profiles.find(({ id }) => id === 'openwop-core');
    expect(core?.isClaimed).toBe(true);
    expect(core?.unmet).not.toContain('RUN-1');
    expect(exit).toBe(core?.unmet.length === 0 ? 0 : 4);
  });

  it('is not met by a check that did not run', () => {
    const { exit } = report([{ ...passed, outcome: 'not-tested', reason: 'no fixture' }], true);

    expect(exit).toBe(4);
  });

  it('is not met by a host that claims no profile', () => {
    const nothing = { ...report([passed], true), profiles: [], evaluatedProfiles: [] };

    expect(renderText(nothing)).toContain('Strict: the host claims no profile');
  });

  it('is not met by a profile of which nothing was tested', () => {
    const [profile] = profileResults(DISCOVERY, []);

    expect(profile).toMatchObject({ unmet: [], isMet: false });
  });

  it('is no concern without the flag', () => {
    expect(report([{ ...passed, outcome: 'not-tested', reason: 'no fixture' }]).exit).toBe(0);
  });
});

describe('an error of the suite', () => {
  it('fails the run', () => {
    expect(report([{ ...FAILED, outcome: 'broken' }]).exit).toBe(1);
  });
});
