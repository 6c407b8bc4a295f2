import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderScheduleDetails } from '../../output/schedule-view.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { SCHEDULE_ARG } from './schedule-arg.ts';

export const show = leaf({
  name: 'show',
  summary: 'Show a schedule with its last and next firings, and why one was skipped',
  examples: ['weft schedules show nightly', 'weft schedules show nightly --json'],
  args: { name: SCHEDULE_ARG, ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const schedule = await client.schedules.get(args.name);
    const text = cli.json ? JSON.stringify(schedule) : renderScheduleDetails(cli.style, schedule);
    cli.io.stdout.write(`${text}\n`);
    return EXIT.done;
  },
});
