import { createHash } from 'node:crypto';
import { type FieldChange, payloadChanges } from '@weft/engine/compare';
import { placeOf, stateChanges, typeText, valueText } from './event-text.ts';
import { type DiffReport, type EventPair, groupBy, verdict } from './report.ts';
import { visibleText } from '../terminal-text.ts';

/** The look of the evidence reports: one ink on one paper, in light and dark; which side a value is on is said in words. */
const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem; }
h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1.05rem; margin: 1.2rem 0 .3rem; }
table { border-collapse: collapse; width: 100%; margin: .6rem 0; table-layout: fixed; }
th, td { text-align: left; vertical-align: top; padding: .2rem .6rem .2rem 0; overflow-wrap: anywhere; }
th { font-weight: 600; } tr + tr { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
code { font: .85rem ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap; }
.name { width: 22%; } details { margin: .5rem 0; } details > summary { cursor: pointer; }
`;

/** By which the page's policy knows it; nothing else may style the page. */
const STYLE_DIGEST = createHash('sha256').update(STYLE).digest('base64');

const VALUE_WIDTH = 2_000;

/** One HTML file that needs nothing else and runs nothing: no network, no fonts, no script. Every text is escaped. */
export function renderDiffHtml(report: DiffReport): string {
  const { a, b, outline, aligned } = report;
  const title = 'Run diff';
  const hidden = report.total - report.differences.length;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<header><h1>${title}</h1><p>${escaped(verdict(report))}${
    outline?.truncated === true ? ' A run has not ended: its events so far were compared.' : ''
  }</p></header>
<main>
${table([
  ['', 'a', 'b'],
  ['run', a.label, b.label],
  ['workflow', a.run.workflowId, b.run.workflowId],
  ['status', a.run.status, b.run.status],
])}
${outline === undefined ? '' : section('State', changes(stateChanges(outline.stateDiff)))}
${section('Events, by sequence', groups(report.differences, (pair) => pair.seq) + more(hidden))}
${
  aligned === undefined
    ? ''
    : section(
        'Paired by node, type and occurrence (not the protocol’s diff)',
        groups(aligned.pairs, sequences) + more(aligned.total - aligned.pairs.length),
      )
}
</main>
</body>
</html>
`;
}

function section(title: string, content: string): string {
  return content === '' ? '' : `<section><h2>${escaped(title)}</h2>\n${content}</section>`;
}

function groups<Pair extends EventPair>(
  pairs: readonly Pair[],
  where: (pair: Pair) => number | string,
): string {
  return groupBy(pairs, placeOf)
    .map(
      ({ place, items }) =>
        `<details open><summary><strong>${escaped(place)}</strong> ${items.length}</summary>\n` +
        `${items.map((item) => difference(item, where(item))).join('\n')}</details>\n`,
    )
    .join('');
}

function difference(pair: EventPair, where: number | string): string {
  const { aEvent, bEvent } = pair;
  const head = `#${where} ${typeText(pair)}`;
  if (aEvent === undefined || bEvent === undefined) {
    const side = aEvent === undefined ? 'only in b' : 'only in a';
    const shown = valueText((aEvent ?? bEvent)?.payload, VALUE_WIDTH);
    return `<p>${escaped(head)}, ${side}<br><code>${escaped(shown)}</code></p>`;
  }
  const listed =
    aEvent.type === bEvent.type
      ? payloadChanges(aEvent, bEvent)
      : [{ path: 'payload', a: aEvent.payload, b: bEvent.payload }];
  return `<p>${escaped(head)}</p>${changes(listed)}`;
}

function changes(listed: readonly FieldChange[]): string {
  if (listed.length === 0) return '';
  const rows = listed.map(({ path, a, b }) => [
    path === '' ? 'payload' : visibleText(path),
    valueText(a, VALUE_WIDTH),
    valueText(b, VALUE_WIDTH),
  ]);
  return table([['field', 'a', 'b'], ...rows], true);
}

function table(rows: readonly (readonly string[])[], isCode = false): string {
  const cell = (text: string): string => (isCode ? `<code>${escaped(text)}</code>` : escaped(text));
  const lines = rows.map(([name = '', ...values], index) => {
    const tag = index === 0 ? 'th' : 'td';
    return `<tr><th class="name">${escaped(name)}</th>${values
      .map((value) => `<${tag}>${index === 0 ? escaped(value) : cell(value)}</${tag}>`)
      .join('')}</tr>`;
  });
  return `<table>${lines.join('\n')}</table>`;
}

function sequences({ aEvent, bEvent }: EventPair): string {
  const found = [aEvent, bEvent].flatMap((event) => (event === undefined ? [] : [event.sequence]));
  return [...new Set(found)].join('/#');
}

function more(count: number): string {
  return count > 0 ? `<p>… and ${count} more (--all)</p>` : '';
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return visibleText(text).replace(/[&<>"']/g, (unit) => ENTITIES[unit] ?? '');
}
