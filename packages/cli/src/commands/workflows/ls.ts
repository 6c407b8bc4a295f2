import type { WorkflowSummary } from '@weft/sdk';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderTable } from '../../output/table.ts';
import { allWorkflows } from './find-workflow.ts';
import { shown } from '../../output/terminal-text.ts';
import { agoText } from '../../output/time-text.ts';

export const ls = leaf({
  name: 'ls',
  summary: 'List registered workflows',
  examples: ['weft workflows ls', 'weft workflows ls --json'],
  args: { ...HOST_ARGS },
  async run({ cli, args }) {
    const { io } = cli;
    const { client } = await connect(io, args);
    const rows = await allWorkflows(client);
    const waiting = await client.workflows.waiting();
    if (cli.json) {
      for (const row of [...rows, ...waiting]) io.stdout.write(`${JSON.stringify(row)}\n`);
      return EXIT.done;
    }
    for (const { id, version, waitingFor } of waiting)
      io.stderr.write(shown`${id}@${version} waits for node types: ${waitingFor.join(', ')}\n`);
    if (rows.length === 0 && waiting.length === 0)
      io.stderr.write('No workflow is registered. Add one: weft workflows register FILE\n');
    else if (rows.length > 0) io.stdout.write(`${table(cli.style, rows)}\n`);
    return EXIT.done;
  },
});

function table(style: Parameters<typeof renderTable>[0], rows: readonly WorkflowSummary[]): string {
  const now = Date.now();
  return renderTable<WorkflowSummary>(
    style,
    [
      { title: 'WORKFLOW', value: (row) => row.id },
      { title: 'VERSION', value: (row) => row.version },
      { title: '', value: (row) => (row.current === true ? 'current' : '') },
      { title: 'NODES', value: (row) => String(row.nodes), align: 'right' },
      { title: 'REGISTERED', value: (row) => agoText(row.registeredAt, now) },
      { title: 'NAME', value: (row) => row.name },
    ],
    rows,
  );
}
