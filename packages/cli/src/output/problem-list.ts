import type { WorkflowProblem, WorkflowReport } from '@weft/sdk';
import { lineOfPointer } from '../parsing/json-lines.ts';
import { asTypedHere } from '../program-name.ts';
import type { Style } from './style.ts';
import { visibleText } from './terminal-text.ts';

/** A report as a compiler would print it: file, line, what is wrong. */
export function renderReport(style: Style, file: string, text: string, report: WorkflowReport): string {
  return [
    ...report.errors.map((problem) => problemLine(file, text, problem, style.red('error'))),
    ...report.warnings.map((problem) => problemLine(file, text, problem, style.yellow('warning'))),
  ].join('\n');
}

function problemLine(file: string, text: string, problem: WorkflowProblem, label: string): string {
  const path = problem.path === '' ? '' : ` (${problem.path})`;
  const line = text === '' ? '' : `:${lineOfPointer(text, problem.path)}`;
  return `${file}${line}: ${label}: ${visibleText(asTypedHere(problem.message))}${path}`;
}
