import { HOST_ARGS, leaf, RUN_ARG } from '../../parsing/command.ts';
import { connectToRun } from '../../connecting/run-id.ts';
import { EXIT } from '../../exit-code.ts';
import { shown } from '../../output/terminal-text.ts';
import { asTypedHere } from '../../program-name.ts';

export const why = leaf({
  name: 'why',
  summary: 'Explain in one sentence what a run is waiting for',
  examples: ['weft runs why RUN', 'weft runs why RUN --json'],
  args: { run: RUN_ARG, ...HOST_ARGS },
  async run({ cli, args }) {
    const { client, runId } = await connectToRun(cli.io, args);
    const answer = await client.runs.why(runId);
    cli.io.stdout.write(shown`${cli.json ? JSON.stringify(answer) : asTypedHere(answer.sentence)}\n`);
    return EXIT.done;
  },
});
