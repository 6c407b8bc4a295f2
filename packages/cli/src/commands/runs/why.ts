import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';

export const why = leaf({
  name: 'why',
  summary: 'Explain in one sentence what a run is waiting for',
  examples: ['weft runs why RUN', 'weft runs why RUN --json'],
  args: { run: { type: 'positional', description: 'Run id', required: true }, ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const answer = await client.runs.why(args.run);
    cli.io.stdout.write(shown`${cli.json ? JSON.stringify(answer) : answer.sentence}\n`);
    return EXIT.done;
  },
});
