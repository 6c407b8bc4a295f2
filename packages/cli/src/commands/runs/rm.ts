import { HOST_ARGS, leaf, RUN_ARG } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { resolveRunIds } from '../../connecting/run-id.ts';
import { removeRuns } from './remove-runs.ts';

export const rm = leaf({
  name: 'rm',
  summary: 'Remove ended runs with all their data (permanent)',
  examples: ['weft runs rm RUN', 'weft runs rm RUN-1 RUN-2 --json'],
  variadic: true,
  args: {
    run: RUN_ARG,
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    return removeRuns(cli, client, await resolveRunIds(client, args._), {
      done: 'removed',
      act: (to, runId) => to.operations.purge(runId),
    });
  },
});
