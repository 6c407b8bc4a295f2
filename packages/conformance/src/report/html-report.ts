import { createHash } from 'node:crypto';
import { DOCUMENTS } from '../requirements/requirement.ts';
import type { CheckResult, RequirementResult } from '../suite/outcome.ts';
import type { Step } from '../suite/trace.ts';
import { escapeMarkup as escaped } from './escape.ts';
import { countOutcomes, lackOf, saysOf, SUITE_VERSION, type SuiteReport } from './suite-report.ts';

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --good: #1a7f37; --bad: #cf222e; --mute: #6e7781; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
.proven { color: var(--good); } .failed { color: var(--bad); font-weight: 600; }
.not-applicable, .not-tested, .quiet { color: var(--mute); }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #8881; padding: .6rem; border-radius: 6px; margin: .4rem 0; }
details { margin: .3rem 0; } summary { cursor: pointer; }
.id { white-space: nowrap; }
`;

/** One page that needs nothing else: no script, no font, no address. */
export function renderHtml(report: SuiteReport): string {
  const digest = createHash('sha256').update(STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${digest}'`;
  const { host, url } = report;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Conformance of ${escaped(host.name)} ${escaped(host.version)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Conformance of ${escaped(host.name)} ${escaped(host.version)}</h1>
<p class="quiet">${escaped(url ?? 'documents only')} · OpenWOP ${escaped(host.protocolVersion)} · weft-conformance ${SUITE_VERSION} · ${report.startedAt} · ${(report.ms / 1_000).toFixed(1)} s</p>
<p>${summaryOf(report)}</p>
<h2>Profiles</h2>
${profileTable(report)}
${failures(report)}
<h2>Requirements</h2>
${requirementTable(report.requirements)}
</body>
</html>
`;
}

function summaryOf({ requirements, checks, isHostGone }: SuiteReport): string {
  const counts = countOutcomes(requirements);
  const gone = isHostGone
    ? ' <strong class="failed">The host stopped answering before the end.</strong>'
    : '';
  return (
    `${requirements.length} requirements: <span class="proven">${counts.proven} proven</span>, ` +
    `<span class="${counts.failed > 0 ? 'failed' : 'quiet'}">${counts.failed} failed</span>, ` +
    `${counts['not-applicable']} not applicable, ${counts['not-tested']} not tested; ${checks.length} checks.${gone}`
  );
}

function profileTable({ profiles, evaluatedProfiles, isStrict }: SuiteReport): string {
  const rows = profiles.map((profile) => {
    const { id, isClaimed, counts, isMet } = profile;
    const strict =
      !isStrict || !evaluatedProfiles.includes(id) ? '' : isMet ? 'met' : `not met: ${lackOf(profile)}`;
    return `<tr><td class="id">${id}<br><span class="quiet">${escaped(saysOf(id))}</span></td><td>${isClaimed ? 'yes' : 'no'}</td><td class="n proven">${counts.proven}</td><td class="n ${counts.failed > 0 ? 'failed' : 'quiet'}">${counts.failed}</td><td class="n">${counts['not-applicable']}</td><td class="n">${counts['not-tested']}</td><td>${strict}</td></tr>`;
  });
  return `<table><tr><th>Profile</th><th>Claimed</th><th class="n">Proven</th><th class="n">Failed</th><th class="n">Not applicable</th><th class="n">Not tested</th><th>${isStrict ? 'Strict' : ''}</th></tr>${rows.join('\n')}</table>`;
}

function failures({ checks }: SuiteReport): string {
  const failed = checks.filter(({ outcome }) => outcome === 'failed' || outcome === 'broken');
  if (failed.length === 0) return '';
  return `<h2>What failed</h2>${failed.map(failure).join('\n')}`;
}

function failure({ id, title, proves, reason = '', steps }: CheckResult): string {
  return `<details><summary><code>${escaped(id)}</code> ${escaped(title)} <span class="quiet">(${proves.join(', ')})</span><br><span class="failed">${escaped(reason)}</span></summary>${steps.map(stepOf).join('\n')}</details>`;
}

function stepOf(step: Step): string {
  if (step.kind === 'expectation') {
    const found = step.holds
      ? ''
      : ` expected ${escaped(step.expected ?? 'otherwise')}, found ${escaped(step.actual ?? 'otherwise')}`;
    return `<p class="${step.holds ? 'proven' : 'failed'}">${step.holds ? '✓' : '✗'} ${escaped(step.claim)}${found}</p>`;
  }
  const { request } = step;
  const asked = escaped(
    `${request.method} ${request.path}${request.body === undefined ? '' : `\n${request.body}`}`,
  );
  const answered =
    step.kind === 'fault' ? escaped(step.problem) : escaped(`${step.answer.status}\n${step.answer.body}`);
  return `<pre>→ ${asked}</pre><pre>← ${answered}</pre>`;
}

function requirementTable(requirements: readonly RequirementResult[]): string {
  const rows = requirements.map(
    ({ id, requirement: { text, level, document, section, reading }, outcome, reason, checks }) =>
      `<tr><td class="id">${id}</td><td>${level}</td><td>${escaped(text)}${reading === undefined ? '' : `<br><span class="quiet">Reading: ${escaped(reading)}</span>`}<br><span class="quiet">${escaped(`${DOCUMENTS[document]}, ${section}`)}</span></td><td class="${outcome}">${outcome.replace('-', ' ')}${reason === undefined ? '' : `<br><span class="quiet">${escaped(reason)}</span>`}</td><td>${checks.map((check) => `<code>${escaped(check)}</code>`).join('<br>')}</td></tr>`,
  );
  return `<table><tr><th>Id</th><th>Level</th><th>Requirement</th><th>Outcome</th><th>Checks</th></tr>${rows.join('\n')}</table>`;
}
