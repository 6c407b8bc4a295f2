import type { Family, Series } from './registry.ts';

export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The text format 0.0.4. Names are OpenTelemetry's, mapped the usual way: underscores, the unit, `_total`. */
export function renderPrometheus(families: readonly Family[]): string {
  return families
    .filter(({ series }) => series.length > 0)
    .map(renderFamily)
    .join('');
}

function renderFamily(family: Family): string {
  const name = prometheusName(family);
  const lines = [`# HELP ${name} ${escapeHelp(family.help)}`, `# TYPE ${name} ${family.kind}`];
  for (const series of family.series) {
    const labels = labelsOf(family, series);
    if (family.kind === 'histogram') lines.push(...histogramLines(name, family, series, labels));
    else lines.push(`${name}${braced(labels)} ${series.value}`);
  }
  return `${lines.join('\n')}\n`;
}

const UNIT_WORDS: Readonly<Record<string, string>> = { s: 'seconds', By: 'bytes' };

export function prometheusName({ name, unit, kind }: Pick<Family, 'name' | 'unit' | 'kind'>): string {
  const base = name.replace(/[^a-zA-Z0-9_]/g, '_');
  const word = UNIT_WORDS[unit];
  const withUnit = word === undefined || base.endsWith(`_${word}`) ? base : `${base}_${word}`;
  return kind === 'counter' && !withUnit.endsWith('_total') ? `${withUnit}_total` : withUnit;
}

function histogramLines(name: string, family: Family, series: Series, labels: readonly string[]): string[] {
  let below = 0;
  const lines = family.buckets.map((bound, index) => {
    below += series.counts[index] ?? 0;
    return `${name}_bucket${braced([...labels, `le="${bound}"`])} ${below}`;
  });
  lines.push(
    `${name}_bucket${braced([...labels, 'le="+Inf"'])} ${series.count}`,
    `${name}_sum${braced(labels)} ${series.value}`,
    `${name}_count${braced(labels)} ${series.count}`,
  );
  return lines;
}

function labelsOf(family: Family, series: Series): string[] {
  return family.labels.map((label, index) => `${label}="${escapeValue(series.values[index] ?? '')}"`);
}

function braced(labels: readonly string[]): string {
  return labels.length === 0 ? '' : `{${labels.join(',')}}`;
}

function escapeValue(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
