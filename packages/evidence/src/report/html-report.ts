import { PAGE_POLICY, PAGE_SCRIPT, PAGE_STYLE } from './html-page.ts';
import { printableText } from './printable-text.ts';
import type { ReportModel } from './report-model.ts';

/**
 * One HTML file that needs nothing else: no network, no fonts, no frames. The page gets the diff as data and writes it
 * as text, so no value can become markup.
 */
export function htmlReport(model: ReportModel): string {
  const title = model.contract === 'cross' ? 'Cross-runtime diff v0' : 'Capability diff v0';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${PAGE_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header><h1>${title}</h1><p id="summary"></p></header>
<main>
<section id="sides"></section>
<section id="why"></section>
<section id="search"><label>Search values <input id="query" type="search" autocomplete="off"></label> <output id="matches"></output></section>
<div id="columns"><section id="categories"></section><aside id="claims"></aside></div>
</main>
<noscript><p>This page shows its data with a script that is part of it. Without scripts, read the JSON document.</p></noscript>
<script type="application/json" id="model">${embedded(model)}</script>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`;
}

/** JSON in which nothing can end the script element, and that is readable in the source. */
function embedded(model: ReportModel): string {
  return printableText(JSON.stringify(model)).replace(
    /[<>&]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
