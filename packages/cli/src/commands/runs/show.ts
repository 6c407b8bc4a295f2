import type { RunDocument } from '@weft/sdk';
import { type Cli, HOST_ARGS, leaf, RUN_ARG } from '../../parsing/command.ts';
import { connectToRun } from '../../connecting/run-id.ts';
import { EXIT } from '../../exit-code.ts';
import { renderRunDetails } from '../../output/run-details.ts';
import { parseSeq } from '../fork.ts';
import { shown } from '../../output/terminal-text.ts';
import { shellCommand } from '../../output/shell-command.ts';

export const show = leaf({
  name: 'show',
  summary: 'Show the state of a run, now or after one of its events',
  examples: ['weft runs show RUN', 'weft runs show RUN --at 12', 'weft runs show RUN --at 12 --json'],
  args: {
    run: RUN_ARG,
    at: {
      type: 'string',
      valueHint: 'SEQ',
      description: 'After the event with this sequence instead of now',
    },
    ...HOST_ARGS,
  },
  async run({ cli, args }) {
    const at = args.at === undefined ? undefined : parseSeq('at', args.at);
    const { client, runId } = await connectToRun(cli.io, args);
    const run = at === undefined ? await client.runs.get(runId) : await client.runs.stateAt(runId, at);
    cli.io.stdout.write(`${cli.json ? JSON.stringify(run) : textOf(cli, run)}\n`);
    if (!cli.json && at !== undefined)
      cli.io.stderr.write(
        shown`As of #${at}. Continue from the next event: ${shellCommand('fork', [run.runId], `--from ${at + 1}`)}\n`,
      );
    return EXIT.done;
  },
});

function textOf({ style }: Cli, run: RunDocument): string {
  const { channels } = run;
  const details = renderRunDetails(style, run);
  if (channels === undefined || Object.keys(channels).length === 0) return details;
  return `${details}\n\n${style.dim('Channels')}\n${JSON.stringify(channels, null, 2)}`;
}
