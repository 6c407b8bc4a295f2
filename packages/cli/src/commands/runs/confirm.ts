import { createInterface } from 'node:readline/promises';
import { CliError, EXIT } from '../../exit-code.ts';
import type { Io } from '../../io.ts';

/** Where an answer is typed; the process's stdin is one. */
export type AnswerInput = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** Asks on a terminal; without a terminal only --yes is an answer. False when the person says no. */
export async function confirm(
  io: Io,
  question: string,
  details: { readonly count: number },
  input: AnswerInput = process.stdin,
): Promise<boolean> {
  if (!io.isTTY || input.isTTY !== true) {
    throw new CliError(
      EXIT.unmet,
      'confirmation_required',
      `${question} Check with --dry-run, then repeat with --yes.`,
      { details },
    );
  }
  const lines = createInterface({ input });
  io.stderr.write(`${question} [y/N] `);
  try {
    for await (const line of lines) return /^y(es)?$/i.test(line.trim());
    return false;
  } finally {
    lines.close();
  }
}
