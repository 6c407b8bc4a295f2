import { HOST_ARGS, leaf, RUN_ARG } from '../../parsing/command.ts';
import { connectToRun } from '../../connecting/run-id.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { shellCommand } from '../../output/shell-command.ts';

export const pause = leaf({
  name: 'pause',
  summary: 'Pause a run until it is resumed or cancelled',
  examples: ['weft runs pause RUN', 'weft runs pause RUN --now --reason "price list is wrong"'],
  args: {
    run: RUN_ARG,
    now: { type: 'boolean', description: 'Stop between two events instead of waiting for the running node' },
    reason: { type: 'string', valueHint: 'TEXT', description: 'Reason; recorded in the run’s log' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client, runId } = await connectToRun(cli.io, args);
    const answer = await client.runs.pause(runId, {
      drainPolicy: args.now === true ? 'immediate' : 'drain-current-node',
      ...(args.reason === undefined ? {} : { reason: args.reason }),
    });
    cli.io.stdout.write(shown`${cli.json ? JSON.stringify(answer) : `${answer.runId}  ${answer.status}`}\n`);
    if (!cli.json) cli.io.stderr.write(shown`Resume it: ${shellCommand('runs resume', [answer.runId])}\n`);
    return EXIT.done;
  },
});
