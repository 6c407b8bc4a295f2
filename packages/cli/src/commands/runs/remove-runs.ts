import { ApiError, type Client } from '@weft/sdk';
import type { Cli } from '../../parsing/command.ts';
import { EXIT, type ExitCode } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';

const AT_ONCE = 8;

export interface RemovalWords {
  /** In JSON: the member that says whether it was done. */
  readonly done: 'removed' | 'erased';
  readonly act: (client: Client, runId: string) => Promise<void>;
}

/** Each run stands for itself: what cannot go is named, and the others go. */
export async function removeRuns(
  cli: Cli,
  client: Client,
  runIds: readonly string[],
  { done, act }: RemovalWords,
): Promise<ExitCode> {
  const problems: ApiError[] = [];
  let next = 0;
  async function worker(): Promise<void> {
    for (let index = next++; index < runIds.length; index = next++) {
      const runId = runIds[index] ?? '';
      const problem = await problemOf(() => act(client, runId));
      if (problem !== undefined) problems.push(problem);
      cli.io.stdout.write(
        shown`${cli.json ? itemJson(runId, done, problem) : itemLine(runId, done, problem)}\n`,
      );
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, runIds.length) }, worker));
  if (!cli.json && runIds.length > 1)
    cli.io.stderr.write(`${runIds.length - problems.length} ${done}, ${problems.length} not.\n`);
  if (problems.length === 0) return EXIT.done;
  return problems.every(({ status }) => status === 409) ? EXIT.unmet : EXIT.failed;
}

/** Whatever the host says about one run; that it says nothing at all, or knows us not, concerns all of them. */
async function problemOf(act: () => Promise<void>): Promise<ApiError | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && [404, 409, 410].includes(error.status)) return error;
    throw error;
  }
}

function itemJson(runId: string, done: string, problem: ApiError | undefined): string {
  const error = problem && { code: problem.code, message: problem.message };
  return JSON.stringify({ runId, [done]: problem === undefined, ...(error && { error }) });
}

function itemLine(runId: string, done: string, problem: ApiError | undefined): string {
  return problem === undefined ? `${runId}  ${done}` : `${runId}  not ${done}: ${problem.message}`;
}
