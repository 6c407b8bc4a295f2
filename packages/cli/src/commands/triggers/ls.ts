import type { TriggerSummary } from '@weft/sdk';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderTable } from '../../output/table.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';

const PAGE = 500;

export const ls = leaf({
  name: 'ls',
  summary: 'List the webhook triggers of your tenant; secrets are never shown',
  examples: ['weft triggers ls', 'weft triggers ls --json'],
  args: { ...HOST_ARGS },
  async run({ cli, args }) {
    const { client } = await connect(cli.io, args);
    const found: TriggerSummary[] = [];
    for await (const trigger of client.triggers.list({ limit: PAGE })) {
      if (cli.json) cli.io.stdout.write(`${JSON.stringify(trigger)}\n`);
      else found.push(trigger);
    }
    if (cli.json) return EXIT.done;
    if (found.length === 0) cli.io.stderr.write('No triggers. weft triggers create makes one.\n');
    else {
      const table = renderTable<TriggerSummary>(
        cli.style,
        [
          { title: 'TRIGGER', value: ({ id }) => id },
          { title: 'WORKFLOW', value: ({ workflowId }) => workflowId },
          { title: 'SCHEME', value: ({ scheme }) => scheme },
          { title: 'STATE', value: ({ state }) => state },
          { title: 'URL', value: ({ ingestUrl }) => ingestUrl },
        ],
        found,
      );
      cli.io.stdout.write(`${table}\n`);
    }
    return EXIT.done;
  },
});
