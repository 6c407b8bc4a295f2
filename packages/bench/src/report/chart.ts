import { GOALS, evaluateCriterion, type EvaluatedCriterion } from './goals.ts';
import type { Results, Series } from './results.ts';
import { show, showRatio } from './table.ts';

const WIDTH = 960;
const LEFT = 430;
const RIGHT = 90;
const ROW = 20;
const PLOT = 180;
const GREEN = '#2e7d32';
const RED = '#c62828';
const GREY = '#9e9e9e';
/** Bars end here; what is better or worse than that is written next to them. */
const MOST = 2;

/**
 * One SVG: how every criterion stands to its limit, then what was watched over time. A bar is the share of the limit that was
 * reached, so 1.0 (the line) is the goal for all, and longer is always better.
 */
export function renderChart(results: Results): string {
  const bars = GOALS.flatMap(({ id, criteria }) =>
    criteria.map((criterion) => ({ id, evaluated: evaluateCriterion(results, criterion) })),
  );
  const series = results.scenarios
    .flatMap((scenario) => scenario.series)
    .filter(({ points }) => points.length > 1);
  const barsHeight = 50 + bars.length * ROW;
  const height = barsHeight + series.length * (PLOT + 60) + 20;
  const title = results.quick
    ? 'Goals, small sizes (a smoke test)'
    : 'Goals: share of the limit that is reached';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#ffffff"/>
${text(20, 26, title, 'font-size="15" font-weight="bold"')}
${bars.map(({ id, evaluated }, index) => bar(id, evaluated, 44 + index * ROW)).join('\n')}
${goalLine(44, 44 + bars.length * ROW)}
${series.map((each, index) => plot(each, barsHeight + 40 + index * (PLOT + 60))).join('\n')}
</svg>
`;
}

function x(share: number): number {
  return Math.round(LEFT + (Math.min(share, MOST) / MOST) * (WIDTH - LEFT - RIGHT));
}

function bar(id: string, evaluated: EvaluatedCriterion, y: number): string {
  const share = shareOf(evaluated);
  const color = evaluated.holds === undefined ? GREY : evaluated.holds ? GREEN : RED;
  const label = text(20, y + 13, `${id}  ${cut(evaluated.title)}`);
  const limit = `${evaluated.bound === 'at least' ? '≥' : '≤'} ${show(evaluated.limit)}`;
  const value =
    evaluated.measured === undefined ? 'not measured' : `${showRatio(evaluated.measured)} (${limit})`;
  const end = x(share ?? 0);
  return `${label}<rect x="${LEFT}" y="${y + 3}" width="${Math.max(end - LEFT, 1)}" height="${ROW - 7}" fill="${color}"/>${text(end + 5, y + 13, value, `fill="${color}"`)}`;
}

/** More is better, whichever way the goal is bounded. */
export function shareOf({ measured, bound, limit }: EvaluatedCriterion): number | undefined {
  if (measured === undefined) return undefined;
  if (bound === 'at least') return measured / limit;
  if (measured === 0) return limit === 0 ? 1 : MOST;
  return limit / measured;
}

function goalLine(top: number, bottom: number): string {
  return `<line x1="${x(1)}" x2="${x(1)}" y1="${top}" y2="${bottom}" stroke="#000000" stroke-dasharray="3 3"/>`;
}

function plot({ title, unit, points }: Series, top: number): string {
  const end = Math.max(...points.map(([time]) => time), 1);
  const most = Math.max(...points.map(([, value]) => value), 1) * 1.1;
  const [left, right, bottom] = [70, WIDTH - 30, top + PLOT];
  const at = ([time, value]: readonly [number, number]) =>
    `${Math.round(left + (time / end) * (right - left))},${Math.round(bottom - (value / most) * PLOT)}`;
  const levels = [0, 0.5, 1].map((share) => {
    const y = Math.round(bottom - share * PLOT);
    return `<line x1="${left}" x2="${right}" y1="${y}" y2="${y}" stroke="#dddddd"/>${text(left - 8, y + 4, show(most * share), 'text-anchor="end"')}`;
  });
  return `${text(20, top - 14, `${title} (${unit}) over ${show(end)} s`, 'font-size="14" font-weight="bold"')}
${levels.join('')}
<polyline fill="none" stroke="#1565c0" stroke-width="1.5" points="${points.map(at).join(' ')}"/>`;
}

function text(left: number, y: number, words: string, attributes = ''): string {
  const safe = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<text x="${left}" y="${y}" ${attributes}>${safe}</text>`;
}

function cut(title: string): string {
  return title.length > 62 ? `${title.slice(0, 61)}…` : title;
}
