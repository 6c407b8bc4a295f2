import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderRunList } from '../../output/run-list.ts';
import { FILTER_ARGS, listRuns, parseFilter, parseLimit } from './filter.ts';

export const ls = leaf({
  name: 'ls',
  summary: 'List runs, newest first',
  examples: [
    'weft runs ls',
    'weft runs ls --status failed --since 2h',
    'weft runs ls --source schedule:nightly-report',
    'weft runs ls --error-code timeout',
    'weft runs ls --workflow order-fulfilment --limit 500 --json',
  ],
  args: {
    ...FILTER_ARGS,
    limit: { type: 'string', valueHint: 'N', default: '20', description: 'How many at most' },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { io } = cli;
    const now = Date.now();
    const filter = parseFilter(args, now);
    const limit = parseLimit(args.limit);
    const { client } = await connect(io, args);
    const runs = [];
    for await (const run of listRuns(client, filter, limit)) {
      if (cli.json) io.stdout.write(`${JSON.stringify(run)}\n`);
      else runs.push(run);
    }
    if (cli.json) return EXIT.done;
    if (runs.length === 0) io.stderr.write('No runs found.\n');
    else io.stdout.write(`${renderRunList(cli.style, runs, now)}\n`);
    if (runs.length === limit)
      io.stderr.write(`Shown: the newest ${limit}. There may be more: --limit ${limit * 5}\n`);
    return EXIT.done;
  },
});
