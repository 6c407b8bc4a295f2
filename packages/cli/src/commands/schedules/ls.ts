import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderScheduleList } from '../../output/schedule-view.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';

const PAGE = 500;

export const ls = leaf({
  name: 'ls',
  summary: 'List the schedules of your tenant',
  examples: ['weft schedules ls', 'weft schedules ls --json'],
  args: { ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const found = [];
    for await (const schedule of client.schedules.list({ limit: PAGE })) {
      if (cli.json) cli.io.stdout.write(`${JSON.stringify(schedule)}\n`);
      else found.push(schedule);
    }
    if (cli.json) return EXIT.done;
    if (found.length === 0) cli.io.stderr.write('No schedules. weft schedules create makes one.\n');
    else cli.io.stdout.write(`${renderScheduleList(cli.style, found)}\n`);
    return EXIT.done;
  },
});
