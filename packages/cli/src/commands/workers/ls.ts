import type { WorkerSummary } from '@weft/sdk';
import { connect } from '../../connecting/connection.ts';
import { EXIT } from '../../exit-code.ts';
import { renderTable } from '../../output/table.ts';
import { agoText } from '../../output/time-text.ts';
import { HOST_ARGS, leaf } from '../../parsing/command.ts';

export const ls = leaf({
  name: 'ls',
  summary: 'List the workers that are connected, on every process, and what they serve',
  examples: ['weft workers ls', 'weft workers ls --json'],
  args: { ...HOST_ARGS },
  async run({ cli, args }) {
    const { io } = cli;
    const { client } = await connect(io, args);
    const workers = await client.workers.list();
    if (cli.json) {
      for (const worker of workers) io.stdout.write(`${JSON.stringify(worker)}\n`);
      return EXIT.done;
    }
    if (workers.length === 0) {
      io.stderr.write('No worker is connected. Start one with: weft worker DIR\n');
      return EXIT.done;
    }
    const now = Date.now();
    const table = renderTable<WorkerSummary>(
      cli.style,
      [
        { title: 'WORKER', value: ({ name }) => name },
        { title: 'STATE', value: ({ state }) => state },
        {
          title: 'TASKS',
          value: ({ running, capacity }) => `${running}/${capacity}`,
          align: 'right',
        },
        { title: 'SINCE', value: ({ connectedAt }) => agoText(connectedAt, now) },
        { title: 'NODE', value: ({ node }) => node },
        {
          title: 'TYPES',
          value: ({ types }) => types.map(({ typeId, version }) => `${typeId} ${version}`).join(', '),
        },
      ],
      workers,
    );
    io.stdout.write(`${table}\n`);
    return EXIT.done;
  },
});
