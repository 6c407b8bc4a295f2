import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { printDeadLetters } from '../../output/dead-letter-list.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { SCHEDULE_ARG } from './schedule-arg.ts';

export const dead = leaf({
  name: 'dead',
  summary: 'List what should have been started and was not, with the reason',
  examples: ['weft schedules dead nightly'],
  args: { name: SCHEDULE_ARG, ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    await printDeadLetters(cli, client.deadLetters.list(`schedule:${args.name}`, { limit: 500 }));
    return EXIT.done;
  },
});
