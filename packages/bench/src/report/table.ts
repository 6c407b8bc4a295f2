import { round } from '../measuring/measure.ts';

/** Columns side by side, as wide as they must be. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = widthsOf(head, rows);
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${[head, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n')}\n`;
}

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = widthsOf(head, rows);
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return `${[head, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n')}\n`;
}

function widthsOf(head: readonly string[], rows: readonly (readonly string[])[]): number[] {
  return head.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
}

/** Three digits that matter, thousands with a comma, a dash for what there is not. */
export function show(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '–';
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString('en-US');
  return String(round(value, size >= 10 ? 1 : 2));
}

export function showRatio(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '–';
  return value >= 100 ? show(value) : value.toFixed(2);
}

/** A wide range says that the machine was busy with something else, and the median means little. */
export function showRange(values: readonly number[]): string {
  if (values.length < 2) return '–';
  return `${showRatio(Math.min(...values))}–${showRatio(Math.max(...values))}`;
}
