import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { SCHEDULE_ARG } from './schedule-arg.ts';

export const trigger = leaf({
  name: 'trigger',
  summary: 'Start a run of a schedule now, whatever its overlap policy',
  examples: ['weft schedules trigger nightly'],
  args: { name: SCHEDULE_ARG, ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const answer = await client.schedules.trigger(args.name);
    cli.io.stdout.write(shown`${cli.json ? JSON.stringify(answer) : answer.runId}\n`);
    return EXIT.done;
  },
});
