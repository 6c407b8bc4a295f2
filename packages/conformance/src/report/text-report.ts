import { DOCUMENTS } from '../requirements/requirement.ts';
import type { CheckResult, RequirementResult } from '../suite/outcome.ts';
import type { Step } from '../suite/trace.ts';
import { countOutcomes, lackOf, SUITE_EXIT, type SuiteReport } from './suite-report.ts';

/** The summary for people: what failed first, then the profiles, then the numbers. */
export function renderText(report: SuiteReport): string {
  const { host, url, checks } = report;
  const about = url === undefined ? 'documents only' : `${host.name} ${host.version} at ${url}`;
  const parts = [
    `Conformance of ${about}`,
    ...brokenChecks(checks),
    ...failedRequirements(report),
    profileTable(report),
    ...strictLines(report),
    totals(report),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function brokenChecks(checks: readonly CheckResult[]): string[] {
  return checks
    .filter(({ outcome }) => outcome === 'broken')
    .map(({ id, reason = '' }) => `ERROR OF THE SUITE in ${id}: ${reason}`);
}

function failedRequirements({ requirements, url }: SuiteReport): string[] {
  const failed = requirements.filter(({ outcome }) => outcome === 'failed');
  return failed.map(({ id, requirement: { level, text, document, section }, reason = '', checks }) =>
    [
      `FAILED ${id} (${level}): ${text}`,
      `  ${reason}`,
      `  written in ${DOCUMENTS[document]}, ${section}; checked by ${checks.join(', ')}`,
      ...(url === undefined ? [] : [`  more: weft conformance --url ${url} --explain ${id}`]),
    ].join('\n'),
  );
}

function profileTable({ profiles }: SuiteReport): string {
  const rows = profiles
    .filter(({ isClaimed }) => isClaimed)
    .map(({ id, counts }) => [
      id,
      String(counts.proven),
      String(counts.failed),
      String(counts['not-applicable']),
      String(counts['not-tested']),
    ]);
  if (rows.length === 0) return '';
  return table([['profile', 'proven', 'failed', 'n/a', 'not tested'], ...rows]);
}

function strictLines({ isStrict, evaluatedProfiles, profiles, exit }: SuiteReport): string[] {
  if (!isStrict) return [];
  if (evaluatedProfiles.length === 0) return ['Strict: the host claims no profile, so that none is proven.'];
  const unmet = profiles.filter(({ id, isMet }) => evaluatedProfiles.includes(id) && !isMet);
  if (unmet.length === 0)
    return exit === SUITE_EXIT.proven
      ? [`Strict: every requirement of ${evaluatedProfiles.join(', ')} is proven.`]
      : [];
  return unmet.map((profile) => `Strict: ${profile.id} is not proven: ${lackOf(profile)}`);
}

function totals({ requirements, checks, ms, isHostGone }: SuiteReport): string {
  const counts = countOutcomes(requirements);
  const line =
    `${requirements.length} requirements: ${counts.proven} proven, ${counts.failed} failed, ` +
    `${counts['not-applicable']} not applicable, ${counts['not-tested']} not tested ` +
    `(${checks.length} checks, ${(ms / 1_000).toFixed(1)} s)`;
  return isHostGone ? `${line}\nThe host stopped answering before the end.` : line;
}

/** Everything about one requirement: where it is written, and what its checks asked, were answered and expected. */
export function renderExplanation({ requirements, checks }: SuiteReport, id: string): string {
  const row = requirements.find((requirement) => requirement.id === id);
  const own = checks.filter((check) => check.id === id || check.proves.some((proved) => proved === id));
  return `${[...(row === undefined ? [] : [aboutRow(row)]), ...own.map(aboutCheck)].join('\n\n')}\n`;
}

function aboutRow({ id, requirement, outcome, reason }: RequirementResult): string {
  const { level, text, document, section, reading } = requirement;
  return [
    `${id} (${level}): ${text}`,
    `written in   ${DOCUMENTS[document]}, ${section}`,
    ...(reading === undefined ? [] : [`our reading  ${reading}`]),
    `outcome      ${outcome.replace('-', ' ')}${reason === undefined ? '' : `: ${reason}`}`,
  ].join('\n');
}

function aboutCheck({ id, title, outcome, reason, steps }: CheckResult): string {
  const head = `check ${id}: ${title}\n  ${outcome.replace('-', ' ')}${reason === undefined ? '' : `: ${reason}`}`;
  return [head, ...steps.map(aboutStep)].join('\n');
}

function aboutStep(step: Step): string {
  if (step.kind === 'expectation') {
    const found = step.holds
      ? ''
      : `\n      expected ${step.expected ?? 'otherwise'}\n      found    ${step.actual ?? 'otherwise'}`;
    return `  ${step.holds ? 'ok   ' : 'WRONG'} ${step.claim}${found}`;
  }
  const { method, path, headers, body } = step.request;
  const asked = [
    `  → ${method} ${path}`,
    ...headerLines(headers),
    ...(body === undefined ? [] : [`      ${body}`]),
  ];
  const answered =
    step.kind === 'fault'
      ? [`  ← ${step.problem}`]
      : [`  ← ${step.answer.status}`, ...headerLines(step.answer.headers), `      ${step.answer.body}`];
  return [...asked, ...answered].join('\n');
}

function headerLines(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).map(([name, value]) => `      ${name}: ${value}`);
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
