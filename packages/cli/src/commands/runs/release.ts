import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';

export const release = leaf({
  name: 'release',
  summary: 'Release a run from quarantine',
  examples: ['weft runs ls --quarantined', 'weft runs why RUN', 'weft runs release RUN'],
  args: { run: { type: 'positional', description: 'Run id', required: true }, ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const answer = await client.runs.release(args.run);
    cli.io.stdout.write(shown`${cli.json ? JSON.stringify(answer) : `${answer.runId}  released`}\n`);
    return EXIT.done;
  },
});
