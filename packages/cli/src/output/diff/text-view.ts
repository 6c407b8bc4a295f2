import type { EventDifferenceDocument, RunEventDocument } from '@weft/sdk';
import { type Style, paintStatus } from '../style.ts';
import { type FieldChange, payloadChanges } from '@weft/engine/compare';
import { placeOf, stateChanges, typeText, valueText } from './event-text.ts';
import { type DiffReport, type EventPair, type ReportSide, groupBy, verdict } from './report.ts';
import { visibleText } from '../terminal-text.ts';
import { countText } from '../count-text.ts';

/** Of one event; a payload that differs everywhere is not understood better by a longer list. */
const FIELDS_SHOWN = 12;

/** Red and minus for what only a has, green and plus for what only b has: the signs stay without colour. */
export function renderDiffText(style: Style, report: DiffReport, columns: number): string {
  const view = createView(style, columns);
  const { outline, aligned, isAlignedAlone = false } = report;
  const parts = [
    [view.side('a', report.a), view.side('b', report.b)].join('\n'),
    view.heading(report),
    outline === undefined ? '' : view.state(stateChanges(outline.stateDiff)),
  ];
  if (!isAlignedAlone)
    parts.push(
      ...groupBy(report.differences, placeOf).map(({ place, items }) =>
        [style.bold(place), ...items.map((item) => view.difference(item))].join('\n'),
      ),
      view.rest(outline === undefined ? 0 : report.total - report.differences.length),
    );
  if (aligned !== undefined && !(isAlignedAlone && aligned.total === 0)) {
    parts.push(
      `${style.bold('Paired by node, type and occurrence')} ${style.dim('(not the protocol’s diff)')}`,
      ...groupBy(aligned.pairs, placeOf).map(({ place, items }) =>
        [style.bold(place), ...items.map((item) => view.pair(item))].join('\n'),
      ),
      aligned.total === 0 ? 'Every event has an equal counterpart.' : '',
      view.rest(aligned.total - aligned.pairs.length),
    );
  }
  return parts.filter((part) => part !== '').join('\n\n');
}

interface View {
  side(name: 'a' | 'b', side: ReportSide): string;
  heading(report: DiffReport): string;
  state(changes: readonly FieldChange[]): string;
  difference(difference: EventDifferenceDocument): string;
  pair(pair: EventPair): string;
  rest(count: number): string;
}

function createView(style: Style, columns: number): View {
  const width = Math.max(40, columns);
  const half = Math.floor((width - 12) / 2);
  const paint = { a: style.red, b: style.green };

  function fields(changes: readonly FieldChange[], indent: string): string[] {
    const shown = changes.slice(0, FIELDS_SHOWN).map(({ path, a, b }) => {
      const name = path === '' ? 'payload' : visibleText(path);
      return `${indent}${name}  ${paint.a(valueText(a, half))} ${style.dim('→')} ${paint.b(valueText(b, half))}`;
    });
    const hidden = changes.length - shown.length;
    return hidden > 0 ? [...shown, style.dim(`${indent}… and ${countText(hidden, 'more field')}`)] : shown;
  }

  function alone(sign: '-' | '+', event: RunEventDocument): string {
    const color = sign === '-' ? paint.a : paint.b;
    const line = `${sign} #${event.sequence} ${visibleText(event.type)}`;
    return `  ${color(line)}  ${style.dim(valueText(event.payload, Math.max(20, width - line.length - 4)))}`;
  }

  function both(where: string, a: RunEventDocument, b: RunEventDocument): string {
    const head = `  ${style.yellow(`~ ${where} ${typeText({ aEvent: a, bEvent: b })}`)}`;
    if (a.type === b.type) return [head, ...fields(payloadChanges(a, b), '      ')].join('\n');
    return [
      head,
      `      ${paint.a(`- ${valueText(a.payload, width - 8)}`)}`,
      `      ${paint.b(`+ ${valueText(b.payload, width - 8)}`)}`,
    ].join('\n');
  }

  function pair({ aEvent, bEvent }: EventPair, where: (a: number, b: number) => string): string {
    if (aEvent !== undefined && bEvent !== undefined)
      return both(where(aEvent.sequence, bEvent.sequence), aEvent, bEvent);
    if (aEvent !== undefined) return alone('-', aEvent);
    return bEvent === undefined ? '' : alone('+', bEvent);
  }

  return {
    side(name, { label, run }) {
      const shown = visibleText(label);
      const workflow = style.dim(visibleText(run.workflowId));
      return `${paint[name](name)}  ${style.bold(shown)}  ${paintStatus(style, visibleText(run.status))}  ${workflow}`;
    },
    heading(report) {
      const { first, outline } = report;
      const place = first === undefined ? '' : style.dim(`  ${typeText(first)}, ${placeOf(first)}`);
      const partial =
        outline?.truncated === true ? '\nA run has not ended: its events so far were compared.' : '';
      return style.bold(verdict(report)) + place + partial;
    },
    state: (changes) =>
      changes.length === 0 ? '' : [style.bold('state'), ...fields(changes, '  ')].join('\n'),
    difference: (difference) => pair(difference, (seq) => `#${seq}`),
    pair: (found) => pair(found, (a, b) => (a === b ? `#${a}` : `#${a}/#${b}`)),
    rest: (count) => (count > 0 ? style.dim(`… and ${count} more (--all)`) : ''),
  };
}
