import type { Style } from './style.ts';
import { visibleText } from './terminal-text.ts';

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  /** Colour, applied after the width is known. */
  readonly paint?: (text: string, row: Row) => string;
  readonly align?: 'left' | 'right';
}

/** Columns as wide as their widest cell; the last one runs free. */
export function renderTable<Row>(
  style: Style,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): string {
  const cells = rows.map((row) => columns.map((column) => visibleText(column.value(row))));
  const widths = columns.map((column, index) =>
    Math.max(column.title.length, ...cells.map((line) => line[index]?.length ?? 0)),
  );
  const header = columns.map((column, index) => style.dim(pad(column.title, index, column.align)));
  const lines = rows.map((row, rowIndex) =>
    columns.map((column, index) => {
      const text = pad(cells[rowIndex]?.[index] ?? '', index, column.align);
      return column.paint === undefined ? text : column.paint(text, row);
    }),
  );
  return [header, ...lines].map((line) => line.join('  ').trimEnd()).join('\n');

  function pad(text: string, index: number, align: Column<Row>['align']): string {
    const width = widths[index] ?? 0;
    if (align === 'right') return text.padStart(width);
    return index === columns.length - 1 ? text : text.padEnd(width);
  }
}

/** `name  value` lines, names in one column. */
export function renderFields(
  style: Style,
  fields: readonly (readonly [string, string | undefined])[],
): string {
  const present = fields.filter((field): field is readonly [string, string] => field[1] !== undefined);
  const width = Math.max(0, ...present.map(([name]) => name.length));
  return present
    .map(([name, value]) => `${style.dim(visibleText(name).padEnd(width))}  ${visibleText(value)}`)
    .join('\n');
}
