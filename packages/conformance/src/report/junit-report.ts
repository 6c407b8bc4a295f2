import type { CheckResult } from '../suite/outcome.ts';
import { escapeMarkup } from './escape.ts';
import type { SuiteReport } from './suite-report.ts';

/** The report for build servers, in the form that JUnit made common: a suite per area, a case per check. */
export function renderJunit({ checks, ms, startedAt }: SuiteReport): string {
  const areas = new Map<string, CheckResult[]>();
  for (const check of checks) {
    const area = check.id.split('/')[0] ?? '';
    areas.set(area, [...(areas.get(area) ?? []), check]);
  }
  const suites = [...areas].map(([area, own]) => suiteOf(area, own, startedAt));
  const totals = countsOf(checks);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="weft-conformance" ${totals} time="${seconds(ms)}">\n${suites.join('\n')}\n</testsuites>\n`;
}

function suiteOf(area: string, checks: readonly CheckResult[], startedAt: string): string {
  const time = checks.reduce((sum, { ms }) => sum + ms, 0);
  const cases = checks.map(caseOf).join('\n');
  return `  <testsuite name="${escapeMarkup(area)}" ${countsOf(checks)} time="${seconds(time)}" timestamp="${startedAt.slice(0, 19)}">\n${cases}\n  </testsuite>`;
}

function countsOf(checks: readonly CheckResult[]): string {
  const count = (...outcomes: string[]): number =>
    checks.filter(({ outcome }) => outcomes.includes(outcome)).length;
  return `tests="${checks.length}" failures="${count('failed')}" errors="${count('broken')}" skipped="${count('not-applicable', 'not-tested')}"`;
}

function caseOf({ id, title, proves, outcome, reason = '', ms }: CheckResult): string {
  const name = escapeMarkup(`${title} (${proves.join(', ')})`);
  const head = `    <testcase classname="${escapeMarkup(id)}" name="${name}" time="${seconds(ms)}"`;
  if (outcome === 'passed') return `${head}/>`;
  const tag = { failed: 'failure', broken: 'error', 'not-applicable': 'skipped', 'not-tested': 'skipped' }[
    outcome
  ];
  return `${head}>\n      <${tag} message="${escapeMarkup(reason)}"/>\n    </testcase>`;
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(3);
}
