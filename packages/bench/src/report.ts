import { median, round } from './measure.ts';
import type { Sample } from './rounds.ts';

/** Medians over the rounds, by subject, workload, clients and measure. */
export interface Figures {
  get(subject: string, workload: string, clients: number, measure: Sample['measure']): number | undefined;
  /** The value of each round, in order; empty when it was not measured. */
  rounds(subject: string, workload: string, clients: number, measure: Sample['measure']): readonly number[];
  all(): readonly (Sample & { readonly rounds: readonly number[] })[];
}

export function mergeRounds(samples: readonly Sample[]): Figures {
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    const key = keyOf(sample.subject, sample.workload, sample.clients, sample.measure);
    groups.set(key, [...(groups.get(key) ?? []), sample]);
  }
  const merged = new Map(
    [...groups].map(([key, group]) => {
      const rounds = group.map(({ value }) => value);
      return [key, { ...(group[0] as Sample), value: median(rounds), rounds }] as const;
    }),
  );
  return {
    get: (subject, workload, clients, measure) =>
      merged.get(keyOf(subject, workload, clients, measure))?.value,
    rounds: (subject, workload, clients, measure) =>
      merged.get(keyOf(subject, workload, clients, measure))?.rounds ?? [],
    all: () => [...merged.values()],
  };
}

function keyOf(subject: string, workload: string, clients: number, measure: string): string {
  return JSON.stringify([subject, workload, clients, measure]);
}

/** The whole report as text: ratios first, then what they were made of. */
export function renderReport(figures: Figures, clients: readonly number[]): string {
  return [ratioTable(figures, clients), contenderTable(figures, clients), rawTable(figures)].join('\n');
}

function ratioTable(figures: Figures, clients: readonly number[]): string {
  const rows = ['A', 'B', 'E'].flatMap((workload) =>
    clients.map((count) => {
      const ratios = (measure: Sample['measure'], at = count) =>
        pairedRatios(
          figures.rounds('weft', workload, at, measure),
          figures.rounds('sketch', workload, at, measure),
        );
      const ratio = (measure: Sample['measure'], at = count) => show(median(ratios(measure, at)), 2);
      return [
        workload,
        String(count),
        ratio('perSecond'),
        range(ratios('perSecond')),
        ratio('p50Ms'),
        ratio('cpuMsPerRun'),
        ratio('bytesPerRun', 0),
      ];
    }),
  );
  if (figures.get('weft', 'A', clients[0] ?? 1, 'perSecond') === undefined) return '';
  const head = ['workload', 'clients', 'runs/s', 'rounds', 'p50', 'CPU/run', 'bytes/run'];
  return `weft / raw sketch (runs/s: more is better; the others: less)\n${table(head, rows)}`;
}

function contenderTable(figures: Figures, clients: readonly number[]): string {
  const rows: string[][] = [];
  for (const workload of ['A', 'B', 'E']) {
    for (const count of clients) {
      for (const subject of ['weft', 'sketch']) {
        const get = (measure: Sample['measure'], at = count) => figures.get(subject, workload, at, measure);
        if (get('perSecond') === undefined) continue;
        rows.push([
          workload,
          String(count),
          subject,
          show(get('perSecond'), 0),
          show(get('p50Ms'), 2),
          show(get('p99Ms'), 2),
          show(get('cpuMsPerRun'), 2),
          show(get('commitsPerRun'), 2),
          show(get('refusals'), 0),
          show(get('bytesPerRun', 0), 0),
        ]);
      }
    }
  }
  const head = [
    'workload',
    'clients',
    'subject',
    'runs/s',
    'p50 ms',
    'p99 ms',
    'CPU ms/run',
    'commits/run',
    '503s',
    'bytes/run',
  ];
  return `what the ratios are made of\n${table(head, rows)}`;
}

function rawTable(figures: Figures): string {
  const rows = figures
    .all()
    .filter(({ subject, measure }) => subject.startsWith('raw/') && measure === 'perSecond')
    .map(({ subject, workload, clients, value }) => [
      subject,
      workload === '-' ? `${clients} clients` : `rows of one ${workload}`,
      show(value, 0),
    ]);
  return `raw limits of the same minutes\n${table(['limit', 'of', 'per second'], rows)}`;
}

/** Each round against the same round of the other, so that a slow minute counts for both. */
function pairedRatios(parts: readonly number[], wholes: readonly number[]): number[] {
  return parts.flatMap((part, round) => {
    const whole = wholes[round];
    return whole === undefined ? [] : [part / whole];
  });
}

/** A wide range says that the machine was busy with something else, and the median means little. */
function range(values: readonly number[]): string {
  return values.length === 0 ? '–' : `${show(Math.min(...values), 2)}–${show(Math.max(...values), 2)}`;
}

function show(value: number | undefined, digits: number): string {
  return value === undefined || Number.isNaN(value) ? '–' : round(value, digits).toFixed(digits);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${[head, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n')}\n`;
}
