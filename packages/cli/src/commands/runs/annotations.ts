import { HOST_ARGS, leaf, RUN_ARG } from '../../parsing/command.ts';
import { connectToRun } from '../../connecting/run-id.ts';
import { EXIT } from '../../exit-code.ts';
import { renderAnnotationList } from '../../output/annotation-list.ts';
import { shown } from '../../output/terminal-text.ts';
import { shellCommand } from '../../output/shell-command.ts';

export const annotations = leaf({
  name: 'annotations',
  summary: 'List the annotations of a run, oldest first',
  examples: ['weft runs annotations RUN', 'weft runs annotations RUN --json'],
  args: { run: RUN_ARG, ...HOST_ARGS },
  async run({ cli, args }) {
    const { io } = cli;
    const { client, runId } = await connectToRun(io, args);
    const said = await client.annotations.list(runId);
    if (cli.json) for (const annotation of said) io.stdout.write(`${JSON.stringify(annotation)}\n`);
    else if (said.length === 0)
      io.stderr.write(shown`No annotations. Add one: ${shellCommand('annotate', [runId], '--flag')}\n`);
    else io.stdout.write(`${renderAnnotationList(cli.style, said, Date.now())}\n`);
    return EXIT.done;
  },
});
