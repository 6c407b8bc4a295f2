import type { Explanation } from '../contract/explain.ts';
import type { SideProblem } from '../contract/problem.ts';
import { type Part, PARTS } from '../contract/set-diff.ts';
import type { ReportModel, ReportSide } from './report-model.ts';
import { printableText } from './printable-text.ts';

const MARK: Readonly<Record<Part, string>> = { added: 'head only', removed: 'base only', unchanged: 'both' };

/** A diff as text for a terminal. Plain on purpose: a colour would judge. `limit`: values shown per list. */
export function textReport(model: ReportModel, limit: number): string {
  const title = model.contract === 'cross' ? 'Cross-runtime diff v0' : 'Capability diff v0';
  const lines = [
    `${title}: ${model.explanation.status}`,
    model.explanation.summary,
    '',
    sideLine('base', model.base),
    sideLine('head', model.head),
    '',
    'preconditions',
    ...model.preconditions.map(([name, holds]) => `  ${name}  ${holds ? 'yes' : 'no'}`),
  ];
  for (const { name, parts } of model.categories) {
    const counts = PARTS.map((part) => `${parts[part].length} ${MARK[part]}`).join(', ');
    lines.push('', `${name}: ${counts}`);
    for (const part of PARTS) {
      if (part === 'unchanged') continue;
      for (const item of parts[part].slice(0, limit)) {
        lines.push(`  ${MARK[part]}  ${quoted(item.value)}`);
        for (const raw of [...(item.base ?? []), ...(item.head ?? [])])
          lines.push(`             observed as ${quoted(raw)}`);
      }
      if (parts[part].length > limit) lines.push(`  ${MARK[part]}  … ${parts[part].length - limit} more`);
    }
  }
  lines.push(...bindingLines(model));
  if (model.nonClaims.length > 0) {
    lines.push('', 'what these numbers do not say');
    for (const [code, meaning] of model.nonClaims) lines.push(`  ${meaning} (${code})`);
  }
  for (const note of model.notes) lines.push('', note);
  if (model.explanation.reasons.length > 0) lines.push('', explanationText(model.explanation));
  return lines.join('\n');
}

function sideLine(name: string, side: ReportSide): string {
  const runtime = side.runtime === undefined ? '' : `  runtime as declared: ${printableText(side.runtime)}`;
  const sdk = side.sdk === undefined ? '' : `  SDK as it says: ${printableText(side.sdk)}`;
  const scope = side.endpointScope === undefined ? '' : `  endpoints: ${printableText(side.endpointScope)}`;
  return `${name}  ${printableText(side.runId)}${runtime}${sdk}${scope}`;
}

function bindingLines(model: ReportModel): string[] {
  const { bindingIds } = model;
  if (bindingIds === undefined) return [];
  const counts = PARTS.map((part) => `${bindingIds[part].length} ${MARK[part]}`).join(', ');
  const changes = model.changedOutcomes.map(
    (change) =>
      `  ${quoted(change.tool_call_id)}  ${JSON.stringify(change.base)} -> ${JSON.stringify(change.head)}`,
  );
  return ['', `calls: ${counts}`, `policy outcomes changed: ${changes.length}`, ...changes];
}

/** Every reason and every note: where, what was found, what is needed, what may still be read. */
export function explanationText(explanation: Explanation): string {
  const lines: string[] = [];
  for (const [title, list] of [
    ['why', explanation.reasons],
    ['worth knowing', explanation.notes],
  ] as const) {
    if (list.length > 0) lines.push(`${title}:`);
    for (const problem of list) lines.push(...problemLines(problem));
  }
  return lines.join('\n');
}

function problemLines(problem: SideProblem): string[] {
  const effect = problem.effect === 'note' ? '' : ` -> ${problem.effect}`;
  return [
    `  ${problem.side} ${printableText(problem.file)} ${printableText(problem.field)}${effect}`.trimEnd(),
    `    found   ${printableText(problem.found)}`,
    `    needed  ${printableText(problem.needed)}`,
    `    read    ${problem.readable}`,
  ];
}

function quoted(value: string): string {
  return printableText(JSON.stringify(value));
}
