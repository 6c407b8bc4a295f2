import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { SCHEDULE_ARG } from './schedule-arg.ts';

export const resume = leaf({
  name: 'resume',
  summary: 'Continue a paused schedule; what was due meanwhile is skipped',
  examples: ['weft schedules resume nightly'],
  args: { name: SCHEDULE_ARG, ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const answer = await client.schedules.resume(args.name);
    cli.io.stdout.write(
      shown`${cli.json ? JSON.stringify(answer) : `${args.name}  ${answer.state}, next ${answer.nextDueAt ?? 'never'}`}\n`,
    );
    return EXIT.done;
  },
});
