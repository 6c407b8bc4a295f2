import { HOST_ARGS, leaf, RUN_ARG } from '../../parsing/command.ts';
import { connectToRun } from '../../connecting/run-id.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';

export const release = leaf({
  name: 'release',
  summary: 'Release a run from quarantine',
  examples: ['weft runs ls --quarantined', 'weft runs why RUN', 'weft runs release RUN'],
  args: { run: RUN_ARG, ...HOST_ARGS },
  async run({ cli, args }) {
    const { client, runId } = await connectToRun(cli.io, args);
    const answer = await client.runs.release(runId);
    cli.io.stdout.write(shown`${cli.json ? JSON.stringify(answer) : `${answer.runId}  released`}\n`);
    return EXIT.done;
  },
});
