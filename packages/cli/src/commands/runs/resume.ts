import { HOST_ARGS, leaf, RUN_ARG } from '../../parsing/command.ts';
import { connectToRun } from '../../connecting/run-id.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';

export const resume = leaf({
  name: 'resume',
  summary: 'Resume a paused run',
  examples: ['weft runs resume RUN', 'weft runs resume RUN --reason "list corrected"'],
  args: {
    run: RUN_ARG,
    reason: { type: 'string', valueHint: 'TEXT', description: 'Reason; recorded in the run’s log' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client, runId } = await connectToRun(cli.io, args);
    const answer = await client.runs.resume(runId, args.reason === undefined ? {} : { reason: args.reason });
    cli.io.stdout.write(shown`${cli.json ? JSON.stringify(answer) : `${answer.runId}  ${answer.status}`}\n`);
    return EXIT.done;
  },
});
