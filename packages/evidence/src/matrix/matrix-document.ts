import { PARTS } from '../contract/set-diff.ts';
import { CATEGORIES } from '../contract/vocabulary.ts';
import type { Matrix, MatrixCell } from './matrix.ts';
import { printableText } from '../report/printable-text.ts';

/** The matrix as one JSON value of our own; cells are summed up, their full documents are ordinary v0 diffs. */
export function matrixDocument(matrix: Matrix) {
  return {
    schema: 'weft.evidence_matrix.v0',
    runs: matrix.runs.map((run) => ({
      label: run.label,
      run_id: run.runId ?? null,
      runtime: run.runtime ?? null,
      usable: run.isUsable,
    })),
    groups: matrix.groups.map((group) => ({ runtime: group.runtime ?? null, runs: group.runs })),
    values: matrix.values,
    cells: matrix.cells.map(cellSummary),
  };
}

function cellSummary({ base, head, projection }: MatrixCell) {
  const { contract, status, surface } = projection.diff;
  const counts = Object.fromEntries(CATEGORIES.map((category) => [category, surface[category].counts]));
  return { base, head, contract, status, counts };
}

/** The matrix as text: per category what is stable, what flickers; then the cells. */
export function matrixText(matrix: Matrix, limit: number): string {
  const lines: string[] = [];
  matrix.runs.forEach((run, index) => {
    const runtime = run.runtime ?? 'no runtime declared';
    lines.push(
      printableText(
        `run ${index}  ${run.label}  ${run.runId ?? '(no run id)'}  ${runtime}${run.isUsable ? '' : '  not usable'}`,
      ),
    );
  });
  for (const category of CATEGORIES) {
    const values = matrix.values[category];
    lines.push('', `${category}: ${values.length} values`);
    for (const { value, seen } of values.slice(0, limit)) {
      const cells = seen.map((group) => `${group.in}/${group.of} ${group.presence}`.padEnd(14));
      lines.push(`  ${cells.join('  ')}  ${printableText(JSON.stringify(value))}`);
    }
    if (values.length > limit) lines.push(`  … ${values.length - limit} more`);
  }
  lines.push('', 'cells (ordinary v0 diffs)');
  for (const cell of matrix.cells) {
    const { surface, status, contract } = cell.projection.diff;
    const sums = PARTS.map((part) => {
      const sum = CATEGORIES.reduce((total, category) => total + surface[category].counts[part], 0);
      return `${sum} ${part}`;
    });
    lines.push(`  ${cell.base} -> ${cell.head}  ${contract}  ${status}  ${sums.join(', ')}`);
  }
  return lines.join('\n');
}
