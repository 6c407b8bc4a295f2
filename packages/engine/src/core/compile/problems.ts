import { HostError, type JsonObject, type Problem } from '@weft/protocol';
import type { WorkflowProblem } from '../../host/host.ts';
import { ExpressionError } from './plan.ts';

/** Shown at most; a definition with more is not understood better by a longer list. */
const MAX_SHOWN = 200;

/** Collects everything wrong with a definition, so that one attempt shows it all. */
export interface Problems {
  error(path: string, code: string, message: string, details?: JsonObject): void;
  warn(path: string, code: string, message: string): void;
  /** A text that was refused: under its own code when it costs too much, else under `code`. Throws what is no refusal. */
  refused(path: string, code: string, error: unknown): void;
  readonly hasErrors: boolean;
  result(): { errors: WorkflowProblem[]; warnings: WorkflowProblem[] };
}

export function createProblems(): Problems {
  const errors: WorkflowProblem[] = [];
  const warnings: WorkflowProblem[] = [];
  return {
    error: (path, code, message, details) =>
      void errors.push({ path, code, message, ...(details !== undefined && { details }) }),
    warn: (path, code, message) => void warnings.push({ path, code, message }),
    refused(path, code, error) {
      if (!(error instanceof HostError) && !(error instanceof ExpressionError)) throw error;
      const { message, details } = error;
      if (error.code === undefined || error.code === 'validation_error') this.error(path, code, message);
      else this.error(path, error.code, message, details);
    },
    get hasErrors() {
      return errors.length > 0;
    },
    result: () => ({ errors: shortened(errors), warnings: shortened(warnings) }),
  };
}

function shortened(problems: WorkflowProblem[]): WorkflowProblem[] {
  if (problems.length <= MAX_SHOWN) return problems;
  const left = problems.length - MAX_SHOWN;
  return [
    ...problems.slice(0, MAX_SHOWN),
    { path: '', code: 'more_problems', message: `${left} more problems follow; correct these first.` },
  ];
}

/** A JSON Pointer. */
export function pointer(...steps: (string | number)[]): string {
  return steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** A validator's finding as a sentence. */
export function schemaMessage(problem: Problem): string {
  const subject = /^(?:the field|unknown field|its name) /.test(problem.message) ? '' : 'this value ';
  const sentence = `${subject}${problem.message}`;
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}${sentence.endsWith('?') ? '' : '.'}`;
}

/** The known name that was probably meant; undefined when none is near. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const wanted = name.slice(0, 80).toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const lower = candidate.toLowerCase();
    // The last part is what people remember: `noop` for `core.noop`.
    const isTail = lower.endsWith(`.${wanted}`) || wanted.endsWith(`.${lastPart(lower)}`);
    const distance = isTail ? 1 : editDistance(wanted, lower);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const replace = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(replace, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}
