import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { SCHEDULE_ARG } from './schedule-arg.ts';

export const rm = leaf({
  name: 'rm',
  summary: 'Remove a schedule; its runs continue',
  examples: ['weft schedules rm nightly'],
  args: { name: SCHEDULE_ARG, ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    await client.schedules.remove(args.name);
    const text = cli.json ? JSON.stringify({ name: args.name, removed: true }) : `${args.name}  removed`;
    cli.io.stdout.write(shown`${text}\n`);
    return EXIT.done;
  },
});
