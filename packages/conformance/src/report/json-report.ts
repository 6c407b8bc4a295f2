import { countOutcomes, SUITE_VERSION, type SuiteReport } from './suite-report.ts';

/** The report for programs. Steps are kept of checks that did not pass; those of the others would only make it long. */
export function renderJson(report: SuiteReport, indent?: number): string {
  const { checks, requirements, ...rest } = report;
  const document = {
    suite: { name: 'weft-conformance', version: SUITE_VERSION },
    ...rest,
    counts: countOutcomes(requirements),
    requirements: requirements.map(({ id, requirement, outcome, reason, checks: proofs }) => ({
      id,
      ...requirement,
      outcome,
      ...(reason === undefined ? {} : { reason }),
      checks: proofs,
    })),
    checks: checks.map(({ steps, ms, ...check }) => ({
      ...check,
      ms: Math.round(ms),
      ...(check.outcome === 'failed' || check.outcome === 'broken' ? { steps } : {}),
    })),
  };
  return `${JSON.stringify(document, undefined, indent)}\n`;
}
