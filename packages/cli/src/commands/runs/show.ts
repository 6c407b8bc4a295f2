import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderRunDetails } from '../../output/run-details.ts';

export const show = leaf({
  name: 'show',
  summary: 'Show where a run stands',
  examples: ['weft runs show RUN', 'weft runs show RUN --json'],
  args: { run: { type: 'positional', description: 'Run id', required: true }, ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const snapshot = await client.runs.get(args.run);
    const text = cli.json ? JSON.stringify(snapshot) : renderRunDetails(cli.style, snapshot);
    cli.io.stdout.write(`${text}\n`);
    return EXIT.done;
  },
});
