import { EXIT, CliError } from '../exit-code.ts';

/** One thing wrong in a user's file. Lines and columns count from 1. */
export interface UserCodeProblem {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly message: string;
  /** The line itself. */
  readonly source?: string;
}

/** Code of a user that cannot be built, or that failed while it was loaded. Its message shows every problem with file and line. */
export class UserCodeError extends CliError {
  readonly problems: readonly UserCodeProblem[];

  constructor(problems: readonly UserCodeProblem[], cause?: unknown) {
    super(EXIT.failed, 'user_code', problems.map(problemText).join('\n'), {
      details: { problems: problems.map((problem) => ({ ...problem })) },
      ...(cause !== undefined && { cause }),
    });
    this.name = 'UserCodeError';
    this.problems = problems;
  }
}

function problemText({ file, line, column, message, source }: UserCodeProblem): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(':');
  const first = `${place}: ${message}`;
  if (source === undefined || source.trim() === '' || column === undefined) return first;
  return `${first}\n  ${source}\n  ${' '.repeat(column - 1)}^`;
}
