import { isJsonObject, type Json } from '@weft/protocol/plain';
import { type Client, type OpenInterrupt, nodeNameOf, openInterruptsOf, type RunDocument } from '@weft/sdk';
import { type Cli, HOST_ARGS, RUN_ARG } from '../parsing/command.ts';
import { connect, type TargetArgs } from '../connecting/connection.ts';
import { resolveRunId } from '../connecting/run-id.ts';
import { CliError, EXIT, type ExitCode, usageError } from '../exit-code.ts';
import { answerCommands } from '../output/question.ts';
import { paintStatus } from '../output/style.ts';
import { shown } from '../output/terminal-text.ts';
import { shellCommand } from '../output/shell-command.ts';

/** Arguments of every command that answers a question. */
export const QUESTION_ARGS = {
  run: RUN_ARG,
  node: {
    type: 'positional',
    description: 'The node that is waiting; optional if there is only one',
    required: false,
  },
  ...HOST_ARGS,
} as const;

export interface GivenAnswer {
  readonly runId: string;
  /** Undefined: the one question that is open. */
  readonly node: string | undefined;
  /** The kind of question this command answers; undefined when it answers any. */
  readonly kind?: string;
  readonly value: Json;
}

/** Sends the answer and shows how the run stands after it. */
export async function answerQuestion(cli: Cli, args: TargetArgs, given: GivenAnswer): Promise<ExitCode> {
  const { client } = await connect(cli.io, args);
  const runId = await resolveRunId(client, given.runId);
  const node = given.node ?? nodeNameOf(await onlyQuestion(client, { ...given, runId }));
  const answer = await client.runs.resolve(runId, node, given.value);
  const text = cli.json
    ? JSON.stringify(answer)
    : `${answer.runId}  ${paintStatus(cli.style, answer.status)}`;
  cli.io.stdout.write(shown`${text}\n`);
  if (!cli.json && answer.status.startsWith('waiting-'))
    cli.io.stderr.write(shown`It is still waiting. Reason: ${shellCommand('runs why', [answer.runId])}\n`);
  return EXIT.done;
}

/** The child that a run waits for, where it waits for one. */
function waitingChild(run: RunDocument): string | undefined {
  const children = Array.isArray(run['childRuns']) ? run['childRuns'] : [];
  const waiting = children.find(
    (child) => isJsonObject(child) && String(child['status']).startsWith('waiting-'),
  );
  return isJsonObject(waiting) ? String(waiting['runId']) : undefined;
}

async function onlyQuestion(client: Client, { runId, kind }: GivenAnswer): Promise<OpenInterrupt> {
  const run = await client.runs.get(runId);
  const [first, ...others] = openInterruptsOf(run);
  if (first === undefined) {
    const child = waitingChild(run);
    const hint =
      child === undefined ? '' : ` Its child run ${child} has one: see ${shellCommand('runs why', [child])}`;
    throw new CliError(
      EXIT.unmet,
      'no_open_question',
      shown`Run ${runId} is ${run.status} and has no open interrupt.${hint}`,
      { details: { runId, status: run.status, ...(child !== undefined && { childRunId: child }) } },
    );
  }
  if (others.length > 0) {
    const commands = [first, ...others].map((question) => `  ${answerCommands(question)[0]}`);
    throw usageError(`Run ${runId} has several open interrupts; name the node:\n${commands.join('\n')}`);
  }
  if (kind !== undefined && first.kind !== kind) {
    throw new CliError(
      EXIT.unmet,
      'other_kind_of_question',
      shown`Node ${nodeNameOf(first)} waits for another kind of answer. Use: ${answerCommands(first)[0]}`,
      { details: { nodeId: first.nodeId, kind: first.kind } },
    );
  }
  return first;
}
