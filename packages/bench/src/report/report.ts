import { GOALS, evaluateCriterion, outcomeOf } from './goals.ts';
import { median } from '../measuring/measure.ts';
import { type Figure, ratioOf, ratiosOf, type Results, type ScenarioResult, valueOf } from './results.ts';
import { show, showRange, showRatio, textTable } from './table.ts';

/** The whole report as text for a terminal: every figure, then the goals. */
export function renderReport(results: Results): string {
  return [...results.scenarios.map(scenarioText), goalsText(results)].join('\n');
}

function scenarioText({ name, title, failure, seconds, figures }: ScenarioResult): string {
  const head = `${name}: ${title} (${show(seconds)} s)\n`;
  const trouble = failure === undefined ? '' : `FAILED: ${failure}\n`;
  return head + trouble + (figures.length === 0 ? '' : textTable(FIGURE_HEAD, figures.map(figureRow)));
}

export const FIGURE_HEAD = ['figure', 'host', 'unit', 'raw limit', 'ratio', 'rounds', 'against'];

export function figureRow(figure: Figure): string[] {
  const { title, unit, against } = figure;
  return [
    title,
    show(valueOf(figure)),
    unit,
    against === undefined ? '–' : show(median(against.values)),
    showRatio(ratioOf(figure)),
    showRange(ratiosOf(figure)),
    against?.title ?? '–',
  ];
}

function goalsText(results: Results): string {
  const rows = GOALS.flatMap(({ id, criteria }) => {
    const evaluated = criteria.map((criterion) => evaluateCriterion(results, criterion));
    const lines = evaluated.map(({ title, bound, limit, measured, holds }) => [
      '',
      title,
      `${bound} ${show(limit)}`,
      showRatio(measured),
      holds === undefined ? 'not measured' : holds ? 'yes' : 'NO',
    ]);
    return [[id, '', '', '', outcomeOf(evaluated)], ...lines];
  });
  return `goals\n${textTable(['goal', 'figure', 'limit', 'measured', 'holds'], rows)}`;
}
