import { connect } from '../../connecting/connection.ts';
import { EXIT, usageError } from '../../exit-code.ts';
import { countText } from '../../output/count-text.ts';
import { shown } from '../../output/terminal-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { parseMoment } from '../../parsing/moment.ts';
import { SCHEDULE_ARG } from './schedule-arg.ts';

export const backfill = leaf({
  name: 'backfill',
  summary: 'Start a run for each due time of the past that has none',
  examples: [
    'weft schedules backfill nightly --from 7d --to 1d',
    'weft schedules backfill nightly --from 2027-01-01T00:00:00Z --to 2027-01-08T00:00:00Z',
  ],
  args: {
    name: SCHEDULE_ARG,
    from: { type: 'string', valueHint: 'TIME', description: 'First due time: 7d ago, or an ISO time' },
    to: { type: 'string', valueHint: 'TIME', description: 'Last due time: 1d ago, or an ISO time' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    if (args.from === undefined || args.to === undefined) {
      throw usageError('weft schedules backfill needs --from TIME and --to TIME.');
    }
    const now = Date.now();
    const range = { from: parseMoment('from', args.from, now), to: parseMoment('to', args.to, now) };
    const { client } = await connect(cli.io, args);
    const answer = await client.schedules.backfill(args.name, range);
    const text = `${args.name}  ${countText(answer.dueTimes, 'due time')} from ${answer.from} to ${answer.to}`;
    cli.io.stdout.write(shown`${cli.json ? JSON.stringify(answer) : text}\n`);
    return EXIT.done;
  },
});
