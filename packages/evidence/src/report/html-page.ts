/** One ink on one paper, in light and dark: which side a value is on is said in words. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem; }
h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1.05rem; margin: 1.2rem 0 .3rem; }
table { border-collapse: collapse; width: 100%; margin: .6rem 0; } th, td { text-align: left; vertical-align: top; padding: .2rem .6rem .2rem 0; }
th { font-weight: 600; } tr + tr { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
code { font: .85rem ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap; }
.raw { opacity: .75; display: block; } .side { white-space: nowrap; width: 6rem; }
#columns { display: grid; grid-template-columns: minmax(0, 1fr) 18rem; gap: 2rem; }
#claims { overflow-wrap: anywhere; border-left: 1px solid; padding-left: 1rem; align-self: start; position: sticky; top: 1rem; }
#query { font: inherit; padding: .2rem .4rem; width: min(24rem, 60vw); } details { margin: .5rem 0; } details > summary { cursor: pointer; } details table { table-layout: fixed; }
@media (max-width: 50rem) { #columns { grid-template-columns: 1fr; } #claims { position: static; } }
`;

/**
 * What the page may load and run: its own style and script, known by their digests. Made by hand, because a browser has no
 * digest that answers at once; a test says what they must be.
 */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'sha256-0E3sqkppAlbCfA5DNULaSDGuQctCTulKv8oOsk02+OY='; script-src 'sha256-vpvmw3u5rD7jVJrKjiyYoKl+E2GIyucl5vKOWaSD8sY='; base-uri 'none'; form-action 'none'";

export const PAGE_SCRIPT = `
'use strict';
const model = JSON.parse(document.getElementById('model').textContent);
const SHOWN = 500;
const WORDS = { added: 'head only', removed: 'base only', unchanged: 'both' };
function make(name, text, className) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = plain(text);
  if (className) element.className = className;
  return element;
}
function plain(text) {
  return String(text).replace(/[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}]/gu, (found) => found.split('')
    .map((unit) => '\\\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0')).join(''));
}
function visible(text) {
  return plain(JSON.stringify(text));
}
function table(rows) {
  const element = make('table');
  for (const cells of rows) {
    const row = make('tr');
    cells.forEach((cell, index) => row.append(make(index === 0 ? 'th' : 'td', cell)));
    element.append(row);
  }
  return element;
}
document.getElementById('summary').textContent = 'Status: ' + model.explanation.status + '. ' + model.explanation.summary;
document.getElementById('sides').append(table([
  ['', 'base', 'head'],
  ['run', model.base.runId, model.head.runId],
  ...(model.contract === 'cross' ? [['runtime, as declared', model.base.runtime, model.head.runtime]] : []),
  ['SDK, in its own words', model.base.sdk || 'unknown', model.head.sdk || 'unknown'],
  ['endpoint claim scope', model.base.endpointScope || 'not given', model.head.endpointScope || 'not given'],
]), table([['precondition', ''], ...model.preconditions.map(([name, holds]) => [name, holds ? 'yes' : 'no'])]));
const why = document.getElementById('why');
for (const [title, list] of [['Why it is not clean', model.explanation.reasons], ['Worth knowing', model.explanation.notes]]) {
  if (list.length === 0) continue;
  why.append(make('h2', title), table([['where', 'found', 'needed', 'what may still be read'],
    ...list.map((item) => [item.side + ' ' + item.file + ' ' + item.field, item.found, item.needed, item.readable])]));
}
const claims = document.getElementById('claims');
if (model.nonClaims.length > 0) claims.append(make('h2', 'What these numbers do not say'));
for (const [code, meaning] of model.nonClaims) claims.append(make('p', meaning), make('code', code));
for (const note of model.notes) claims.append(make('p', note));
const categories = document.getElementById('categories');
function valueRow(part, item) {
  const row = make('tr');
  const cell = make('td');
  cell.append(make('code', visible(item.value)));
  for (const side of ['base', 'head'])
    for (const raw of item[side] || []) cell.append(make('code', 'observed in ' + side + ' as ' + visible(raw), 'raw'));
  row.append(make('td', WORDS[part], 'side'), cell);
  return row;
}
function matching(item, query) {
  return query === '' || [item.value, ...(item.base || []), ...(item.head || [])].some((text) => text.toLowerCase().includes(query));
}
function draw() {
  const query = document.getElementById('query').value.toLowerCase();
  let total = 0;
  categories.replaceChildren();
  for (const category of model.categories) {
    const found = Object.keys(WORDS).flatMap((part) => category.parts[part].filter((item) => matching(item, query)).map((item) => [part, item]));
    total += found.length;
    const counts = Object.keys(WORDS).map((part) => category.parts[part].length + ' ' + WORDS[part]).join(', ');
    const block = make('details');
    block.open = found.length > 0;
    const summary = make('summary');
    summary.append(make('strong', category.name), ' ' + counts);
    const list = make('table');
    for (const [part, item] of found.slice(0, SHOWN)) list.append(valueRow(part, item));
    block.append(summary, list);
    if (found.length > SHOWN) block.append(make('p', (found.length - SHOWN) + ' more; search to narrow them down'));
    categories.append(block);
  }
  if (model.bindingIds) {
    categories.append(make('h2', 'Calls'), table(Object.keys(WORDS).map((part) => [WORDS[part], model.bindingIds[part].map(visible).join(' ') || 'none'])));
    categories.append(make('h2', 'Policy outcomes that changed'), table([['call', 'base', 'head'],
      ...model.changedOutcomes.map((change) => [visible(change.tool_call_id), String(change.base), String(change.head)])]));
  }
  document.getElementById('matches').textContent = query === '' ? '' : total + ' values match';
}
document.getElementById('query').addEventListener('input', draw);
draw();
`;
