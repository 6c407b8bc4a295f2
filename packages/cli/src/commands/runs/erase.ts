import { HOST_ARGS, leaf, RUN_ARG } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { resolveRunIds } from '../../connecting/run-id.ts';
import { removeRuns } from './remove-runs.ts';

export const erase = leaf({
  name: 'erase',
  summary: 'Erase the inputs and masked values of ended runs (permanent); their logs stay',
  examples: ['weft runs erase RUN', 'weft runs erase RUN-1 RUN-2'],
  variadic: true,
  args: {
    run: RUN_ARG,
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    return removeRuns(cli, client, await resolveRunIds(client, args._), {
      done: 'erased',
      act: (to, runId) => to.operations.erase(runId),
    });
  },
});
