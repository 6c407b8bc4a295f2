import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { shellCommand } from '../../output/shell-command.ts';

export const pause = leaf({
  name: 'pause',
  summary: 'Pause a run until it is resumed or cancelled',
  examples: ['weft runs pause RUN', 'weft runs pause RUN --now --reason "price list is wrong"'],
  args: {
    run: { type: 'positional', description: 'Run id', required: true },
    now: { type: 'boolean', description: 'Stop between two events instead of waiting for the running node' },
    reason: { type: 'string', valueHint: 'TEXT', description: 'Reason; recorded in the run’s log' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const answer = await client.runs.pause(args.run, {
      drainPolicy: args.now === true ? 'immediate' : 'drain-current-node',
      ...(args.reason === undefined ? {} : { reason: args.reason }),
    });
    cli.io.stdout.write(shown`${cli.json ? JSON.stringify(answer) : `${answer.runId}  ${answer.status}`}\n`);
    if (!cli.json) cli.io.stderr.write(shown`Resume it: ${shellCommand('runs resume', [answer.runId])}\n`);
    return EXIT.done;
  },
});
