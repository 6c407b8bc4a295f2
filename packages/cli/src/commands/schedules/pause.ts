import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { SCHEDULE_ARG } from './schedule-arg.ts';

export const pause = leaf({
  name: 'pause',
  summary: 'Start nothing until the schedule is resumed',
  examples: ['weft schedules pause nightly'],
  args: { name: SCHEDULE_ARG, ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const answer = await client.schedules.pause(args.name);
    cli.io.stdout.write(shown`${cli.json ? JSON.stringify(answer) : `${args.name}  paused`}\n`);
    return EXIT.done;
  },
});
