import type { Client, FailedVisit } from '@weft/sdk';
import { HOST_ARGS, leaf, RUN_ARG } from '../../parsing/command.ts';
import { connectToRun } from '../../connecting/run-id.ts';
import { CliError, EXIT } from '../../exit-code.ts';
import { deliverFork } from '../fork.ts';
import { shown } from '../../output/terminal-text.ts';
import { shellCommand } from '../../output/shell-command.ts';

export const retry = leaf({
  name: 'retry',
  summary: 'Retry the failed node of a run, in a fork that keeps the earlier events',
  examples: [
    'weft runs retry RUN --watch',
    'weft runs retry RUN --version 1.1 --watch',
    'weft runs retry RUN --json',
  ],
  args: {
    run: RUN_ARG,
    version: { type: 'string', valueHint: 'V', description: 'Continue with another version of the workflow' },
    watch: {
      type: 'boolean',
      alias: 'w',
      description: 'Follow the fork to its end; the exit code is its outcome',
    },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client, runId } = await connectToRun(cli.io, args);
    const { node, code, message, startedSeq } = await failureOf(client, runId);
    if (!cli.json) {
      cli.io.stderr.write(shown`Node ${node} failed with ${code}: ${message}\n`);
      cli.io.stderr.write(`Retrying it from #${startedSeq}, where it was started.\n`);
    }
    const forked = await client.runs.fork(runId, {
      mode: 'branch',
      fromSeq: startedSeq,
      ...(args.version !== undefined && { workflowVersion: args.version }),
    });
    return deliverFork(cli, client, forked, args);
  },
});

/** The failure that ended the run; one that the run recovered from is not retried. */
async function failureOf(client: Client, runId: string): Promise<FailedVisit> {
  const { status } = await client.runs.get(runId);
  if (status !== 'failed') {
    throw new CliError(
      EXIT.unmet,
      'run_not_failed',
      shown`The run is ${status}; only a failed run can be retried. To continue from any event: ${shellCommand('fork', [runId], '--from SEQ')}`,
      { details: { runId, status } },
    );
  }
  const failed = await client.runs.failedVisit(runId);
  if (failed !== undefined) return failed;
  throw new CliError(
    EXIT.unmet,
    'no_failed_node',
    `The run failed, but none of its nodes did. Choose where to continue: ${shellCommand('fork', [runId], '--from SEQ')}`,
    { details: { runId } },
  );
}
